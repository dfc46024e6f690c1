//! What the hub hands to the journal: commands, deadlines, and what the monitor found.

use std::sync::Arc;

use querent_core::{
    Applied, Code, Command, Envelope, Item, Needs, Refusal, Rules, SharedCommand, State, Ticket, act, apply,
    apply_shared, needs, needs_of_tick, tick, try_act,
};
use querent_journal::Job;
use serde_json::json;

use crate::clock::Clock;

/// One command on its way through the journal.
pub(crate) struct Carry {
    pub(crate) command: Command,
    pub(crate) ticket: Ticket,
    /// The version that the item must have; any, if none is named.
    pub(crate) version: Option<u64>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Job for Carry {
    fn needs(&mut self, item: &Item) -> Needs {
        needs(&self.command, item, self.clock.now())
    }

    fn run(&mut self, state: &mut State) -> Applied {
        let version = state.item.as_ref().map(|item| item.version);
        match (self.version, version) {
            (Some(wanted), Some(version)) if wanted != version => {
                Applied { batches: Vec::new(), reply: Envelope::refused(&changed(&self.command, wanted, version)) }
            }
            _ => apply(state, &self.command, &self.ticket, &self.rules, self.clock.now()),
        }
    }
}

fn changed(command: &Command, wanted: u64, version: u64) -> Refusal {
    let message = format!("item {} is at version {version}, not at {wanted}", command.item);
    Refusal::new(Code::Conflict, message, "read it again, and send the call with its new version if it still holds")
        .with(json!({ "field": "version", "wanted": wanted, "version": version }))
}

/// One that is about what all items share.
pub(crate) struct CarryShared {
    pub(crate) command: SharedCommand,
    pub(crate) ticket: Option<Ticket>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Job for CarryShared {
    fn needs(&mut self, _: &Item) -> Needs {
        Needs::default()
    }

    fn run(&mut self, state: &mut State) -> Applied {
        apply_shared(state, &self.command, self.ticket.as_ref(), &self.rules, self.clock.now())
    }
}

/// What follows from a finding.
pub(crate) struct Act {
    pub(crate) command: Command,
    pub(crate) rules: Arc<Rules>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Job for Act {
    fn needs(&mut self, item: &Item) -> Needs {
        needs(&self.command, item, self.clock.now())
    }

    fn run(&mut self, state: &mut State) -> Applied {
        Applied { batches: act(state, &self.command, &self.rules, self.clock.now()), reply: Envelope::ok(&()) }
    }
}

/// What Querent itself does, and whether it was so still.
pub(crate) struct Own {
    pub(crate) command: Command,
    pub(crate) rules: Arc<Rules>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Job for Own {
    fn needs(&mut self, item: &Item) -> Needs {
        needs(&self.command, item, self.clock.now())
    }

    fn run(&mut self, state: &mut State) -> Applied {
        try_act(state, &self.command, &self.rules, self.clock.now())
    }
}

/// The deadlines of an item.
pub(crate) struct Tick {
    pub(crate) rules: Arc<Rules>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Job for Tick {
    fn needs(&mut self, item: &Item) -> Needs {
        needs_of_tick(item, self.clock.now())
    }

    fn run(&mut self, state: &mut State) -> Applied {
        Applied { batches: tick(state, &self.rules, self.clock.now()), reply: Envelope::ok(&()) }
    }
}
