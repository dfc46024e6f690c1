//! `querent events`: the journal, one JSON object a line.

use querent_core::{Record, wire};

use crate::cli::context::{Context, DONE, wait};
use crate::cli::error::Failure;
use crate::cli::output::print_line;

/// Print the journal: one JSON object a line
///
/// A line has `seq, stream, version, at, by, operation_id, type, data`, with and without `--json`. `seq` is dense: a reader
/// that remembers the last one it saw misses nothing.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent events
  querent events --since 120
  querent events --follow | grep question_asked")]
pub(crate) struct Args {
    /// Go on with what happens from now on, in any process, until interrupted
    #[arg(long)]
    follow: bool,
    /// Begin after this sequence number
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    since: u64,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let hub = context.reader()?;
    if args.follow {
        let mut stopped = Ok(());
        wait(async {
            let mut records = hub.subscribe(args.since)?;
            while stopped.is_ok() {
                let record = records.next().await?;
                stopped = print_record(&record);
            }
            Ok(())
        })?;
        return stopped.map(|()| DONE);
    }
    let mut printed = Ok(());
    hub.records(args.since, &mut |record| {
        printed = print_record(&record);
        printed.is_ok()
    })?;
    printed.map(|()| DONE)
}

fn print_record(record: &Record) -> Result<(), Failure> {
    print_line(&wire::encode_record(record))
}
