//! `querent init`: a directory becomes a project.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use querent_core::{AgentName, Rules, guide};
use querent_hub::{GuideFile, Handle, Project};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::Paint;

/// Make a project here
///
/// Writes `.querent/config.toml`, the workflows of the chosen set, and the lines that keep Querent's own state out of
/// git. What is there already is left as it is. The files are yours: edit them and keep them in git. With `--guide`, also
/// tells agents in AGENTS.md how to ask.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent init
  querent init --workflow waves --name shop
  querent init --guide
  querent init --project ../shop --json")]
pub(crate) struct Args {
    /// Which set of agents and workflows to begin with
    ///
    /// `feature`: product manager, architect, engineer and reviewer, with the variants story, bug and epic. `waves`:
    /// planner, builder and qa. `incubator`: ideation, specification, build and learning, with all shipped triggers.
    #[arg(long, value_name = "SET", default_value = "feature", value_parser = PossibleValuesParser::new(Project::SETS))]
    workflow: String,
    /// The project's name; without it, the directory's
    #[arg(long)]
    name: Option<String>,
    /// Write the guide for agents into AGENTS.md, between two marks; the rest of the file stays as it is
    #[arg(long)]
    guide: bool,
}

#[derive(Serialize)]
struct Reply {
    created: Vec<PathBuf>,
    next: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let root = context.directory()?;
    // Marks that are damaged are found before anything is made.
    let file = args.guide.then(|| GuideFile::read(&root)).transpose()?;
    let (project, mut created) = Project::init(&root, args.name.as_deref(), &args.workflow)?;
    let rules = Handle::open(&project, "init").and_then(|hub| hub.rules());
    if let Some(file) = file {
        let text = guide(rules.clone()?.as_ref(), None)?.markdown();
        created.extend(file.write(&text)?.then(|| GuideFile::NAME.into()));
    }
    let rules = rules.ok();
    let asker = rules.as_deref().and_then(asker).map_or("engineer", AgentName::as_str);
    let reply = Reply { created, next: next(asker, args.guide) };
    context.reply(&reply, |page| {
        let place = project.root().display();
        if reply.created.is_empty() {
            page.line(format!("{place} is a Querent project already; nothing was changed."));
        } else {
            page.line(format!("{place} is a Querent project now. Created:"));
            for path in &reply.created {
                page.line(format!("  {}", path.display()));
            }
        }
        page.paint(Paint::Bold, "\nNext:\n");
        for text in &reply.next {
            page.line(format!("  {text}"));
        }
    })
}

fn next(asker: &str, guided: bool) -> Vec<String> {
    let guide = "tell your agents how to ask, in AGENTS.md: querent init --guide (or: querent guide >> AGENTS.md)";
    let next = [
        "open an item: querent item add 42 --title \"Sign in by e-mail\"".to_owned(),
        "see who can ask whom: .querent/workflows/*.toml".to_owned(),
        format!(
            "connect your agent program: querent connect claude --agent {asker} (Claude Code; or codex, opencode, gemini, \
             vscode)"
        ),
        format!(
            "any other agent needs one sentence in its instructions: When something is unclear, do not guess: run `querent \
             ask --item 42 --from {asker} --topic … --question … --wait 10m` and go on with the answer."
        ),
        "see what waits for you: querent questions --to human".to_owned(),
        "see a whole conversation first: querent demo".to_owned(),
    ];
    next.into_iter().chain((!guided).then(|| guide.to_owned())).collect()
}

/// An agent of the project that asks in the midst of its work, for the example.
fn asker(rules: &Rules) -> Option<&AgentName> {
    let workflow = rules.workflow(rules.default_workflow()).ok()?;
    let working = workflow.steps.iter().find(|step| !step.planning && !step.can_clarify.is_empty());
    working.or(workflow.first()).map(|step| &step.agent)
}
