//! The MCP server: how coding agents reach Querent. Knows no transport; a file a tool below `tools/`.
//!
//! Who calls is fixed when a server is made. What a tool does is a command or a query of the hub, so nothing is decided here;
//! what waits, waits as a question, so nothing is lost when a server or its client dies.

mod call;
mod caller;
mod elicitation;
mod outcome;
mod prompts;
mod resources;
mod schema;
mod seal;
mod server;
mod tasks;
mod tools;
mod waiting;
mod watch;

pub(crate) use caller::Caller;
pub(crate) use server::Server;
