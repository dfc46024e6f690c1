//! `querent item add`: a new item.

use querent_core::reply::ItemReply;
use querent_core::{Action, Autonomy, Party};

use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::{Operation, one_of};
use crate::cli::output::Paint;

/// Add an item; it stands in its workflow's first step
///
/// The id is yours to choose: the number, a short name. It is part of the ids of the item's questions,
/// `CLR-<item>-<NNN>`. An id that exists already is refused (conflict).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent item add 42 --title \"Sign in by e-mail\"
  querent item add login-page --title \"The page jumps\" --workflow bug --json")]
pub(crate) struct Args {
    /// The item's id: 1 to 64 of a-z, 0-9 and `-`
    id: String,
    /// What it is about, in 1 to 200 characters
    #[arg(long)]
    title: String,
    /// The workflow that it follows; without it, the project's own
    #[arg(long, value_name = "NAME")]
    workflow: Option<String>,
    /// How readily its agents ask; without it, as the project says
    #[arg(long, value_name = "HOW", value_parser = one_of(Autonomy::ALL, Autonomy::as_str))]
    autonomy: Option<Autonomy>,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let action = Action::OpenItem { title: args.title, workflow: args.workflow, autonomy: args.autonomy };
    let wish = command(args.id.parse()?, Party::HUMAN, action);
    let hub = context.hub(&wish.by)?;
    context.execute(&hub, &wish, &args.operation, |page, ItemReply { item }| {
        page.paint(Paint::Bold, item.id.as_str());
        page.line(format!(" stands in {} of workflow {}.", item.stage, item.workflow));
        page.next(format!("an agent begins with `querent hook start --item {} --agent …`", item.id));
    })
}
