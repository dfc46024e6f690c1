//! `querent own`: whose files are whose.

use querent_core::reply::OwnReply;
use querent_core::{AgentName, SharedAction};

use crate::cli::context::{Context, shared_command};
use crate::cli::error::Failure;
use crate::cli::input::{By, Operation};

/// Give files to an agent, whoever works on them now
///
/// From then on only the owner, and agents that rank before it, may lock them; an owner may take them from whoever ranks
/// behind it. The longest path that covers a file says whose it is. Only a person says so.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent own docs/adr --agent architect
  querent own 'migrations/**' --agent engineer
  querent own docs/adr --nobody")]
pub(crate) struct Args {
    /// A file, a directory or a glob inside the project
    path: String,
    /// The agent that owns it
    #[arg(long, value_name = "NAME", required_unless_present = "nobody")]
    agent: Option<String>,
    /// It has no owner any more
    #[arg(long, conflicts_with = "agent")]
    nobody: bool,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let by = args.by.party()?;
    let agent: Option<AgentName> = args.agent.as_deref().map(str::parse).transpose()?;
    let path = context.path(&args.path)?;
    let hub = context.hub(&by)?;
    let command = shared_command(by, SharedAction::Own { path, agent });
    let envelope = hub.execute_shared(&command, args.operation.id()?);
    context.answer(&envelope, |page, OwnReply { path, owner }| match owner {
        Some(owner) => page.line(format!("{path} belongs to {owner}.")),
        None => page.line(format!("{path} belongs to nobody.")),
    })
}
