//! What may happen in the life of an item, right or wrong.

use proptest::prelude::*;
use querent_core::{
    Action, Ask, Assume, AssumptionId, Blocker, Cause, Choice, Command, Confidence, Fallback, ItemId, Kind, OnTimeout,
    Outcome, Park, Party, Process, Program, QuestionId, Risk, RiskIfWrong, SessionId, Source, Span, Verdict, Via,
};
use serde_json::json;

use crate::teams::{Crew, crew};

/// Agents and a human, by place.
const PARTIES: [&str; 5] = ["product-manager", "architect", "engineer", "reviewer", "human"];
/// What is answered.
const ANSWERS: [&str; 2] = ["jwt", "cookies"];
/// What becomes of a session.
const FATES: [&str; 3] = ["wait", "skip", "retry"];
/// Files that overlap or do not.
const PATHS: [&str; 5] = ["src", "src/a.rs", "src/*.rs", "docs/**/x", "."];
/// Sessions of a program.
const HANDLES: [&str; 2] = ["c-1", "c-2"];
/// Stages that a person may name.
const STAGES: [&str; 6] = ["requirements", "architecture", "implement", "review", "blocked", "ready_to_merge"];

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// Somebody wants something. Questions are meant by their place among those that were asked.
    Wants { by: usize, what: Wish, question: prop::sample::Index },
    /// Time passes, and then somebody looks.
    Waits(u64),
    /// A person takes back what was learned.
    Revokes(u32),
    /// A person says whose files are whose.
    Owns { path: &'static str, agent: Option<&'static str> },
    /// Two agents at work want the same files, and perhaps the second does not wait for long.
    Contend { by: [usize; 2], path: usize, minutes: u64, patient: bool },
    /// A session is parked on a question and resumed, with some of the steps left out.
    Parks { by: usize, question: prop::sample::Index, steps: Vec<Wish> },
    /// Notifications that are owed are claimed, and some of them are sent, given up, seen, answered or tried again.
    Notifies { steps: Vec<Courier> },
    /// Querent runs the team for a while.
    Runs { steps: Vec<Crew> },
    /// A person has seen an alert.
    Acknowledges(u32),
    /// Somebody is let in, logs in, and is let in no more.
    LetsIn { role: &'static str, minutes: u64, steps: u32 },
    /// The monitor looks, and does what follows.
    Watches,
    /// Somebody edits the workflow: it has these steps in this order.
    EditsWorkflow(Vec<usize>),
    /// Somebody edits the config.
    EditsPolicy { on_timeout: OnTimeout, sla_minutes: u32 },
}

/// What somebody wants.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    Ask {
        to: Option<usize>,
        blocking: bool,
        fallback: bool,
        guarded: bool,
        preference: bool,
        minutes: Option<u64>,
        rounds: Option<u32>,
        prompt: u32,
    },
    AskStrictly {
        session: usize,
        prompt: u32,
    },
    Answer {
        what: &'static str,
    },
    FollowUp,
    Resolve {
        note: bool,
    },
    Escalate,
    Withdraw,
    Start,
    Finish {
        keep: bool,
    },
    Move {
        to: usize,
    },
    End {
        outcome: Outcome,
    },
    Assume {
        risk: Risk,
    },
    Review {
        number: u32,
        verdict: Verdict,
    },
    Lock {
        path: usize,
        minutes: u64,
        wait: bool,
    },
    Unlock {
        path: Option<usize>,
    },
    EndWait,
    Park {
        handle: usize,
    },
    Wake {
        resumed: bool,
    },
    /// Somebody resumes; a later process may take over what an earlier one left.
    Claim {
        pid: u32,
    },
    EndResume {
        pid: u32,
        exit_code: i32,
    },
    Tell {
        handle: usize,
        upto: u64,
        answer: bool,
    },
}

/// What becomes of the notifications that are owed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Courier {
    Claims { pid: u32, takes_over: bool },
    Sends,
    GivesUp,
    Sees,
    TriesAgain,
    Tells(u32),
    Answers,
}

/// A life of up to 40 deeds.
pub(crate) fn life() -> impl Strategy<Value = Vec<Deed>> {
    prop::collection::vec(deed(), 1..40)
}

fn deed() -> impl Strategy<Value = Deed> {
    let wants = (0..PARTIES.len(), wish(), any::<prop::sample::Index>());
    prop_oneof![
        20 => wants.prop_map(|(by, what, question)| Deed::Wants { by, what, question }),
        5 => (0..45_u64).prop_map(Deed::Waits),
        // The cooldown is over.
        3 => Just(Deed::Waits(25 * 60)),
        1 => (1..4_u32).prop_map(Deed::Revokes),
        1 => (prop::sample::select(&PATHS[..]), prop::option::of(prop::sample::select(&PARTIES[..4])))
            .prop_map(|(path, agent)| Deed::Owns { path, agent }),
        2 => ((0..4_usize, 0..4_usize), 0..PATHS.len(), 1..40_u64, any::<bool>())
            .prop_map(|((a, b), path, minutes, patient)| Deed::Contend { by: [a, b], path, minutes, patient }),
        2 => (0..4_usize, any::<prop::sample::Index>(), parking())
            .prop_map(|(by, question, steps)| Deed::Parks { by, question, steps }),
        2 => prop::collection::vec(courier(), 1..5).prop_map(|steps| Deed::Notifies { steps }),
        5 => prop::collection::vec(crew(), 1..8).prop_map(|steps| Deed::Runs { steps }),
        1 => (1..4_u32).prop_map(Deed::Acknowledges),
        1 => (prop::sample::select(vec!["human", "observer", "agent:engineer"]), 1..60_u64, 0..4_u32)
            .prop_map(|(role, minutes, steps)| Deed::LetsIn { role, minutes, steps }),
        4 => Just(Deed::Watches),
        1 => steps().prop_map(Deed::EditsWorkflow),
        1 => (policy(), prop_oneof![Just(0_u32), Just(5), Just(30)])
            .prop_map(|(on_timeout, sla_minutes)| Deed::EditsPolicy { on_timeout, sla_minutes }),
    ]
}

fn wish() -> impl Strategy<Value = Wish> {
    let rounds = prop::option::weighted(0.3, 1..=2_u32);
    let minutes = prop::option::weighted(0.3, 1..60_u64);
    let to = prop::option::weighted(0.8, 0..PARTIES.len());
    let flags = (prop::bool::weighted(0.8), any::<bool>(), prop::bool::weighted(0.1), any::<bool>());
    // Most questions are new ones.
    let prompt = || prop_oneof![2 => 0..2_u32, 1 => any::<u32>()];
    let ask = (to, flags, minutes, rounds, prompt()).prop_map(
        |(to, (blocking, fallback, guarded, preference), minutes, rounds, prompt)| Wish::Ask {
            to,
            blocking,
            fallback,
            guarded,
            preference,
            minutes,
            rounds,
            prompt,
        },
    );
    prop_oneof![
        60 => ask,
        15 => (0..3_usize, prompt()).prop_map(|(session, prompt)| Wish::AskStrictly { session, prompt }),
        50 => (0..ANSWERS.len()).prop_map(|what| Wish::Answer { what: ANSWERS[what] }),
        5 => prop::sample::select(&FATES[..]).prop_map(|what| Wish::Answer { what }),
        25 => Just(Wish::FollowUp),
        20 => any::<bool>().prop_map(|note| Wish::Resolve { note }),
        15 => Just(Wish::Escalate),
        10 => Just(Wish::Withdraw),
        10 => Just(Wish::Start),
        10 => any::<bool>().prop_map(|keep| Wish::Finish { keep }),
        10 => (0..PATHS.len(), 1..40_u64, any::<bool>())
            .prop_map(|(path, minutes, wait)| Wish::Lock { path, minutes, wait }),
        8 => prop::option::of(0..PATHS.len()).prop_map(|path| Wish::Unlock { path }),
        3 => Just(Wish::EndWait),
        15 => (0..STAGES.len()).prop_map(|to| Wish::Move { to }),
        1 => prop::sample::select(Outcome::ALL).prop_map(|outcome| Wish::End { outcome }),
        3 => prop::sample::select(Risk::ALL).prop_map(|risk| Wish::Assume { risk }),
        4 => (1..4_u32, prop::sample::select(Verdict::ALL)).prop_map(|(number, verdict)| Wish::Review { number, verdict }),
    ]
}

/// What becomes of a parked session, mostly in this order.
fn parking() -> impl Strategy<Value = Vec<Wish>> {
    let steps = (0..HANDLES.len(), 1..3_u32, 0..2_i32, any::<bool>(), 0..9_u64).prop_map(
        |(handle, pid, exit_code, answer, upto)| {
            vec![
                Wish::Park { handle },
                Wish::Answer { what: ANSWERS[0] },
                Wish::Claim { pid },
                Wish::Claim { pid: 2 },
                Wish::Wake { resumed: answer },
                Wish::EndResume { pid, exit_code },
                Wish::Tell { handle, upto, answer },
            ]
        },
    );
    steps.prop_flat_map(|steps| prop::sample::subsequence(steps, 1..=7))
}

fn courier() -> impl Strategy<Value = Courier> {
    prop_oneof![
        6 => (1..3_u32, any::<bool>()).prop_map(|(pid, takes_over)| Courier::Claims { pid, takes_over }),
        3 => Just(Courier::Sends),
        3 => Just(Courier::GivesUp),
        1 => Just(Courier::Sees),
        1 => Just(Courier::TriesAgain),
        2 => (1..4_u32).prop_map(Courier::Tells),
        1 => Just(Courier::Answers),
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
            Self::Ask { to, blocking, fallback, guarded, preference, minutes, rounds, prompt } => {
                Action::Ask(Box::new(Ask {
                    to: to.map(party),
                    kind: preference.then_some(Kind::Preference),
                    topic: "Authentication".to_owned(),
                    prompt: format!("Which one for {prompt}?"),
                    blocking: Some(*blocking),
                    blocker: guarded.then_some(Blocker::SecurityDecision),
                    fallback: fallback.then(|| Fallback {
                        answer: json!("jwt"),
                        reason: "safe".into(),
                        risk: Risk::Low,
                    }),
                    expires_in: minutes.map(Span::minutes),
                    max_rounds: *rounds,
                    ..Ask::default()
                }))
            }
            Self::AskStrictly { session, prompt } => Action::Ask(Box::new(strictly(*session, *prompt))),
            Self::Answer { what } => Action::Answer { question: question?, answer: json!(what), note: None },
            Self::FollowUp => Action::FollowUp { question: question?, prompt: "Really?".to_owned() },
            Self::Resolve { note } => {
                Action::Resolve { question: question?, note: note.then(|| "so be it".to_owned()) }
            }
            Self::Escalate => Action::Escalate { question: question?, summary: None, cause: Cause::Requested },
            Self::Withdraw => Action::Withdraw { question: question?, reason: None },
            Self::Start => Action::StartSession { session: None, process: None },
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
            Self::Lock { path, minutes, wait } => {
                let paths = [PATHS[*path].parse().unwrap()].into();
                Action::Lock { session: session(item, by), paths, ttl: Span::minutes(*minutes), wait: *wait }
            }
            Self::Unlock { path } => {
                let paths = path.iter().map(|path| PATHS[*path].parse().unwrap()).collect();
                Action::Unlock { session: session(item, by), paths }
            }
            Self::EndWait => Action::EndWait { session: session(item, by) },
            _ => self.parking(question)?,
        };
        // Only a person moves and ends items; let them, so that most lives go somewhere.
        let by = match self {
            Self::Move { .. } | Self::End { .. } => Party::HUMAN,
            Self::AskStrictly { .. } => party(0),
            _ => party(by),
        };
        Some(Command { item: item.clone(), by, via: Via::Library, action })
    }

    /// The same of what becomes of a parked session.
    fn parking(&self, question: Option<QuestionId>) -> Option<Action> {
        Some(match self {
            Self::Park { handle } => Action::Park {
                question: question?,
                park: Box::new(Park {
                    program: Program::Claude,
                    handle: HANDLES[*handle].parse().unwrap(),
                    directory: "/shop".to_owned(),
                    call: None,
                }),
            },
            Self::Wake { resumed } => Action::Wake { question: question?, resumed: *resumed },
            Self::Claim { pid } => Action::Claim { question: question?, process: Some(process(*pid)), over: None },
            Self::EndResume { pid, exit_code } => {
                Action::EndResume { question: question?, process: Some(process(*pid)), exit_code: Some(*exit_code) }
            }
            Self::Tell { handle, upto, answer } => {
                let handle = HANDLES[*handle].parse().unwrap();
                Action::Tell { handle, upto: *upto, question: question.filter(|_| *answer) }
            }
            _ => return None,
        })
    }
}

/// All that the strict gate wants, but for the step and the quota.
fn strictly(session: usize, prompt: u32) -> Ask {
    let option = |id: &str| Choice {
        id: id.to_owned(),
        label: id.to_owned(),
        description: None,
        recommended: false,
        implications: None,
    };
    let evidence = ["codebase_search", "similar_features", "attempted_inference"];
    Ask {
        session: Some(format!("session-{session}").parse().unwrap()),
        to: Some(Party::HUMAN),
        blocker: Some(Blocker::MissingExternalData),
        topic: "Authentication".to_owned(),
        prompt: format!("Which one for {prompt}?"),
        options: ANSWERS.map(option).to_vec(),
        fallback: Some(Fallback { answer: json!("jwt"), reason: "safe".into(), risk: Risk::Low }),
        evidence: Some(evidence.map(|name| (name.to_owned(), "nothing".to_owned())).into()),
        ..Ask::default()
    }
}

/// The same command with other content.
pub(crate) fn another(command: &Command) -> Command {
    let by = if command.by.is_human() { Party::Human(Some("another".to_owned())) } else { Party::HUMAN };
    Command { by, ..command.clone() }
}

pub(crate) fn process(pid: u32) -> Process {
    Process { pid, start: "1".to_owned(), host: "here".to_owned() }
}

/// The session that an agent has without naming one.
fn session(item: &ItemId, by: usize) -> SessionId {
    format!("{}@{item}", PARTIES[by]).parse().unwrap()
}

fn party(place: usize) -> Party {
    PARTIES[place].parse().unwrap()
}
