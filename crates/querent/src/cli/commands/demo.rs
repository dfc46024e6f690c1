//! `querent demo`: what Querent does, in a few seconds. A script of real command lines, run one by one.

use std::io;
use std::path::{Path, PathBuf};

use querent_core::view::{Filter, ItemView, QuestionView, StatusFilter};
use querent_core::{Code, Refusal};
use querent_hub::Project;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::Paint;

/// See a team ask, answer, wait and go on, in a few seconds
///
/// Makes a project in a fresh temporary directory, and runs real commands in it: an engineer asks an architect, asks on and
/// settles it; then only a person can decide, the item waits, and the answer lets it go on where it stood. No key, no
/// network. The project stays there to play with; no other project is touched.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent demo
  querent demo --dir /tmp/shop
  querent demo --json")]
pub(crate) struct Args {
    /// Where to make the project: a directory that is empty or not there yet
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Serialize)]
struct Reply<'a> {
    dir: &'a Path,
    items: Vec<ItemView>,
    questions: Vec<QuestionView<'a>>,
}

/// What the demo tells, and the commands that it runs meanwhile.
struct Scene {
    telling: &'static str,
    commands: &'static [&'static [&'static str]],
}

const SCENES: &[Scene] = &[
    Scene {
        telling: "An item is the unit of work. This one is being implemented by an engineer, an AI agent.",
        commands: &[
            &["item", "add", "42", "--title", "Sign in by e-mail"],
            &["item", "move", "42", "--to", "implement"],
            &["hook", "start", "--agent", "engineer", "--item", "42"],
        ],
    },
    Scene {
        telling: "The engineer meets an ambiguity. It does not guess: it asks the architect, and waits.",
        commands: &[
            &[
                "ask",
                "--item",
                "42",
                "--from",
                "engineer",
                "--to",
                "architect",
                "--topic",
                "Token lifetime",
                "--question",
                "How long does a sign-in link stay valid?",
            ],
            &["state"],
        ],
    },
    Scene {
        telling: "The architect answers. The engineer asks on, and settles the matter when it knows enough.",
        commands: &[
            &["answer", "CLR-42-001", "--by", "architect", "--answer", "15 minutes, and it works once."],
            &[
                "follow-up",
                "CLR-42-001",
                "--from",
                "engineer",
                "--question",
                "Does a second request cancel the first link?",
            ],
            &["answer", "CLR-42-001", "--by", "architect", "--answer", "Yes: only the latest link is valid."],
            &["resolve", "CLR-42-001", "--by", "engineer", "--note", "15 minutes, once, the latest only"],
            &["show", "CLR-42-001"],
        ],
    },
    Scene {
        telling: "Some things only a person can decide. The item waits for you, and every list says so.",
        commands: &[
            &[
                "ask",
                "--item",
                "42",
                "--from",
                "engineer",
                "--to",
                "human",
                "--topic",
                "Unknown addresses",
                "--question",
                "Someone signs in with an address that has no account. What happens?",
                "--context",
                "The ticket does not say, and the mail that goes out differs.",
                "--option",
                "create=Create the account",
                "--option",
                "refuse=Say that there is none",
                "--recommend",
                "create",
                "--fallback",
                "refuse",
                "--because",
                "it can be relaxed later without harm",
            ],
            &["ready"],
            &["show", "CLR-42-002"],
        ],
    },
    Scene {
        telling: "You answer, from any shell. The item goes on exactly where it stood, and the engineer finishes.",
        commands: &[
            &["answer", "CLR-42-002", "--answer", "create"],
            &["hook", "finish", "--agent", "engineer", "--item", "42"],
            &["status"],
        ],
    },
];

pub(crate) fn run(
    args: &Args,
    context: &Context,
    play: fn(&[&str], &Context) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let directory = match &args.dir {
        Some(directory) => fresh(directory)?,
        None => temporary()?,
    };
    let (project, _) = Project::init(&directory, Some("demo"), "feature")?;
    let stage = context.within(project.root().to_owned());
    for (place, scene) in SCENES.iter().enumerate() {
        stage.tell(|page| {
            page.paint(Paint::Bold, &format!("\n{}. {}\n", place + 1, scene.telling));
        })?;
        for command in scene.commands {
            stage.tell(|page| page.paint(Paint::Good, &format!("\n$ querent {}\n", typed(command))))?;
            play(command, &stage)?;
        }
    }
    end(&stage, context, project.root())
}

fn end(stage: &Context, context: &Context, directory: &Path) -> Result<u8, Failure> {
    let hub = stage.reader()?;
    let items: Vec<ItemView> = hub.items()?.iter().map(ItemView::of).collect();
    let found = hub.questions(None, &Filter { to: None, status: StatusFilter::All })?;
    let questions = found.iter().map(|question| QuestionView { question, with_thread: true }).collect();
    context.reply(&Reply { dir: directory, items, questions }, |page| {
        page.paint(Paint::Bold, "\nThat was all real, and every word of it is kept. Try next:\n");
        page.line(format!("  cd {}", directory.display()));
        page.line("  querent questions --status all     what was asked");
        page.line("  querent events                     what happened, one JSON object a line");
        page.line("  querent ask --from engineer --to human --topic … --question … --wait 10m");
        page.line("and in your own repository:");
        page.line("  querent init");
    })
}

/// A directory of the user's choice. Nothing that is there is ever touched.
fn fresh(directory: &Path) -> Result<PathBuf, Refusal> {
    let shown = directory.display();
    let hint = "name a directory that is empty or not there yet, or leave --dir out";
    let taken =
        |what: &str| Refusal::new(Code::Conflict, format!("`{shown}` {what}; the demo does not touch it"), hint);
    if directory.join(".querent").exists() {
        return Err(taken("is a Querent project"));
    }
    match directory.read_dir().map(|mut entries| entries.next().is_some()) {
        Ok(true) => return Err(taken("is not empty")),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Err(taken("is not a directory")),
        _ => {}
    }
    std::fs::create_dir_all(directory).map_err(|error| unusable(directory, &error))?;
    std::path::absolute(directory).map_err(|error| unusable(directory, &error))
}

/// A temporary directory that was not there before.
fn temporary() -> Result<PathBuf, Refusal> {
    let place = |attempt| std::env::temp_dir().join(format!("querent-demo-{}-{attempt}", std::process::id()));
    for directory in (1..100).map(place) {
        match std::fs::create_dir(&directory) {
            Ok(()) => return Ok(directory),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unusable(&directory, &error)),
        }
    }
    Err(Refusal::new(Code::StorageError, "the temporary directory is full of demos", "delete old querent-demo-* there"))
}

fn unusable(directory: &Path, error: &io::Error) -> Refusal {
    let message = format!("`{}` cannot be made: {error}", directory.display());
    Refusal::new(Code::StorageError, message, "name another place: querent demo --dir DIR")
}

/// A command as one would type it.
fn typed(command: &[&str]) -> String {
    let quoted = command.iter().map(|word| {
        let plain = word.chars().all(|c| c.is_alphanumeric() || "-_=.:".contains(c));
        if plain { (*word).to_owned() } else { format!("\"{word}\"") }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
