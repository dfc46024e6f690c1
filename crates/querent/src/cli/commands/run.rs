//! `querent run`: the team works.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use querent_core::view::ItemView;
use querent_core::{AgentName, Item, ItemId, Party, Record, Refusal, Rules, Work};
use querent_hub::{Follower, Handle, Team, TeamEnd, TeamOptions};
use serde::Serialize;
use tokio::sync::watch;

use super::serve;
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::narrator::Narrator;
use crate::cli::output::{self, Page, Paint, Paper};
use crate::cli::progress::Progress;

/// Take items through their workflows: invoke the agent of each step, and the agents that are asked
///
/// An agent is invoked by its provider: `[agents.engineer] provider = "claude"` and `[providers.claude]` in the config. Each item
/// is worked on in a git worktree of its own, on the branch `querent/<item>`. An item that waits for a person is left alone and
/// goes on where it stood when the answer is there. Ends when there is nothing left for agents to do; keeps waiting while
/// somebody is to answer, unless `--once` is given. Ctrl-C stops it; nothing is lost, and the next run picks up where it was.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent run
  querent run --items 42,43 --parallel 2
  querent run --once --json")]
pub(crate) struct Args {
    /// The items, separated by commas; without it, all that have not ended
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    items: Vec<String>,
    /// How many items are worked on at a time; without it, `[run] parallel` of the config
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    parallel: Option<u16>,
    /// Stop as soon as nothing can go on without waiting
    #[arg(long)]
    once: bool,
}

/// How the run ended.
#[derive(Serialize)]
struct Reply {
    /// `done`, `waiting` or `stopped`.
    ended: &'static str,
    items: Vec<ItemView>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let items = args.items.iter().map(|id| id.trim().parse()).collect::<Result<BTreeSet<ItemId>, Refusal>>()?;
    let project = context.project()?;
    let hub = Handle::stay(&project, &Party::HUMAN.to_string())?;
    let options = TeamOptions {
        items: Some(items).filter(|items| !items.is_empty()),
        parallel: args.parallel.map(usize::from),
        once: args.once,
        program: std::env::current_exe().ok(),
        ..TeamOptions::default()
    };
    let chosen = options.items.clone();
    let ended = work(&hub, options, Voice::of(context).into())?;
    let mut items = hub.items()?;
    items.retain(|item| chosen.as_ref().is_none_or(|chosen| chosen.contains(&item.id)));
    let reply = Reply { ended: word(ended), items: items.iter().map(ItemView::of).collect() };
    let rules = hub.rules()?;
    context.reply(&reply, |page| page_of(page, ended, &items, &rules))
}

fn word(ended: TeamEnd) -> &'static str {
    match ended {
        TeamEnd::Done => "done",
        TeamEnd::Waits => "waiting",
        TeamEnd::Stopped => "stopped",
    }
}

fn page_of(page: &mut Page, ended: TeamEnd, items: &[Item], rules: &Rules) {
    let outside: BTreeSet<AgentName> = items
        .iter()
        .filter_map(|item| match querent_core::work(item, rules) {
            Work::Outside(agent) => Some(agent),
            _ => None,
        })
        .collect();
    let standing = |of: &dyn Fn(&Item) -> bool| items.iter().filter(|item| of(item)).count();
    let blocked = standing(&|item| item.stage == querent_core::Stage::Blocked);
    let waiting = standing(&|item| item.stage == querent_core::Stage::AwaitingInput);
    match ended {
        TeamEnd::Done if !outside.is_empty() => {
            page.paint(Paint::Warn, "Nothing is left for the agents that Querent invokes.");
        }
        TeamEnd::Done => page.paint(Paint::Good, "Nothing is left for agents to do."),
        TeamEnd::Waits => page.paint(Paint::Warn, "Nothing can go on without waiting."),
        TeamEnd::Stopped => page.paint(Paint::Warn, "Stopped. The next `querent run` goes on where it was."),
    }
    page.text("\n");
    for agent in outside {
        page.next(format!(
            "{agent} comes by itself; to have it invoked, give [agents.{agent}] a provider in .querent/config.toml"
        ));
    }
    if waiting > 0 {
        page.next("answer what waits: querent questions --to human");
    }
    if blocked > 0 {
        page.next("look at what is blocked: querent status; move it on: querent item move ID --to STEP");
    }
}

/// How a run is told.
#[derive(Clone, Copy)]
pub(crate) enum Voice {
    /// A live line for each item, below what happens.
    Live(Paper),
    /// What happens, line by line.
    Plain(Paper),
    /// The records, a JSON object a line.
    Json,
    /// Nothing.
    Silent,
}

impl Voice {
    pub(crate) fn of(context: &Context) -> Self {
        let paper = Paper::stdout();
        match (context.json, std::io::stdout().is_terminal()) {
            (true, _) => Self::Json,
            (false, true) if paper.width.is_some() => Self::Live(paper),
            (false, _) => Self::Plain(paper),
        }
    }

    fn paper(self) -> Paper {
        match self {
            Self::Live(paper) | Self::Plain(paper) => paper,
            Self::Json | Self::Silent => Paper::PLAIN,
        }
    }
}

/// Sees a record, and may write below what is told of it. It runs where tasks can be spawned.
pub(crate) type Aside = Box<dyn FnMut(&Record, &mut Page) + Send>;

/// How a run is told, and what somebody else makes of it meanwhile.
pub(crate) struct Telling {
    pub(crate) voice: Voice,
    pub(crate) aside: Option<Aside>,
    /// How many lines somebody typed below the live ones.
    pub(crate) typed: Arc<AtomicUsize>,
}

impl From<Voice> for Telling {
    fn from(voice: Voice) -> Self {
        Self { voice, aside: None, typed: Arc::default() }
    }
}

/// Runs the team and tells what happens, until it ends or somebody stops it.
pub(crate) fn work(hub: &Handle, options: TeamOptions, telling: Telling) -> Result<TeamEnd, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| serve::broken(&error))?;
    let ended = runtime.block_on(async {
        let (stop, stopping) = watch::channel(false);
        let news = hub.follow(None)?;
        let team = Team::open(hub, options)?;
        let clock = tokio::spawn({
            let hub = hub.clone();
            async move { hub.keep_time().await }
        });
        let told = tokio::spawn(tell(hub.clone(), news, telling, stopping.clone()));
        tokio::spawn({
            let stop = stop.clone();
            async move {
                serve::stopped().await;
                let _ = stop.send(true);
            }
        });
        let ended = team.run(stopping).await;
        let _ = stop.send(true);
        clock.abort();
        // What happened last is told too.
        let _ = told.await;
        ended
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
    Ok(ended?)
}

async fn tell(hub: Handle, mut news: Follower, telling: Telling, mut stopping: watch::Receiver<bool>) {
    let Telling { voice, mut aside, typed } = telling;
    let mut narrator = Narrator::new(hub.clone());
    let mut progress = Progress::new(hub.clone(), typed);
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    let mut over = false;
    loop {
        let next = tokio::select! {
            biased;
            news = news.next() => news.ok().map(|news| news.record.clone()),
            _ = tick.tick(), if !over => {
                if let Voice::Live(_) = voice {
                    progress.draw("");
                }
                continue;
            }
            stopped = stopping.wait_for(|stop| *stop), if !over => {
                drop(stopped);
                over = true;
                continue;
            }
            // Whatever was recorded before the end is here at once.
            () = tokio::time::sleep(Duration::from_millis(50)), if over => break,
        };
        let Some(record) = next else { break };
        let mut page = Page::new(voice.paper());
        narrator.tell(&mut page, &record);
        if let Some(aside) = &mut aside {
            aside(&record, &mut page);
        }
        say(&mut progress, voice, &record, &page.into_text());
    }
    if let Voice::Live(_) = voice {
        progress.clear();
    }
}

fn say(progress: &mut Progress, voice: Voice, record: &Record, text: &str) {
    match voice {
        Voice::Live(_) => {
            progress.see(record);
            progress.draw(text);
        }
        Voice::Plain(_) => {
            let mut out = std::io::stdout().lock();
            // Whoever reads may be gone; the team works on.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
        Voice::Json => drop(output::print_line(&querent_core::wire::encode_record(record))),
        Voice::Silent => {}
    }
}
