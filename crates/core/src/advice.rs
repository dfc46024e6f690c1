//! How to ask better: a question must stand alone, because whoever answers has not seen the asker's work.
//!
//! Advice never refuses anything. A false alarm teaches a model to ignore it, so every rule prefers silence to a guess; the
//! rules about words speak of English and know nothing of other languages.

mod words;

use std::cell::OnceCell;

use crate::answer::Expected;
use crate::question::{Category, Choice, Fallback, Kind, Question};
use words::{Word, has_more_words_than, has_word, last_question, questions, unquoted, words};

/// What would have made this question easier to answer, a sentence each; empty if all is well.
pub fn advice(question: &Question) -> Vec<String> {
    let text = unquoted(&question.prompt);
    let prompt = Prompt::new(question, &text, is_said(question.context.as_deref()));
    let needs_context = question.asked.is_human() && question.kind != Kind::Celebratory && !prompt.has_context;
    let context = needs_context.then(|| {
        "add a context: what you work on, what you found and what depends on the answer, for a person who has not seen it"
            .to_owned()
    });
    let more = [context, of_risk(question), question.fallback.as_ref().and_then(of_fallback)];
    prompt.advice().chain(more.into_iter().flatten()).collect()
}

/// How many questions a prompt asks.
pub(crate) fn questions_in(prompt: &str) -> usize {
    questions(&unquoted(prompt))
}

/// The same for the prompt of a follow-up; what was said before on the thread is its context.
pub fn advice_on_follow_up(question: &Question, prompt: &str) -> Vec<String> {
    Prompt::new(question, &unquoted(prompt), true).advice().collect()
}

/// What is asked, and what else its reader has.
struct Prompt<'a> {
    question: &'a Question,
    /// The prompt without quotations.
    text: &'a str,
    /// Its words, once somebody needs them: most prompts show sooner that all is well.
    words: OnceCell<Vec<Word<'a>>>,
    has_context: bool,
}

/// Where a phrase points at something that was said elsewhere.
#[derive(Clone, Copy)]
enum Points {
    Anywhere,
    /// As the first words of a clause: `see previous`, but not `can users see previous orders`.
    First,
    /// As the last words of a clause: `like before`, but not `like before the move`.
    Last,
    /// As the last words of a clause, or before a verb: `this one`, but not `this one of many`.
    Bare,
}

const PHRASES: &[(&[&str], Points)] = &[
    (&["as", "above"], Points::Anywhere),
    (&["the", "above"], Points::Anywhere),
    (&["described", "above"], Points::Anywhere),
    (&["mentioned", "above"], Points::Anywhere),
    (&["listed", "above"], Points::Anywhere),
    (&["shown", "above"], Points::Anywhere),
    (&["see", "above"], Points::First),
    (&["see", "previous"], Points::First),
    (&["see", "earlier"], Points::First),
    (&["as", "before"], Points::Last),
    (&["like", "before"], Points::Last),
    (&["like", "last", "time"], Points::Last),
    (&["as", "discussed"], Points::Last),
    (&["as", "mentioned"], Points::Last),
    (&["that", "one"], Points::Last),
    (&["this", "one"], Points::Bare),
];

/// What they end with.
const ENDS: &[&str] = &["above", "previous", "earlier", "before", "time", "discussed", "mentioned", "one"];

/// Things that a question must name, with the article that claims that the reader knows which.
const THINGS: &[&str] = &["file", "error", "function", "test", "bug", "script", "exception"];
const ARTICLES: &[&str] = &["the", "this"];

/// What may follow a thing that is not named: more would be its name.
const AFTER_BARE: &[&str] = &[
    "is", "are", "was", "be", "been", "has", "have", "had", "does", "do", "did", "should", "can", "could", "must",
    "may", "might", "will", "would", "or", "and", "now", "first", "too", "right", "wrong", "correct",
];

/// Words that begin an explanation: `is the file kept when an upload fails`.
const EXPLAINS: &[&str] = &[
    "when", "if", "after", "once", "while", "that", "which", "whose", "where", "until", "before", "from", "of", "for",
];

/// A longer question says by itself what it speaks of.
const SHORT: usize = 12;

impl<'a> Prompt<'a> {
    fn new(question: &'a Question, text: &'a str, has_context: bool) -> Self {
        Self { question, text, words: OnceCell::new(), has_context }
    }

    fn words(&self) -> &[Word<'a>] {
        self.words.get_or_init(|| words(self.text))
    }

    fn advice(&self) -> impl Iterator<Item = String> + use<> {
        [self.of_pointing(), self.of_things(), self.of_several(), self.of_choice()].into_iter().flatten()
    }

    fn of_pointing(&self) -> Option<String> {
        if !has_word(self.text, ENDS) {
            return None;
        }
        // In a text of several lines the lines before may be what is meant.
        let first_line = &self.words()[..self.words().partition_point(|word| word.line == 0)];
        let found = PHRASES.iter().find(|(phrase, points)| {
            (0..first_line.len()).any(|at| is_at(first_line, at, phrase) && points.fits(first_line, at, phrase.len()))
        });
        let (phrase, _) = found?;
        let phrase = phrase.join(" ");
        Some(format!("\"{phrase}\" points at something that the reader has not seen: say in the question what it is"))
    }

    fn of_things(&self) -> Option<String> {
        let explained = self.has_context
            || self.question.details.is_some()
            || has_more_words_than(SHORT, self.text)
            || self.words().len() > SHORT
            || self.words().iter().any(|word| word.is_name || EXPLAINS.contains(&word.text.as_ref()));
        if explained {
            return None;
        }
        let topic = unquoted(&self.question.topic);
        let topic = words(&topic);
        if topic.iter().any(|word| word.is_name) {
            return None;
        }
        let clause = self.words().iter().position(|word| word.ends).map_or(0, |last| last + 1);
        let [article, thing] = self.words()[..clause].array_windows().find(|[article, thing]| {
            ARTICLES.contains(&article.text.as_ref()) && THINGS.contains(&thing.text.as_ref())
        })?;
        let at = self.words().iter().position(|word| std::ptr::eq(word, article))?;
        let in_topic = topic.len() > 1 && topic.iter().any(|word| word.text == thing.text);
        let (article, thing) = (&article.text, &thing.text);
        (!in_topic && Points::Bare.fits(self.words(), at, 2))
            .then(|| format!("say which {thing}: the reader has not seen the one that \"{article} {thing}\" means"))
    }

    fn of_several(&self) -> Option<String> {
        let asked = questions(self.text);
        // An object has a field for each.
        (asked > 1 && !matches!(self.question.expected, Expected::Json { .. })).then(|| {
            format!("ask one thing at a time: there are {asked} questions here, and an answer may be to any of them")
        })
    }

    fn of_choice(&self) -> Option<String> {
        let question = self.question;
        let is_open = question.options.is_empty() && question.expected == Expected::Text && question.asked.is_human();
        (is_open && self.is_choice()).then(|| {
            "give the alternatives as options, each with its label: a person then answers with one click or one word"
                .to_owned()
        })
    }

    fn is_choice(&self) -> bool {
        const THOSE: &[&str] = &["the", "these", "those", "them", "two"];
        let which = |[which, of, those]: &[Word<'_>; 3]| {
            which.text == "which" && of.text == "of" && THOSE.contains(&those.text.as_ref())
        };
        if self.words().array_windows().any(which) {
            return true;
        }
        let Some(sentence) = last_question(self.text) else { return false };
        reads_as_choice(sentence) || sentence.rsplit_once(": ").is_some_and(|(_, tail)| reads_as_choice(tail))
    }
}

/// Whether a sentence leaves the choice between two things: `Redis or SQL`, `should it be A or B`.
fn reads_as_choice(sentence: &str) -> bool {
    const ASKS: &[&str] = &["should", "shall", "do", "does", "is", "are", "must", "will", "would", "which"];
    const OPEN: &[&str] = &[
        "what", "how", "why", "when", "where", "who", "whom", "whose", "can", "could", "may", "might", "has", "have",
        "if",
    ];
    const NO_CHOICE: &[&str] = &["there", "have", "any", "anyone", "anything", "ever"];
    const NO_OTHER: &[&str] = &[
        "not",
        "so",
        "less",
        "more",
        "later",
        "older",
        "newer",
        "higher",
        "lower",
        "above",
        "below",
        "any",
        "anything",
        "something",
        "someone",
        "similar",
        "equivalent",
        "otherwise",
        "longer",
        "shorter",
        "greater",
        "fewer",
        "even",
        "at",
    ];
    let words = words(sentence);
    let is = |list: &[&str], word: &Word<'_>| list.contains(&word.text.as_ref());
    let Some(first) = words.first() else { return false };
    let begins = is(ASKS, first) || (words.len() <= 6 && !is(OPEN, first));
    let offers = words.array_windows().any(|[_, or, other]| or.text == "or" && !is(NO_OTHER, other));
    begins && offers && !words.iter().any(|word| is(NO_CHOICE, word))
}

impl Points {
    /// Whether the phrase of so many words at `at` stands where it points at something.
    fn fits(self, words: &[Word<'_>], at: usize, length: usize) -> bool {
        let last = at + length - 1;
        let ends = words.get(last).is_some_and(|word| word.ends);
        match self {
            // `all of the above` is a list's own.
            Self::Anywhere => at.checked_sub(1).and_then(|at| words.get(at)).is_none_or(|word| word.text != "of"),
            Self::First => words.get(at).is_some_and(|word| word.starts),
            Self::Last => ends,
            Self::Bare => ends || words.get(last + 1).is_some_and(|next| AFTER_BARE.contains(&next.text.as_ref())),
        }
    }
}

fn is_at(words: &[Word<'_>], at: usize, phrase: &[&str]) -> bool {
    if words.get(at).map(|word| word.text.as_ref()) != phrase.first().copied() {
        return false;
    }
    let found = words.get(at..at + phrase.len()).unwrap_or_default();
    // A phrase does not go on behind a comma.
    let is_whole = found.iter().rev().skip(1).all(|word| !word.ends);
    is_whole && found.iter().map(|word| word.text.as_ref()).eq(phrase.iter().copied())
}

fn of_risk(question: &Question) -> Option<String> {
    let silent = |option: &&Choice| !is_said(option.implications.as_deref());
    let ids: Vec<&str> = question.options.iter().filter(silent).map(|option| option.id.as_str()).collect();
    (question.category == Category::RiskAck && !ids.is_empty()).then(|| {
        format!("say what follows from each option (its implications), or nobody knows the risk: {}", ids.join(", "))
    })
}

fn of_fallback(fallback: &Fallback) -> Option<String> {
    const EMPTY: &[&str] = &[
        "a",
        "an",
        "and",
        "as",
        "because",
        "best",
        "choice",
        "default",
        "easy",
        "fallback",
        "fine",
        "good",
        "i",
        "is",
        "it",
        "just",
        "looks",
        "most",
        "n/a",
        "ok",
        "okay",
        "option",
        "probably",
        "reasonable",
        "safe",
        "safest",
        "sane",
        "seems",
        "sensible",
        "simple",
        "simplest",
        "standard",
        "tbd",
        "that",
        "the",
        "this",
        "todo",
        "very",
    ];
    let reason = words(&fallback.reason);
    // One word can say enough where words are not divided by spaces.
    let is_short = reason.len() < 2 && fallback.reason.is_ascii();
    (is_short || reason.iter().all(|word| EMPTY.contains(&word.text.as_ref()))).then(|| {
        "say in the fallback's reason why it is safe to go on with it and how it can be undone, in one sentence"
            .to_owned()
    })
}

fn is_said(text: Option<&str>) -> bool {
    text.is_some_and(|text| !text.trim().is_empty())
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;
