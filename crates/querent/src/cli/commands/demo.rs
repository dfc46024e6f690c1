//! `querent demo`: what Querent does, in half a minute. A real team with real worktrees; only the agents are scripted.

mod person;
mod scenes;
mod shop;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use querent_core::view::{Digest, Filter, ItemView, QuestionView, StatusFilter};
use querent_core::{Alert, Assumption, AssumptionFilter, Item, ItemId, Party, Refusal, Span};
use querent_hub::{Handle, TeamEnd, TeamOptions};
use serde::Serialize;

use super::run::{self, Telling, Voice};
use super::{digest, serve};
use crate::cli::context::{Context, DONE};
use crate::cli::error::Failure;
use crate::cli::output::Paint;
use person::Person;
use scenes::Stage;
use shop::Shop;

/// See a team ask, answer, wait and go on, in half a minute
///
/// Makes a small shop in a fresh temporary directory, and lets a team of scripted agents work on it: three items at a time, each
/// on a git branch of its own. They ask each other, ask you, ask for permission, wait for each other in a ring, and assume
/// something that turns out wrong. Answer in the terminal, or not at all: then you see what happens without you. No key, no
/// network. The project stays there to play with; no other project is touched.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent demo --fast
  querent demo --fast --dir /tmp/shop
  querent demo --fast --json")]
pub(crate) struct Args {
    /// Where to make the project: a directory that is empty or not there yet
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Without pauses; nobody is asked, so what has a fallback takes it at once
    #[arg(long)]
    fast: bool,
    /// Show the same in the inbox: serve it on a free port, until Ctrl-C
    #[arg(long)]
    serve: bool,
}

#[derive(Serialize)]
struct Reply<'a> {
    dir: &'a Path,
    items: Vec<ItemView>,
    questions: Vec<QuestionView<'a>>,
    assumptions: &'a [Assumption],
    alerts: &'a [Alert],
    digest: &'a Digest,
}

/// The items of the team: id, title, and where each stands in the beginning.
const ITEMS: &[[&str; 3]] = &[
    ["sign-in", "Sign in by e-mail", "requirements"],
    ["checkout", "Check out and pay", "architecture"],
    ["export", "Export the orders", "implement"],
];

/// How long a person has.
struct Pace {
    /// For what has a fallback.
    patience: Duration,
    /// Before the demo gives permission instead of them.
    grace: Duration,
    /// To read what happened.
    pause: Duration,
    /// How slowly agents work.
    script: f64,
}

impl Pace {
    fn of(args: &Args, is_here: bool) -> Self {
        let (patience, grace) = match (args.serve, is_here) {
            (true, _) => (20, 20),
            (false, true) => (8, 6),
            (false, false) => (4, 2),
        };
        if args.fast {
            return Self {
                patience: Duration::from_millis(1),
                grace: Duration::ZERO,
                pause: Duration::ZERO,
                script: 0.0,
            };
        }
        let (patience, grace) = (Duration::from_secs(patience), Duration::from_secs(grace));
        Self { patience, grace, pause: Duration::from_millis(700), script: 1.0 }
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let is_here = is_terminal && !args.fast && !context.json;
    let pace = Pace::of(args, is_here);
    let directory = match &args.dir {
        Some(directory) => shop::fresh(directory)?,
        None => shop::temporary()?,
    };
    let patience = Span::millis(u64::try_from(pace.patience.as_millis()).unwrap_or(u64::MAX));
    let shop = Shop::make(&directory, patience)?;
    let hub = Handle::stay(&shop.project, &Party::HUMAN.to_string())?;
    let stage_context = context.within(directory.clone());
    let server = if args.serve { Some(served(&shop, &hub, context)?) } else { None };
    let mut stage = Stage::new(&hub, &stage_context, pace.pause)?;
    opening(&stage, &shop, &directory)?;
    stage.open(ITEMS)?;

    let inbox = server.as_ref().map(|(url, _)| url.clone());
    let person = Person::new(hub.clone(), is_here, inbox, pace.grace, pace.patience);
    if team(&hub, context, person, pace.script)? == TeamEnd::Stopped {
        return Ok(DONE);
    }
    let mut stage = Stage::new(&hub, &stage_context, pace.pause)?;
    stage.say("2. Three other agents, which run elsewhere and ask by themselves, wait for each other.")?;
    stage.deadlock()?;
    stage.say("3. Nobody said which separator the export has, so a comma was assumed. Now a person answers, late.")?;
    hub.run_due()?;
    let item = stage.late_answer(&"CLR-export-002".parse()?)?;
    end(&hub, context, &directory, &item)?;
    if let Some((url, thread)) = server {
        stage_context.tell(|page| page.line(format!("\nThe inbox stays at {url} until you press Ctrl-C.")))?;
        let _ = thread.join();
    }
    Ok(DONE)
}

fn opening(stage: &Stage<'_>, shop: &Shop, directory: &Path) -> Result<(), Failure> {
    stage.context.tell(|page| {
        page.line(format!("A small shop in {}, and a team of scripted agents.", directory.display()));
        if !shop.has_git {
            page.paint(Paint::Warn, "There is no git here, so all items are worked on in that directory.\n");
        }
    })?;
    stage.say("1. Three items at a time, each by its agents; whoever does not know, asks.")
}

/// The team works on its items, and somebody may answer meanwhile.
fn team(hub: &Handle, context: &Context, person: Person, pace: f64) -> Result<TeamEnd, Failure> {
    let items = ITEMS.iter().map(|[id, ..]| id.parse()).collect::<Result<_, Refusal>>()?;
    let options = TeamOptions {
        items: Some(items),
        parallel: Some(ITEMS.len()),
        pace,
        program: std::env::current_exe().ok(),
        ..TeamOptions::default()
    };
    let voice = if context.json { Voice::Silent } else { Voice::of(context) };
    let mut telling = Telling::from(voice);
    person.listen(telling.typed.clone());
    telling.aside = Some(person.aside());
    run::work(hub, options, telling)
}

/// Serves the project on a thread of its own; says where.
fn served(
    shop: &Shop,
    hub: &Handle,
    context: &Context,
) -> Result<(String, std::thread::JoinHandle<Result<(), Refusal>>), Failure> {
    let (tell, told) = mpsc::channel();
    let server = serve::Server::new(shop.project.clone(), hub.clone(), ([127, 0, 0, 1], 0).into());
    let thread = std::thread::spawn(move || {
        server.run(|address| {
            // Whoever waits for it is there.
            let _ = tell.send(format!("http://{address}"));
            Ok(())
        })
    });
    let Ok(url) = told.recv() else {
        let ended = thread.join().unwrap_or_else(|_| Err(serve::broken(&"its thread ended")));
        return Err(ended.err().unwrap_or_else(|| serve::broken(&"it ended before it listened")).into());
    };
    context.within(PathBuf::new()).tell(|page| {
        page.line(format!("listening on {url}"));
        page.line("Open it: what is asked of you can be answered there.\n");
    })?;
    Ok((url, thread))
}

fn end(hub: &Handle, context: &Context, directory: &Path, late: &Item) -> Result<u8, Failure> {
    let items = hub.item_views()?;
    let mut found = hub.questions(None, &Filter { to: None, status: StatusFilter::All })?;
    found.sort_by(|a, b| a.id.cmp(&b.id));
    let questions = found.iter().map(|question| QuestionView { question, with_thread: true }).collect();
    let (assumptions, alerts) = (hub.assumptions(None, AssumptionFilter::All)?, hub.alerts()?);
    let digest = hub.digest(Span::minutes(60), None)?;
    let reply = Reply { dir: directory, items, questions, assumptions: &assumptions, alerts: &alerts, digest: &digest };
    context.reply(&reply, |page| {
        let id: &ItemId = &late.id;
        if late.needs_rework {
            page.line(format!(
                "{:<10} needs rework: what was built on the assumption is not what was wanted.",
                id.as_str()
            ));
        }
        page.paint(Paint::Bold, "\nThe digest\n");
        digest::summary(page, &digest);
        page.paint(Paint::Bold, "\nAll of it was real but the agents' words, and every word is kept. Try next:\n");
        page.line(format!("  cd {}", directory.display()));
        page.line("  querent questions --status all            what was asked");
        page.line("  querent show CLR-checkout-001             one conversation");
        page.line(format!("  querent item move {id} --to implement   take the rework up"));
        page.line("  querent run                               and let the team do it");
        page.line("and in your own repository:");
        page.line("  querent init");
    })
}
