//! Claude Code: its hooks, and how a session of it is resumed. A file a hook; what each says is a pure function of what Claude
//! sends and of what the hub knows.
//!
//! A headless session that asks a blocking question is parked: the hook asks in the tool's place and defers the call, so that
//! the program ends and costs nothing. Resumed, it makes the same call again, which is then a replay and brings the answer.

mod elicitation;
mod input;
mod launch;
mod news;
mod pre_tool_use;
mod question;
mod stop;

use querent_core::{
    Action, AgentName, Command, ComponentName, Item, ItemId, Party, QuestionId, Refusal, SessionId, Via,
};
use querent_hub::Handle;
use serde_json::Value;

pub(crate) use input::Input;
pub(crate) use launch::{Launched, Launcher, prompt};

/// The variable that tells the hooks of a resumed session which question it is resumed for.
pub(crate) const RESUMED_FOR: &str = "QUERENT_RESUMES";

/// Whose hook it is.
pub(crate) struct Seat {
    /// The agent.
    pub(crate) agent: AgentName,
    /// The item of calls that name none; without it, the only one that has not ended.
    pub(crate) item: Option<ItemId>,
    /// The session; without it, `<agent>@<item>`.
    pub(crate) session: Option<SessionId>,
    /// What Querent's MCP server is called.
    pub(crate) server: String,
    /// Whether nobody sits in front of the session.
    pub(crate) headless: bool,
    /// The question that it is resumed for.
    pub(crate) resumed_for: Option<QuestionId>,
}

/// What a hook says to Claude, and what is recorded of that. What is recorded afterwards is repeated after a crash between both;
/// it is never lost.
#[derive(Debug, Default)]
pub(crate) struct Reaction {
    /// What is printed; nothing lets Claude go on as it would.
    pub(crate) says: Option<Value>,
    /// What is recorded once it is printed.
    pub(crate) then: Vec<Command>,
}

impl Reaction {
    fn saying(says: Value) -> Self {
        Self { says: Some(says), then: Vec::new() }
    }
}

/// What a hook has to say.
pub(crate) fn react(hub: &Handle, seat: &Seat, input: &Input) -> Result<Reaction, Refusal> {
    match input.event.as_str() {
        "PreToolUse" => pre_tool_use::react(hub, seat, input),
        "PostToolUse" => news::after_tool(hub, seat, input),
        "SessionStart" | "UserPromptSubmit" => news::react(hub, seat, input),
        "Stop" => stop::react(hub, seat, input),
        "Elicitation" => elicitation::react(hub, seat, input),
        _ => Ok(Reaction::default()),
    }
}

/// Shows that the session lives, if it is one that works.
pub(crate) fn beat(hub: &Handle, seat: &Seat) -> Result<(), Refusal> {
    let item = seat.item(hub)?;
    let session = seat.session_on(&item.id);
    if item.sessions.get(&session).is_some_and(|it| !it.finished) {
        let name: ComponentName = session.as_str().parse()?;
        hub.beat(&name)?;
    }
    Ok(())
}

impl Seat {
    /// The item that is meant.
    fn item(&self, hub: &Handle) -> Result<Item, Refusal> {
        match &self.item {
            Some(item) => hub.item(item),
            None => hub.item(&hub.only_item()?),
        }
    }

    fn session_on(&self, item: &ItemId) -> SessionId {
        self.session.clone().unwrap_or_else(|| SessionId::of(&self.agent, item))
    }

    fn command(&self, item: &ItemId, action: Action) -> Command {
        Command { item: item.clone(), by: Party::Agent(self.agent.clone()), via: Via::Cli, action }
    }
}
