//! `querent guide`: how the agents of this project ask, for their instructions.

use std::fmt;
use std::str::FromStr;

use querent_core::{AgentName, Guide, guide};
use querent_hub::GuideFile;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::input::one_of;

/// Tell agents how to ask in this project
///
/// A short text for a system prompt or AGENTS.md: when to ask and when not to, which kind, how, whom, within which limits,
/// and what happens when nobody answers. It is made from the project's config and workflows as they are now.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent guide
  querent guide --agent engineer
  querent guide --agent engineer --format json
  querent guide --write
  querent guide >> CLAUDE.md")]
pub(crate) struct Args {
    /// Speak to this agent; without it, to all of them
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Markdown to be read, or the same facts as JSON
    #[arg(long, default_value = "md", value_parser = one_of(Format::ALL, Format::as_str))]
    format: Format,
    /// Write the text into AGENTS.md, between two marks; the rest of the file stays as it is
    #[arg(long, conflicts_with = "format")]
    write: bool,
}

/// How a guide is printed.
#[derive(Clone, Copy)]
enum Format {
    Md,
    Json,
}

impl Format {
    const ALL: &[Self] = &[Self::Md, Self::Json];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|it| it.as_str() == text).ok_or_else(|| format!("`{text}` is none of md, json"))
    }
}

#[derive(Serialize)]
struct Reply<'a> {
    guide: &'a Guide,
    text: &'a str,
}

#[derive(Serialize)]
struct Written {
    path: &'static str,
    changed: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let agent: Option<AgentName> = args.agent.as_deref().map(str::parse).transpose()?;
    let project = context.project()?;
    let hub = context.reader()?;
    let guide = guide(hub.rules()?.as_ref(), agent.as_ref())?;
    let text = guide.markdown();
    if args.write {
        let changed = GuideFile::read(project.root())?.write(&text)?;
        return context.reply(&Written { path: GuideFile::NAME, changed }, |page| {
            let told = if changed { "has the guide now" } else { "has this guide already; nothing was changed" };
            page.line(format!("{} {told}.", project.root().join(GuideFile::NAME).display()));
        });
    }
    context.reply(&Reply { guide: &guide, text: &text }, |page| match args.format {
        Format::Md => page.text(&text),
        Format::Json => page.line(serde_json::to_string_pretty(&guide).unwrap_or_default()),
    })
}
