//! `querent context`: what an agent should know when it goes on.

use querent_core::{AgentName, Context as Told, Party, Refusal};

use crate::cli::context::{Context, item_of};
use crate::cli::error::Failure;
use crate::cli::input::{caller, one_of};

/// Print what an agent should know when it goes on with an item
///
/// Overturned assumptions first, then the item's open questions, its last answers (newest first, as many as
/// `answer_history` in the config says, each with where it comes from), the assumptions that stand, and what was learned
/// from people's answers. Meant for an agent's prompt.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent context --item 42 --agent engineer
  querent context --item 42 --agent engineer --format json")]
pub(crate) struct Args {
    /// The item; without it, that of `QUERENT_ITEM`, else the only item that has not ended
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// The agent; without it, that of `QUERENT_AGENT`
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Markdown for a prompt, or the JSON envelope
    #[arg(long, default_value = "md", value_parser = one_of(&[Format::Md, Format::Json], Format::as_str))]
    format: Format,
}

/// How the context is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Md,
    Json,
}

impl Format {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Json => "json",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "md" => Ok(Self::Md),
            "json" => Ok(Self::Json),
            _ => Err(format!("`{text}` is none of md, json")),
        }
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let agent = agent(caller("--agent", args.agent.as_deref())?)?;
    let hub = context.reader()?;
    let item = item_of(args.item.as_deref(), &hub)?;
    let (item, open, answered) = hub.context(&item, &agent)?;
    let knowledge = hub.knowledge()?;
    let told = Told::new(&item, &agent, &open, &answered, &knowledge);
    let context = if args.format == Format::Json { &context.as_json() } else { context };
    context.reply(&told, |page| page.text(&told.markdown()))
}

fn agent(party: Party) -> Result<AgentName, Refusal> {
    match party {
        Party::Agent(agent) => Ok(agent),
        other => {
            let message = format!("a context is for an agent, not for `{other}`");
            Err(Refusal::invalid("agent", message, "name a declared agent"))
        }
    }
}
