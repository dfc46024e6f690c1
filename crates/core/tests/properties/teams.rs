//! A team of a life: Querent invokes agents and those who were asked, and something comes of it, in its turn or out of it.

use proptest::prelude::*;
use querent_core::event::{SaidKind, TurnOutcome};
use querent_core::{
    Action, AgentName, AgentReply, CallDeed, Claim, Command, Item, Party, Purpose, Question, QuestionId, Rules,
    SessionId, Span, TurnDeed, Via, Work, work,
};
use serde_json::{Value, json};

use crate::deeds::process;
use crate::project;
use crate::world::World;

/// What happens by itself or because somebody says so; `ping` and `pong` go in circles.
const EVENTS: [&str; 4] = ["spec.approved", "alert.build_failed", "ping", "pong"];
/// What agents say that were asked: an answer, no answer, nothing.
const REPLIES: [&str; 4] = ["jwt", "cookies", "not sure", ""];
/// What happens is said by the agent at work, if it is not one of these.
const SPEAKERS: [&str; 3] = ["human", "engineer", "bystander"];

/// One step in the life of a team.
#[derive(Clone, Debug)]
pub(crate) enum Crew {
    /// What is to be done is begun; a turn under way is taken over, or at least tried to be.
    Begins {
        pid: u32,
        takes_over: bool,
    },
    /// Somebody begins what need not be to do.
    Blunders {
        agent: &'static str,
        step: &'static str,
    },
    Notes {
        handle: bool,
    },
    /// The turn under way ends; under a claim of the past, if it is late.
    Ends {
        outcome: TurnOutcome,
        minutes: u64,
        late: bool,
    },
    /// Those who are asked are called.
    Calls {
        pid: u32,
        takes_over: bool,
    },
    CallsFail,
    Replies {
        what: usize,
        round: Option<u32>,
        evidence: bool,
    },
    Sends {
        by: usize,
        to: Option<&'static str>,
    },
    Emits {
        by: Option<usize>,
        event: usize,
    },
}

/// The project with a team: some listen, some to each other, one has little time, and the review waits for something.
pub(crate) fn rules() -> Rules {
    let mut rules = project::team();
    let listens = [("bystander", "alert.*"), ("bystander", "ping"), ("reviewer", "pong"), ("engineer", "user.message")];
    for (agent, event) in listens.into_iter().chain([("architect", "implement.completed")]) {
        rules.config.agents.get_mut(&name(agent)).unwrap().on.push(event.to_owned());
    }
    rules.config.agents.get_mut(&name("engineer")).unwrap().budget = Some(Span::minutes(20));
    waits(&mut rules);
    rules
}

/// The review waits for something, wherever it stands in the workflow.
pub(crate) fn waits(rules: &mut Rules) {
    let steps = &mut rules.workflows.get_mut("feature").unwrap().steps;
    let review = steps.iter_mut().filter(|step| step.name == "review");
    review.for_each(|step| step.waits_for = vec!["spec.approved".parse().unwrap()]);
}

pub(crate) fn crew() -> impl Strategy<Value = Crew> {
    let agent = || prop::sample::select(vec!["engineer", "architect", "bystander"]);
    let outcome = prop_oneof![2 => outcome(), 1 => prop::sample::select(TurnOutcome::ALL)];
    prop_oneof![
        8 => (1..3_u32, any::<bool>()).prop_map(|(pid, takes_over)| Crew::Begins { pid, takes_over }),
        1 => (agent(), prop::sample::select(vec!["implement", "review"]))
            .prop_map(|(agent, step)| Crew::Blunders { agent, step }),
        1 => any::<bool>().prop_map(|handle| Crew::Notes { handle }),
        8 => (outcome, 0..15_u64, prop::bool::weighted(0.1))
            .prop_map(|(outcome, minutes, late)| Crew::Ends { outcome, minutes, late }),
        4 => (1..3_u32, any::<bool>()).prop_map(|(pid, takes_over)| Crew::Calls { pid, takes_over }),
        3 => Just(Crew::CallsFail),
        4 => (0..REPLIES.len(), prop::option::weighted(0.1, 1..4_u32), any::<bool>())
            .prop_map(|(what, round, evidence)| Crew::Replies { what, round, evidence }),
        2 => (0..SPEAKERS.len(), prop::option::of(agent())).prop_map(|(by, to)| Crew::Sends { by, to }),
        4 => (prop::option::of(0..SPEAKERS.len()), 0..EVENTS.len()).prop_map(|(by, event)| Crew::Emits { by, event }),
    ]
}

/// How a turn ends that asked nothing and was not stopped.
pub(crate) fn outcome() -> impl Strategy<Value = TurnOutcome> {
    prop_oneof![4 => Just(TurnOutcome::Done), 3 => Just(TurnOutcome::Failed), 1 => Just(TurnOutcome::Rejected)]
}

pub(crate) fn take(world: &mut World, step: &Crew) {
    for (by, action) in wishes(world, step) {
        let via = if by == Party::Querent { Via::Team } else { Via::Library };
        world.run(&Command { item: world.item.clone(), by, via, action });
    }
}

fn wishes(world: &World, step: &Crew) -> Vec<(Party, Action)> {
    let Some(item) = world.state.item.as_ref() else { return Vec::new() };
    let querent = |action: Option<Action>| action.map(|action| (Party::Querent, action)).into_iter().collect();
    match step {
        Crew::Begins { pid, takes_over } => querent(begin(item, &world.rules, *pid, *takes_over)),
        Crew::Blunders { agent, step } => {
            let deed = TurnDeed::Begin { purpose: Purpose::Step((*step).to_owned()), process: None, over: None };
            querent(Some(turn(SessionId::of(&name(agent), &item.id), deed)))
        }
        Crew::Notes { handle } => querent(item.team.driven().map(|(session, _, claim)| {
            let claim = claim.clone();
            let deed = if *handle {
                TurnDeed::Note { claim, program: Some(process(9)), handle: Some("c-3".parse().unwrap()) }
            } else {
                TurnDeed::Say { claim, kind: SaidKind::Note, text: "so far so good".to_owned() }
            };
            turn(session.clone(), deed)
        })),
        Crew::Ends { outcome, minutes, late } => querent(end(item, *outcome, *minutes, *late)),
        Crew::Calls { pid, takes_over } => {
            let over = |it: &Question| it.call.as_ref().and_then(|call| call.claim.clone()).filter(|_| *takes_over);
            calls(world, |it| Some(CallDeed::Begin { process: Some(process(*pid)), over: over(it) }))
        }
        Crew::CallsFail => calls(world, |it| {
            let claim = it.call.as_ref()?.claim.clone()?;
            Some(CallDeed::Fail { claim, error: "exit status 1".to_owned() })
        }),
        Crew::Replies { what, round, evidence } => {
            let reply = AgentReply {
                answer: json!(REPLIES[*what]),
                evidence: evidence.then(|| "ADR-7".to_owned()),
                uncertainty: None,
                plain: false,
            };
            let asked = asked(world).filter(|it| it.call.is_some()).take(1);
            let reply = |it: &Question| Action::Reply {
                question: it.id.clone(),
                round: round.unwrap_or(it.round),
                reply: Box::new(reply.clone()),
            };
            asked.map(|it| (it.to.clone(), reply(it))).collect()
        }
        Crew::Sends { by, to } => {
            let action = Action::Send { text: "Be quick".to_owned(), to: to.map(name) };
            vec![(SPEAKERS[*by].parse().unwrap(), action)]
        }
        Crew::Emits { by, event } => {
            let at_work = item.team.driven().map(|(session, ..)| Party::Agent(item.sessions[session].agent.clone()));
            let speaker = by.map(|by| SPEAKERS[by].parse().unwrap()).or(at_work).unwrap_or(Party::HUMAN);
            vec![(speaker, Action::Emit { event: EVENTS[*event].parse().unwrap(), data: Value::Null })]
        }
    }
}

/// What is to be done now, or what is done already if that may be taken over.
pub(crate) fn begin(item: &Item, rules: &Rules, pid: u32, takes_over: bool) -> Option<Action> {
    let (session, purpose, over) = match work(item, rules) {
        Work::Turn { session, purpose, .. } => (session, purpose, None),
        Work::Driven { session, purpose, claim, .. } => (session, purpose, Some(claim).filter(|_| takes_over)),
        _ => return None,
    };
    Some(turn(session, TurnDeed::Begin { purpose, process: Some(process(pid)), over }))
}

pub(crate) fn end(item: &Item, outcome: TurnOutcome, minutes: u64, late: bool) -> Option<Action> {
    let (session, _, claim) = item.team.driven()?;
    let claim = if late { Claim { process: None, ..claim.clone() } } else { claim.clone() };
    let (said, worked) = (Some("so it was".to_owned()), Span::minutes(minutes));
    Some(turn(session.clone(), TurnDeed::End { claim, outcome, said, artifacts: Vec::new(), worked, tokens: None }))
}

fn turn(session: SessionId, deed: TurnDeed) -> Action {
    Action::Turn { session, deed: Box::new(deed) }
}

fn calls(world: &World, deed: impl Fn(&Question) -> Option<CallDeed>) -> Vec<(Party, Action)> {
    let call = |question: QuestionId, deed| (Party::Querent, Action::Call { question, deed });
    asked(world).filter_map(|it| Some(call(it.id.clone(), deed(it)?))).collect()
}

/// The questions that an agent is to answer.
fn asked(world: &World) -> impl Iterator<Item = &Question> {
    world.state.questions.values().filter(|it| it.status.is_open() && it.to.agent().is_some())
}

fn name(agent: &str) -> AgentName {
    agent.parse().unwrap()
}
