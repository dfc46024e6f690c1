//! `querent assume`: a decision that nobody was asked about is put on record.

use querent_core::reply::AssumptionReply;
use querent_core::{Action, Assume, Blocker, Confidence, Risk, RiskIfWrong, Source};

use crate::cli::context::{Context, command, item_of};
use crate::cli::error::Failure;
use crate::cli::input::{Operation, caller, one_of};
use crate::cli::output::Paint;

/// Record a decision that was taken without asking
///
/// An agent that decides instead of asking says so here: what it decided, why, how sure it is and what it costs if it is
/// wrong. People find it in `querent assumptions` and confirm or overturn it. Fallbacks that are taken are recorded by
/// themselves.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent assume --item 42 --agent engineer --confidence high --risk low \\
    --decision \"Tokens live for an hour\" --reasoning \"so do all in src/auth.rs\"
  querent assume --item 42 --agent engineer --confidence medium --risk low \\
    --blocker missing_external_data --risk-note \"one variable to change\" \\
    --decision \"Stripe in test mode\" --reasoning \"no keys in the repository\"")]
pub(crate) struct Args {
    /// The item; without it, that of `QUERENT_ITEM`, else the only item that has not ended
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// The agent that decided; without it, that of `QUERENT_AGENT`
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// What was decided, 1 to 500 characters
    #[arg(long, value_name = "TEXT")]
    decision: String,
    /// Why it is likely to be right, 1 to 2000 characters
    #[arg(long, value_name = "TEXT")]
    reasoning: String,
    /// How sure the agent is
    #[arg(long, value_name = "HOW", value_parser = one_of(Confidence::ALL, Confidence::as_str))]
    confidence: Confidence,
    /// How bad it is if it is wrong
    #[arg(long, value_name = "HOW", value_parser = one_of(Risk::ALL, Risk::as_str))]
    risk: Risk,
    /// What would have to be done then
    #[arg(long, value_name = "TEXT")]
    risk_note: Option<String>,
    /// Where it comes from
    ///
    /// One of `inferred_from_codebase`, `user_confirmed`, `timeout_assumed`, `learned`, `agent_answer` and `autonomy`.
    #[arg(long, default_value = "inferred_from_codebase", hide_possible_values = true)]
    #[arg(value_parser = one_of(Source::ALL, Source::as_str))]
    source: Source,
    /// What stood in the way of knowing
    ///
    /// One of `none`, `mutually_exclusive_requirements`, `missing_external_data` and `security_decision`.
    #[arg(long, default_value = "none", hide_possible_values = true)]
    #[arg(value_parser = one_of(Blocker::ALL, Blocker::as_str))]
    blocker: Blocker,
    /// The question that it answers
    #[arg(long, value_name = "ID")]
    question: Option<String>,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let by = caller("--agent", args.agent.as_deref())?;
    let hub = context.hub(&by)?;
    let item = item_of(args.item.as_deref(), &hub)?;
    let assume = Assume {
        decision: args.decision,
        reasoning: args.reasoning,
        confidence: args.confidence,
        risk_if_wrong: RiskIfWrong { level: args.risk, note: args.risk_note },
        source: args.source,
        blocker: Some(args.blocker),
        question: args.question.as_deref().map(str::parse).transpose()?,
    };
    let wish = command(item, by, Action::Assume(Box::new(assume)));
    context.execute(&hub, &wish, &args.operation, |page, AssumptionReply { assumption }| {
        page.paint(Paint::Bold, &assumption.id.to_string());
        page.line(format!(
            " is on record (risk {}, confidence {}).",
            assumption.risk_if_wrong.level, assumption.confidence
        ));
        page.next(format!(
            "people judge it with `querent assumptions review {} --confirm` or `--overturn`",
            assumption.id
        ));
    })
}
