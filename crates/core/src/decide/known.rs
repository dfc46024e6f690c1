//! Not asking twice: an answer that is known is given at once, and what people answer is learned.
//!
//! A security, permission or risk question is none of this, and neither is anything where everything is to be asked.

use super::gate::Aim;
use super::{Now, assume};
use crate::answer::{Answer, LearnedFrom, Provenance};
use crate::assumption::{Assumption, AssumptionStatus, Confidence, Source};
use crate::command::Ask;
use crate::event::{
    AnswerLearned, AnswerNoted, Event, LearnedAnswerOverruled, LearnedAnswerUsed, QuestionAnswered, QuestionAsked,
    QuestionReused,
};
use crate::id::QuestionId;
use crate::item::Item;
use crate::learned::{Learned, LearnedStatus, Lesson, Meaning, Why};
use crate::party::{Party, Via};
use crate::pattern::Pattern;
use crate::policy::Autonomy;
use crate::question::{Category, Kind, Question, Status};

/// What the question is known by; nothing if its answer is never taken from anywhere but an asking.
pub(super) fn pattern(now: &Now<'_>, question: &Question) -> Option<Pattern> {
    let open_to_it = now.autonomy() != Autonomy::AlwaysAsk && !question.is_guarded();
    open_to_it.then(|| Pattern::of(&question.prompt, &question.tags, question.category))
}

/// The questions of this item that may have the answer already.
pub(crate) fn candidates(item: &Item, ask: &Ask) -> Vec<QuestionId> {
    if item.settled.is_empty() {
        return Vec::new();
    }
    let category = ask.category.unwrap_or(Category::Clarification);
    let pattern = Pattern::of(&ask.prompt, &ask.tags, category).fingerprint();
    // What nobody answered no human did.
    let Some((by_anybody, _)) = item.last_answered(&pattern, false) else { return Vec::new() };
    let by_human = item.last_answered(&pattern, true).map(|(id, _)| id);
    by_human.into_iter().chain([by_anybody]).collect()
}

/// The same was asked on this item a while ago, of somebody with as much say, and could be answered the same.
pub(super) fn reused(now: &Now<'_>, question: &Question, pattern: &Pattern) -> Option<Vec<Event>> {
    let (id, at) = now.item.last_answered(&pattern.fingerprint(), question.to.is_human())?;
    let is_recent = at > now.at.minus(now.rules.config.human_input.cooldown);
    let earlier = now.state.questions.get(&id).filter(|_| is_recent)?;
    let answer = earlier.answer.as_ref()?;
    let same_words = Pattern::of(&earlier.prompt, &earlier.tags, earlier.category) == *pattern;
    let restated = Meaning::of(earlier, answer).restate(question)?;
    let stands = same_words && !earlier.is_guarded() && restated.value == answer.value;
    let reused = || QuestionReused { question: id.clone(), from: question.from.clone(), via: now.command.via };
    stands.then(|| vec![reused().into()])
}

/// A learned answer settles the question with its asking.
pub(super) fn learned(now: &Now<'_>, aim: &Aim<'_>, question: &Question, pattern: &Pattern) -> Option<Vec<Event>> {
    let known = now.state.knowledge.answer_to(pattern)?;
    let meaning = known.meaning.restate(question)?;
    let answer = Answer {
        value: meaning.value,
        text: meaning.text,
        free_text: meaning.free_text,
        by: Party::Querent,
        via: Via::Querent,
        at: now.at,
        provenance: Provenance::Learned,
        learned: known.source.questions.last().map(|it| LearnedFrom { id: known.id, question_id: it.clone() }),
        note: None,
    };
    let assumed = assume::recorded(of_learned(now, known, question, &answer));
    // It was never open: it waits for nobody, and pauses nothing.
    let mut question = question.clone();
    (question.stale_at, question.remind_at, question.expires_at, question.resume_stage) = (None, None, None, None);
    question.max_rounds = aim.max_rounds();
    let id = question.id.clone();
    let pattern = Some(pattern.fingerprint());
    let (question, via) = (Box::new(question), now.command.via);
    let asked = QuestionAsked { question, via, pattern, strict: false, about_session: false };
    let answered = QuestionAnswered { question: id.clone(), answer, status: Status::Resolved };
    let used = LearnedAnswerUsed { learned: known.id, question: id };
    Some(vec![asked.into(), answered.into(), assumed, used.into()])
}

fn of_learned(now: &Now<'_>, known: &Learned, question: &Question, answer: &Answer) -> Assumption {
    let from: Vec<String> = known.source.questions.iter().map(ToString::to_string).collect();
    Assumption {
        source: Source::Learned,
        reasoning: format!("{} answered so before ({}, from {})", known.answer.by, known.id, from.join(" and ")),
        confidence: match known.confidence {
            sure if sure >= 0.8 => Confidence::High,
            fairly if fairly >= 0.6 => Confidence::Medium,
            _ => Confidence::Low,
        },
        ..assume::of_answer(now, question, answer)
    }
}

/// What is learned from an answer that a human gives.
pub(super) fn lesson(now: &Now<'_>, question: &Question, answer: &Answer) -> Vec<Event> {
    let about_session = now.item.open.get(&question.id.number).is_some_and(|open| open.about_session);
    let teaches = !matches!(question.kind, Kind::Educational | Kind::Celebratory) && !about_session;
    if answer.provenance != Provenance::Human || !teaches {
        return Vec::new();
    }
    let Some(pattern) = pattern(now, question) else { return Vec::new() };
    let knowledge = &now.state.knowledge;
    let meaning = Meaning::of(question, answer);
    let mut events = Vec::new();
    if let Some(known) = knowledge.answer_to(&pattern) {
        if known.meaning == meaning {
            return events;
        }
        // One question counts once, also if its assumption was overturned before.
        let counts = !was_overturned(now.item, &question.id);
        events.extend(counts.then(|| overruled(known, &question.id)));
        // Until it is retired, what is said now is noted; from then on it may take its place.
        if !(counts && known.is_on_probation()) {
            events.push(noted(&pattern, &meaning, &question.id));
            return events;
        }
    }
    let earlier = knowledge.noted.get(&pattern.fingerprint());
    let earlier = earlier.filter(|it| it.answer == meaning.fingerprint() && it.question != question.id);
    let source = match (question.kind, earlier) {
        (Kind::Preference, _) => Lesson { why: Why::Preference, questions: vec![question.id.clone()] },
        (_, Some(it)) => Lesson { why: Why::Repeated, questions: vec![it.question.clone(), question.id.clone()] },
        (_, None) => {
            events.push(noted(&pattern, &meaning, &question.id));
            return events;
        }
    };
    let learned = Learned {
        id: knowledge.next(),
        pattern,
        prompt: question.prompt.clone(),
        category: question.category,
        tags: question.tags.clone(),
        answer: answer.clone(),
        meaning,
        confidence: Learned::confidence(source.why, 0),
        uses: 0,
        overruled: 0,
        source,
        status: LearnedStatus::Active,
        learned_at: now.at,
        used_at: None,
    };
    events.push(AnswerLearned { learned: Box::new(learned) }.into());
    events
}

/// A person found an assumption wrong that was learned.
pub(super) fn unlearn(now: &Now<'_>, assumption: &Assumption) -> Option<Event> {
    let question = assumption.question_id.as_ref().filter(|_| assumption.source == Source::Learned)?;
    let question = now.state.questions.get(question)?;
    let id = question.answer.as_ref()?.learned.as_ref()?.id;
    now.state.knowledge.learned.get(&id.0).map(|known| overruled(known, &question.id))
}

fn was_overturned(item: &Item, question: &QuestionId) -> bool {
    let learned = |it: &&Assumption| it.question_id.as_ref() == Some(question) && it.source == Source::Learned;
    item.assumptions.values().filter(learned).any(|it| it.status == AssumptionStatus::Overturned)
}

fn overruled(known: &Learned, question: &QuestionId) -> Event {
    LearnedAnswerOverruled { learned: known.id, question: question.clone() }.into()
}

fn noted(pattern: &Pattern, meaning: &Meaning, question: &QuestionId) -> Event {
    let (pattern, answer) = (pattern.fingerprint(), meaning.fingerprint());
    AnswerNoted { pattern, answer, question: question.clone() }.into()
}
