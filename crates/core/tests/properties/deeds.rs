//! What may happen in the life of an item, right or wrong.

use proptest::prelude::*;
use querent_core::{
    Action, Ask, Assume, AssumptionId, Blocker, Cause, Command, Confidence, Fallback, ItemId, OnTimeout, Outcome,
    Party, QuestionId, Risk, RiskIfWrong, Source, Span, Verdict, Via,
};
use serde_json::json;

/// Agents and a human, by place.
const PARTIES: [&str; 5] = ["product-manager", "architect", "engineer", "reviewer", "human"];
/// Stages that a person may name.
const STAGES: [&str; 6] = ["requirements", "architecture", "implement", "review", "blocked", "ready_to_merge"];

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// Somebody wants something. Questions are meant by their place among those that were asked.
    Wants { by: usize, what: Wish, question: prop::sample::Index },
    /// Time passes, and then somebody looks.
    Waits(u64),
    /// Somebody edits the workflow: it has these steps in this order.
    EditsWorkflow(Vec<usize>),
    /// Somebody edits the config.
    EditsPolicy { on_timeout: OnTimeout, sla_minutes: u32 },
}

/// What somebody wants.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    Ask { to: Option<usize>, blocking: bool, fallback: bool, guarded: bool, minutes: Option<u64>, rounds: Option<u32> },
    Answer,
    FollowUp,
    Resolve { note: bool },
    Escalate,
    Withdraw,
    Start,
    Finish { keep: bool },
    Move { to: usize },
    End { outcome: Outcome },
    Assume { risk: Risk },
    Review { number: u32, verdict: Verdict },
}

/// A life of up to 40 deeds.
pub(crate) fn life() -> impl Strategy<Value = Vec<Deed>> {
    prop::collection::vec(deed(), 1..40)
}

fn deed() -> impl Strategy<Value = Deed> {
    let wants = (0..PARTIES.len(), wish(), any::<prop::sample::Index>());
    prop_oneof![
        16 => wants.prop_map(|(by, what, question)| Deed::Wants { by, what, question }),
        5 => (0..45_u64).prop_map(Deed::Waits),
        1 => steps().prop_map(Deed::EditsWorkflow),
        1 => (policy(), prop_oneof![Just(0_u32), Just(5), Just(30)])
            .prop_map(|(on_timeout, sla_minutes)| Deed::EditsPolicy { on_timeout, sla_minutes }),
    ]
}

fn wish() -> impl Strategy<Value = Wish> {
    let rounds = prop::option::weighted(0.3, 1..=2_u32);
    let minutes = prop::option::weighted(0.3, 1..60_u64);
    let to = prop::option::weighted(0.8, 0..PARTIES.len());
    let flags = (prop::bool::weighted(0.8), any::<bool>(), prop::bool::weighted(0.1));
    let ask = (to, flags, minutes, rounds).prop_map(|(to, (blocking, fallback, guarded), minutes, rounds)| Wish::Ask {
        to,
        blocking,
        fallback,
        guarded,
        minutes,
        rounds,
    });
    prop_oneof![
        60 => ask,
        50 => Just(Wish::Answer),
        25 => Just(Wish::FollowUp),
        20 => any::<bool>().prop_map(|note| Wish::Resolve { note }),
        15 => Just(Wish::Escalate),
        10 => Just(Wish::Withdraw),
        10 => Just(Wish::Start),
        10 => any::<bool>().prop_map(|keep| Wish::Finish { keep }),
        15 => (0..STAGES.len()).prop_map(|to| Wish::Move { to }),
        1 => prop::sample::select(Outcome::ALL).prop_map(|outcome| Wish::End { outcome }),
        3 => prop::sample::select(Risk::ALL).prop_map(|risk| Wish::Assume { risk }),
        4 => (1..4_u32, prop::sample::select(Verdict::ALL)).prop_map(|(number, verdict)| Wish::Review { number, verdict }),
    ]
}

fn policy() -> impl Strategy<Value = OnTimeout> {
    prop_oneof![4 => Just(OnTimeout::Wait), 6 => Just(OnTimeout::Block), 1 => Just(OnTimeout::Fail)]
}

/// Some of the four steps, in any order, at least one.
fn steps() -> impl Strategy<Value = Vec<usize>> {
    (Just(vec![0, 1, 2, 3]).prop_shuffle(), 1..=4_usize).prop_map(|(mut steps, count)| {
        steps.truncate(count);
        steps
    })
}

impl Wish {
    /// The command that it is; none if it is about a question and there is none.
    pub(crate) fn command(&self, item: &ItemId, by: usize, question: Option<QuestionId>) -> Option<Command> {
        let action = match self {
            Self::Ask { to, blocking, fallback, guarded, minutes, rounds } => Action::Ask(Box::new(Ask {
                to: to.map(party),
                topic: "Authentication".to_owned(),
                prompt: "Which one?".to_owned(),
                blocking: Some(*blocking),
                blocker: guarded.then_some(Blocker::SecurityDecision),
                fallback: fallback.then(|| Fallback { answer: json!("jwt"), reason: "safe".into(), risk: Risk::Low }),
                expires_in: minutes.map(Span::minutes),
                max_rounds: *rounds,
                ..Ask::default()
            })),
            Self::Answer => Action::Answer { question: question?, answer: json!("cookies") },
            Self::FollowUp => Action::FollowUp { question: question?, prompt: "Really?".to_owned() },
            Self::Resolve { note } => {
                Action::Resolve { question: question?, note: note.then(|| "so be it".to_owned()) }
            }
            Self::Escalate => Action::Escalate { question: question?, summary: None, cause: Cause::Requested },
            Self::Withdraw => Action::Withdraw { question: question?, reason: None },
            Self::Start => Action::StartSession { session: None },
            Self::Finish { keep } => Action::FinishSession { session: None, keep: *keep },
            Self::Move { to } => Action::Advance { to: STAGES[*to].to_owned() },
            Self::End { outcome } => Action::EndItem { outcome: *outcome },
            Self::Assume { risk } => Action::Assume(Box::new(Assume {
                decision: "Cookies".to_owned(),
                reasoning: "they are there".to_owned(),
                confidence: Confidence::Medium,
                risk_if_wrong: RiskIfWrong { level: *risk, note: None },
                source: Source::InferredFromCodebase,
                blocker: None,
                question,
            })),
            Self::Review { number, verdict } => {
                let assumption = AssumptionId { item: item.clone(), number: *number };
                Action::Review { assumption, verdict: *verdict, note: None }
            }
        };
        // Only a person moves and ends items; let them, so that most lives go somewhere.
        let by = if matches!(self, Self::Move { .. } | Self::End { .. }) { Party::HUMAN } else { party(by) };
        Some(Command { item: item.clone(), by, via: Via::Library, action })
    }
}

/// The same command with other content.
pub(crate) fn another(command: &Command) -> Command {
    let by = if command.by.is_human() { Party::Human(Some("another".to_owned())) } else { Party::HUMAN };
    Command { by, ..command.clone() }
}

fn party(place: usize) -> Party {
    PARTIES[place].parse().unwrap()
}
