//! How an agent is invoked, whatever it runs in: a program, an API, a script.
//!
//! A [`Provider`] begins a turn of an agent from an [`Order`] and hands back a [`Run`], from which come [`Signal`]s: what the
//! agent wants and says, in one form for all. Each provider is a pure parser beside a launcher. Nothing here decides: what
//! a signal leads to is for the hub and the core to say.

mod acp;
mod anthropic;
mod api;
mod command;
pub mod http;
pub mod normalise;
mod openai;
mod order;
mod program;
mod retry;
mod run;
mod scripted;
mod signal;
mod sse;

use std::path::Path;
use std::sync::Arc;

use querent_core::{ProviderConfig, ProviderKind};

use crate::acp::Acp;
use crate::api::{Api, World};

pub use order::{McpServer, Order, Purpose};
pub use run::{Failure, FailureKind, Provider, Run, RunEnd};
pub use scripted::Scripted;
pub use signal::{Request, Signal, TurnResult, Usage};

/// The provider that the config describes; `root` is the project's directory, from which its files are named. Scripts are
/// played at `pace`: 1 as they say, 0 without a pause. One that lacks what it needs is refused here, if that is known without
/// trying.
pub fn provider(config: &ProviderConfig, root: &Path, pace: f64) -> Result<Arc<dyn Provider>, Failure> {
    Ok(match config.kind {
        ProviderKind::Command => Arc::new(command::Command::new(config, root)?),
        ProviderKind::Scripted => Arc::new(Scripted::of(config, root, pace)?),
        ProviderKind::Anthropic => Arc::new(Api::new(&anthropic::VENDOR, config, World::real())?),
        ProviderKind::Openai => Arc::new(Api::new(&openai::VENDOR, config, World::real())?),
        ProviderKind::Acp => Arc::new(Acp::new(config, root)?),
    })
}
