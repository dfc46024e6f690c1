//! What the hub hands to the journal: commands, deadlines, and what the monitor found.

use std::sync::Arc;

use querent_core::{
    Applied, Command, Envelope, Item, Needs, Rules, SharedCommand, State, Ticket, act, apply, apply_shared, needs,
    needs_of_tick, tick,
};
use querent_journal::Job;

use crate::clock::Clock;

/// One command on its way through the journal.
pub(crate) struct Carry {
    pub(crate) command: Command,
    pub(crate) ticket: Ticket,
    pub(crate) rules: Arc<Rules>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Job for Carry {
    fn needs(&mut self, item: &Item) -> Needs {
        needs(&self.command, item, self.clock.now())
    }

    fn run(&mut self, state: &mut State) -> Applied {
        apply(state, &self.command, &self.ticket, &self.rules, self.clock.now())
    }
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
