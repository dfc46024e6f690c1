//! The MCP server: how coding agents reach Querent. Knows no transport; a file a tool below `tools/`.
//!
//! Who calls is fixed when a server is made. What a tool does is a command or a query of the hub, so nothing is decided here;
//! what waits, waits as a question, so nothing is lost when a server or its client dies.

mod call;
mod caller;
mod elicitation;
#[cfg(feature = "conformance-fixtures")]
mod fixtures;
mod outcome;
mod prompts;
mod resources;
mod schema;
mod seal;
mod server;
mod stdio;
mod tasks;
mod tools;
mod waiting;
mod watch;

pub(crate) use caller::{Caller, operation};
#[cfg(feature = "conformance-fixtures")]
pub(crate) use fixtures::Fixtures;
pub(crate) use server::Server;
pub(crate) use stdio::Stdio;
pub(crate) use tools::question_create::{Asked, asked};
