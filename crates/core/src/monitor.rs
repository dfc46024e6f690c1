//! The monitor: a pure survey of all that is open, so that no team stops without anybody knowing.

mod deadlock;
mod health;
mod stale;
mod stuck;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use crate::alert::{Alarm, Alerts};
use crate::command::{Action, Cause, Command, SharedAction, SharedCommand};
use crate::id::{AgentName, ComponentName, ItemId, QuestionId, SessionId};
use crate::item::{Item, OpenQuestion};
use crate::moment::{Moment, Span};
use crate::party::{Party, Via};
use crate::policy::Rules;
use crate::question::{Question, words};
use crate::resources::{Resources, Wait};
use crate::session::Session;

/// What the survey looks at: views of what is open, and the signs of life that were seen.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The items that somebody works on or that have active questions.
    pub items: &'a [Item],
    /// Their active questions, with their threads; those of an item together.
    pub questions: &'a [Question],
    /// Who holds and who waits for which files.
    pub resources: &'a Resources,
    /// What people were told already.
    pub alerts: &'a Alerts,
    /// Who was alive when.
    pub signs: &'a Signs,
}

impl Scene<'_> {
    /// Whether a session waits for files, and said so lately.
    fn waits_for_files(&self, session: &SessionId, at: Moment) -> bool {
        let said = self.signs.waits.get(session).filter(|_| self.resources.waits.contains_key(session));
        said.is_some_and(|said| at.since(*said) <= WAIT_LASTS)
    }
}

impl<'a> Scene<'a> {
    /// All that do. Both lists are sorted, so one walk along them is enough.
    fn waiting_for_files(&self, at: Moment) -> impl Iterator<Item = (&'a SessionId, &'a Wait)> {
        let mut said = self.signs.waits.iter().peekable();
        self.resources.waits.iter().filter(move |(session, _)| {
            while said.next_if(|(it, _)| it < session).is_some() {}
            said.peek().is_some_and(|(it, said)| it == session && at.since(**said) <= WAIT_LASTS)
        })
    }
}

/// Signs of life, which are not events: who beat when, and whose process is gone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signs {
    /// Components that are no sessions, and when they last beat.
    pub components: BTreeMap<ComponentName, Moment>,
    /// Sessions that beat, and when.
    pub sessions: BTreeMap<SessionId, Moment>,
    /// Sessions that wait for files, and when they last said so.
    pub waits: BTreeMap<SessionId, Moment>,
    /// Sessions whose process runs.
    pub running: BTreeSet<SessionId>,
    /// Sessions whose process is gone.
    pub gone: BTreeSet<SessionId>,
}

/// How long a wait for files is believed that nobody renews.
pub const WAIT_LASTS: Span = Span::seconds(10);

words!(
    /// What the survey finds.
    FindingKind {
        /// An agent let its time pass.
        Stale = "stale",
        /// A thread goes in circles.
        Stuck = "stuck",
        /// Agents wait for each other.
        Deadlock = "deadlock",
        /// A session does not get on.
        StuckTask = "stuck_task",
        /// A component or a session shows no sign of life.
        ComponentDown = "component_down",
        /// People could not be notified.
        DeliveryFailed = "delivery_failed",
        /// An agent failed, again and again.
        AgentError = "agent_error",
    }
);

words!(
    /// How bad it is.
    Severity {
        /// Good to know.
        Info = "info",
        /// Somebody should look.
        Warning = "warning",
        /// Something does not work.
        Error = "error",
        /// Several cannot go on.
        Critical = "critical",
    }
);

/// Something that the survey found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What.
    #[serde(rename = "type")]
    pub kind: FindingKind,
    /// How bad it is.
    pub severity: Severity,
    /// The item that it is about.
    pub item: Option<ItemId>,
    /// The question that it is about.
    pub question_id: Option<QuestionId>,
    /// The session or component that it is about.
    pub source: Option<String>,
    /// Who waits for whom; the first again at the end.
    pub cycle: Option<Vec<AgentName>>,
    /// What was seen, in sentences.
    pub evidence: Vec<String>,
    /// What follows from it.
    pub actions: Vec<Deed>,
}

/// A command that follows from a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// About an item.
    Item(Box<Command>),
    /// About what all items share.
    Shared(Box<SharedCommand>),
}

impl Deed {
    fn item(item: &ItemId, action: Action) -> Self {
        Self::Item(Box::new(Command { item: item.clone(), by: Party::Querent, via: Via::Querent, action }))
    }

    fn escalate(question: &QuestionId, cause: Cause, summary: String) -> Self {
        let action = Action::Escalate { question: question.clone(), summary: Some(summary), cause };
        Self::item(&question.item, action)
    }

    /// An alert; none if the same was said lately.
    fn raise(alarm: Alarm, alerts: &Alerts, at: Moment) -> Option<Self> {
        let said = alerts.said(alarm.kind, &alarm.source, at);
        let action = SharedAction::Raise(Box::new(alarm));
        let command = SharedCommand { by: Party::Querent, via: Via::Querent, action };
        (!said).then(|| Self::Shared(Box::new(command)))
    }

    /// What is done, and to what.
    pub fn words(&self) -> (&'static str, String) {
        match self {
            Self::Item(command) => match &command.action {
                Action::Retry { question } => ("retry", question.to_string()),
                Action::Remind { question } => ("remind", question.to_string()),
                Action::Expire { question } => ("expire", question.to_string()),
                Action::Escalate { question, .. } => ("escalate", question.to_string()),
                Action::Preempt { session, .. } => ("preempt", session.to_string()),
                Action::AskAbout { session, .. } => ("ask_human", session.to_string()),
                Action::LoseSession { session, .. } => ("give_up", session.to_string()),
                _ => ("act", command.item.to_string()),
            },
            Self::Shared(command) => match &command.action {
                SharedAction::Raise(alarm) => ("alert", alarm.source.clone()),
                _ => ("act", String::new()),
            },
        }
    }
}

impl Serialize for Deed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Words<'a> {
            action: &'a str,
            on: &'a str,
        }
        let (action, on) = self.words();
        Words { action, on: &on }.serialize(serializer)
    }
}

/// What waits on the items, and who works on them, gathered in one walk.
#[derive(Default)]
struct Gathered<'a> {
    open: Vec<Open<'a>>,
    busy: Vec<Busy<'a>>,
}

/// A question that waits for an answer, as its item knows it.
#[derive(Clone, Copy)]
struct Open<'a> {
    item: &'a Item,
    number: u32,
    question: &'a OpenQuestion,
}

/// A session that was started on an item and is not over. What is asked of every one is held here: what is behind the
/// references is far away.
struct Busy<'a> {
    item: &'a Item,
    id: &'a SessionId,
    session: &'a Session,
    agent: AgentName,
    /// Since when the item knows of no progress.
    since: Moment,
}

impl<'a> Gathered<'a> {
    fn of(items: &'a [Item]) -> Self {
        let mut gathered = Self { busy: Vec::with_capacity(items.len()), ..Self::default() };
        for item in items.iter().filter(|item| !item.has_ended()) {
            let open = item.open.iter();
            gathered.open.extend(open.map(|(number, question)| Open { item, number: *number, question }));
            let busy = item.sessions.iter().filter_map(|(id, session)| Some((id, session, session.busy_since?)));
            gathered.busy.extend(busy.map(|(id, session, since)| {
                let agent = session.agent.clone();
                Busy { item, id, session, agent, since }
            }));
        }
        gathered
    }
}

impl Open<'_> {
    fn id(&self) -> QuestionId {
        self.item.question_id(self.number)
    }
}

/// Looks at all that is open and says what is wrong with it and what follows. Changes nothing; what it says is deterministic,
/// and a question is escalated once, whatever is wrong with it. Costs what is open: close to linear.
pub fn survey(scene: &Scene<'_>, rules: &Rules, at: Moment) -> Vec<Finding> {
    let gathered = Gathered::of(scene.items);
    let mut findings = stale::find(scene, at);
    let mut leaving = escalated(&findings);
    findings.extend(stuck::find(scene, rules, &leaving));
    leaving.extend(escalated(&findings));
    findings.extend(deadlock::find(scene, &gathered, rules, &leaving, at));
    findings.extend(health::find(scene, &gathered.busy, &rules.config.monitor, at));
    findings
}

/// The questions that go to a human because of these findings.
fn escalated(findings: &[Finding]) -> BTreeSet<QuestionId> {
    let deeds = findings.iter().flat_map(|finding| &finding.actions);
    let questions = deeds.filter_map(|deed| match deed {
        Deed::Item(command) => match &command.action {
            Action::Escalate { question, .. } | Action::Expire { question } => Some(question.clone()),
            _ => None,
        },
        Deed::Shared(_) => None,
    });
    questions.collect()
}
