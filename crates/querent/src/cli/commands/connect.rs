//! `querent connect`: an agent program learns of Querent.

use std::path::Path;

use querent_core::{AgentName, Code, ItemId, Refusal, Rules};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::input::{environment, one_of};
use crate::cli::output::{Page, Paint};
use crate::clients::{self, Change, Client, Home, Outcome, Registration, Scope};

/// Connect an agent program to this project
///
/// Writes Querent's MCP server into the program's own settings in this project, or with `--user` into your own. What is there
/// stays as it is, comments and order included, and a second call changes nothing. Claude Code also gets hooks and the permission
/// to use the tools. `querent disconnect` takes it all back.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent connect claude --agent engineer
  querent connect codex --agent reviewer --item 42
  querent connect opencode --agent architect --user
  querent connect vscode --agent engineer --print")]
pub(crate) struct Args {
    /// The program
    #[arg(value_name = "CLIENT", value_parser = one_of(Client::ALL, Client::as_str))]
    client: Client,
    /// As whom it asks; without it, `QUERENT_AGENT`, else the only agent that the config declares
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The item that it works on, if it is always the same
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// Write your own settings, for all projects, instead of this project's
    #[arg(long)]
    user: bool,
    /// Print what would be written, and change nothing
    #[arg(long)]
    print: bool,
    /// Leave the hooks out (Claude Code); the permission stays
    #[arg(long)]
    no_hooks: bool,
}

/// What was done to which file.
#[derive(Serialize)]
pub(super) struct Reply {
    client: &'static str,
    agent: Option<AgentName>,
    files: Vec<File>,
    next: Vec<String>,
}

#[derive(Serialize)]
struct File {
    path: String,
    change: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let project = context.project()?;
    let hub = context.reader()?;
    let agent = agent(args.agent.as_deref(), hub.rules()?.as_ref())?;
    let item: Option<ItemId> = args.item.as_deref().map(str::parse).transpose()?;
    if let Some(item) = &item {
        hub.item(item)?;
    }
    let registration = Registration { program: clients::program()?, agent, item, hooks: !args.no_hooks };
    let scope = scope(args.user, project.root())?;
    let changes = args.client.connect(&registration, &scope)?;
    let mut reply = Reply::new(args.client, &changes, &scope);
    reply.agent = Some(registration.agent.clone());
    if args.print {
        for (file, text) in reply.files.iter_mut().zip(args.client.fragments(&registration, &scope)) {
            file.text = text;
        }
        return context.reply(&reply, |page| reply.show_texts(page));
    }
    clients::write(&changes)?;
    reply.next = next(args.client, &registration, &scope);
    context.reply(&reply, |page| {
        let title = args.client.title();
        let agent = &registration.agent;
        if reply.is_unchanged() {
            page.line(format!("{title} is connected as {agent} already; nothing was changed."));
        } else {
            page.line(format!("{title} is connected as {agent}."));
        }
        reply.show(page);
    })
}

/// Whose settings are meant.
pub(super) fn scope(user: bool, root: &Path) -> Result<Scope, Refusal> {
    if !user {
        return Ok(Scope::Project(root.to_owned()));
    }
    let dir = std::env::home_dir().filter(|dir| dir.is_absolute()).ok_or_else(|| {
        Refusal::new(Code::StorageError, "your home directory is not known", "set HOME to it and try again")
    })?;
    Ok(Scope::User(Home { dir, variable: environment }))
}

fn agent(given: Option<&str>, rules: &Rules) -> Result<AgentName, Refusal> {
    if let Some(name) = given.map(str::to_owned).or_else(|| environment("QUERENT_AGENT")) {
        let name: AgentName = name.parse()?;
        return rules.agent(&name).map(|_| name.clone());
    }
    let declared: Vec<&AgentName> = rules.config.agents.keys().collect();
    match declared.as_slice() {
        [only] => Ok((*only).clone()),
        [] => Err(Refusal::invalid(
            "agent",
            "no agent is named and the config declares none",
            "declare one in .querent/config.toml: [agents.engineer]",
        )),
        several => {
            let names = several.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
            let hint = format!("name it with --agent or QUERENT_AGENT: {names}");
            Err(Refusal::invalid("agent", "no agent is named and the config declares several", hint))
        }
    }
}

fn next(client: Client, registration: &Registration, scope: &Scope) -> Vec<String> {
    let mut next = client.next(scope);
    if registration.program != "querent" {
        let program = &registration.program;
        next.push(format!(
            "`querent` on PATH is not this program, so its path is written: {program}; connect again if it moves"
        ));
    }
    next
}

impl Reply {
    /// What the changes are. Files of the project are named from its root.
    pub(super) fn new(client: Client, changes: &[Change], scope: &Scope) -> Self {
        let root = match scope {
            Scope::Project(root) => Some(root),
            Scope::User(_) => None,
        };
        let files = changes.iter().map(|change| {
            let path = root.and_then(|root| change.path.strip_prefix(root).ok()).unwrap_or(&change.path);
            File { path: path.display().to_string(), change: change.kind(), text: None }
        });
        Self { client: client.as_str(), agent: None, files: files.collect(), next: Vec::new() }
    }

    /// Whether nothing is, or was, to do.
    pub(super) fn is_unchanged(&self) -> bool {
        self.files.iter().all(|file| file.change == Outcome::Unchanged)
    }

    /// The files and what to do next.
    pub(super) fn show(&self, page: &mut Page) {
        for File { path, change, .. } in &self.files {
            let word = word(*change);
            page.line(format!("  {word:<9}  {path}"));
        }
        for text in &self.next {
            page.next(text);
        }
    }

    fn show_texts(&self, page: &mut Page) {
        for File { path, change, text } in &self.files {
            let would = match change {
                Outcome::Created => "would be created with",
                Outcome::Changed => "would be changed to say also",
                Outcome::Unchanged => "says already",
                Outcome::Removed => "would be removed",
            };
            page.paint(Paint::Bold, path);
            page.line(format!(" {would}:"));
            page.line(text.as_deref().unwrap_or_default());
        }
    }
}

fn word(change: Outcome) -> &'static str {
    match change {
        Outcome::Created => "created",
        Outcome::Changed => "changed",
        Outcome::Unchanged => "unchanged",
        Outcome::Removed => "removed",
    }
}
