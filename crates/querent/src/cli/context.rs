//! What every command works with: the project, the hub, and the way to reply.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use querent_core::{
    Action, Code, Command, Envelope, ItemId, Party, ProjectPath, Refusal, SharedAction, SharedCommand, Span, Via,
};
use querent_hub::{Handle, Project};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::Failure;
use super::input::{Operation, environment};
use super::output::{self, Page, Paper};

/// The exit status of a command that did what was wanted.
pub(crate) const DONE: u8 = 0;

/// The reply of a list of items. A list is an object, so that fields can be added.
#[derive(Serialize)]
pub(crate) struct Items<'a, T> {
    pub(crate) items: &'a [T],
}

/// A command that comes from the command line.
pub(crate) fn command(item: ItemId, by: Party, action: Action) -> Command {
    Command { item, by, via: Via::Cli, action }
}

/// One that is about what all items share.
pub(crate) fn shared_command(by: Party, action: SharedAction) -> SharedCommand {
    SharedCommand { by, via: Via::Cli, action }
}

/// How long a wait may be: longer ones are as good as for ever, and a clock must be able to count them.
pub(crate) fn patience(span: Span) -> Duration {
    const YEARS: Duration = Duration::from_hours(24 * 365 * 10);
    Duration::from_millis(span.as_millis()).min(YEARS)
}

/// Runs what waits, on a runtime that only such commands build.
pub(crate) fn wait<T>(future: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        let message = format!("this process cannot wait: {error}");
        Refusal::new(Code::StorageError, message, "free some file handles and try again")
    })?;
    runtime.block_on(future)
}

/// The item that is meant: the named one, else that of `QUERENT_ITEM`, else the only one that has not ended.
pub(crate) fn item_of(given: Option<&str>, hub: &Handle) -> Result<ItemId, Refusal> {
    if let Some(name) = given.map(str::to_owned).or_else(|| environment("QUERENT_ITEM")) {
        return name.parse();
    }
    hub.only_item()
}

/// What the global options say.
pub(crate) struct Context {
    /// Whether replies are envelopes.
    pub(crate) json: bool,
    /// Whether replies are kept back.
    quiet: bool,
    project: Option<PathBuf>,
    paper: Paper,
}

impl Context {
    /// The context of one call.
    pub(crate) fn new(json: bool, project: Option<PathBuf>) -> Self {
        let paper = if json { Paper::PLAIN } else { Paper::stdout() };
        Self { json, quiet: false, project, paper }
    }

    /// The same for calls in another project; they print pages for people, or nothing where an envelope is to come.
    pub(crate) fn within(&self, project: PathBuf) -> Self {
        Self { json: false, quiet: self.json, project: Some(project), paper: self.paper }
    }

    /// The same for a call whose reply is an envelope in any case.
    pub(crate) fn as_json(&self) -> Self {
        Self { json: true, quiet: self.quiet, project: self.project.clone(), paper: Paper::PLAIN }
    }

    /// Where the call is made: `--project`, or the working directory.
    pub(crate) fn directory(&self) -> Result<PathBuf, Refusal> {
        match &self.project {
            Some(directory) => Ok(directory.clone()),
            None => std::env::current_dir().map_err(|error| {
                let message = format!("the working directory cannot be read: {error}");
                Refusal::new(Code::StorageError, message, "change to a directory that exists, or give --project")
            }),
        }
    }

    /// The project of the call. One that is named must be there itself; else it is looked for upwards.
    pub(crate) fn project(&self) -> Result<Project, Refusal> {
        let directory = self.directory()?;
        if self.project.is_some() && !directory.join(".querent").is_dir() {
            let shown = directory.display();
            let message = format!("there is no Querent project in `{shown}`");
            return Err(Refusal::new(Code::NoProject, message, format!("make one: querent init --project {shown}")));
        }
        Project::find(&directory)
    }

    /// The files of the project that are meant, from where the call is made.
    pub(crate) fn paths(&self, given: &[String]) -> Result<BTreeSet<ProjectPath>, Refusal> {
        given.iter().map(|path| self.path(path)).collect()
    }

    /// The same for one.
    pub(crate) fn path(&self, given: &str) -> Result<ProjectPath, Refusal> {
        self.project()?.path(&std::env::current_dir().unwrap_or_default(), given)
    }

    /// The project's hub. `holder` is whom a lock error names.
    pub(crate) fn hub(&self, holder: &Party) -> Result<Handle, Refusal> {
        Handle::open(&self.project()?, &holder.to_string())
    }

    /// The hub for a call that only reads.
    pub(crate) fn reader(&self) -> Result<Handle, Refusal> {
        self.hub(&Party::HUMAN)
    }

    /// Sends a command to the hub and shows its reply.
    pub(crate) fn execute<T: DeserializeOwned>(
        &self,
        hub: &Handle,
        command: &Command,
        operation: &Operation,
        show: impl FnOnce(&mut Page, T),
    ) -> Result<u8, Failure> {
        self.answer(&hub.execute(command, operation.id()?), show)
    }

    /// Shows what the hub replied.
    pub(crate) fn answer<T: DeserializeOwned>(
        &self,
        envelope: &Envelope,
        show: impl FnOnce(&mut Page, T),
    ) -> Result<u8, Failure> {
        let reply = envelope.read::<T>().map_err(|refusal| Failure::Answered(envelope.clone(), refusal))?;
        self.print(envelope, |page| show(page, reply))
    }

    /// Shows a reply that the command line itself put together.
    pub(crate) fn reply(&self, data: &impl Serialize, show: impl FnOnce(&mut Page)) -> Result<u8, Failure> {
        if self.json { output::print_data(data).map(|()| DONE) } else { self.tell(show) }
    }

    /// Shows a page to a person.
    pub(crate) fn tell(&self, show: impl FnOnce(&mut Page)) -> Result<u8, Failure> {
        if !self.quiet {
            let mut page = Page::new(self.paper);
            show(&mut page);
            output::print_page(page)?;
        }
        Ok(DONE)
    }

    fn print(&self, envelope: &Envelope, show: impl FnOnce(&mut Page)) -> Result<u8, Failure> {
        if self.json { output::print_envelope(envelope).map(|()| DONE) } else { self.tell(show) }
    }
}
