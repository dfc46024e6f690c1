//! `querent ask`: instead of guessing.

use std::collections::BTreeMap;

use querent_core::reply::AskReply;
use querent_core::{Action, Ask, Blocker, Category, Choice, Fallback, Kind, Refusal, Risk, Span};
use querent_hub::Handle;
use serde_json::{Value, json};

use crate::cli::context::{self, Context, command, item_of, wait};
use crate::cli::conversation;
use crate::cli::error::Failure;
use crate::cli::input::{self, Operation, caller, one_of, pair};
use crate::cli::pages;

/// Ask an agent or a human
///
/// A question must stand alone: whoever answers has not seen the asker's work. Say what is to be decided (`--topic`), what
/// is asked (`--question`), what one must know (`--context`), and offer options where there are some. What would make the
/// question easier to answer comes back as `advice`; it never refuses anything.
///
/// A blocking question to an agent blocks the asking session; a blocking question to a human pauses the item, which later
/// goes on where it stood. Who may be asked is a matter of the asker's step in the workflow. A fallback is applied only if
/// the asker declares one, and is announced before.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent ask --item 42 --from engineer --to architect \\
      --topic \"Token lifetime\" --question \"How long does a token live?\"
  querent ask --item 42 --from engineer --to human \\
      --topic \"Session store\" --question \"Where do sessions live?\" \\
      --context \"They must survive a restart; there are 2000 a day\" \\
      --option redis=Redis --option sql=\"The SQL database\" --recommend redis \\
      --fallback redis --because \"it is there already\" --expires-in 30m
  QUERENT_ITEM=42 QUERENT_AGENT=engineer querent ask \\
      --topic \"Wording\" --question \"Is 'Sign in' right?\" \\
      --expect boolean --no-blocking --json
  querent ask --item 42 --from engineer \\
      --topic \"Limits\" --question \"Which limits?\" \\
      --expect json:@limits.schema.json --wait 10m")]
pub(crate) struct Args {
    /// The item; without it, that of `QUERENT_ITEM`, else the only item that has not ended
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// The agent that asks; without it, that of `QUERENT_AGENT`
    #[arg(long, value_name = "AGENT")]
    from: Option<String>,
    /// Who is asked: an agent or `human`; without it, the first that the asker's step allows
    #[arg(long, value_name = "WHO")]
    to: Option<String>,
    /// The subject, in 1 to 200 characters
    #[arg(long, value_name = "TEXT")]
    topic: String,
    /// The question itself, in 1 to 2000 characters
    #[arg(long, value_name = "TEXT")]
    question: String,
    /// What the reader must know to answer, in up to 2000 characters
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,
    /// Why it is asked; only `blocking`, the default, blocks by itself
    #[arg(long, value_parser = one_of(Kind::ALL, Kind::as_str))]
    kind: Option<Kind>,
    /// What sort of decision is wanted; all but `clarification`, the default, go to a human
    #[arg(long, value_parser = one_of(Category::ALL, Category::as_str))]
    category: Option<Category>,
    /// What stands in the way without an answer
    #[arg(long, value_parser = one_of(Blocker::ALL, Blocker::as_str))]
    blocker: Option<Blocker>,
    /// The asker waits for the answer
    #[arg(long, conflicts_with = "no_blocking")]
    blocking: bool,
    /// The asker goes on working
    #[arg(long)]
    no_blocking: bool,
    #[command(flatten)]
    answers: Answers,
    #[command(flatten)]
    fallback: FallbackArgs,
    /// What was tried before asking; repeat it for several
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    evidence: Vec<(String, String)>,
    /// The matter is complex: a strict ask then needs `investigation=…` among its evidence
    #[arg(long)]
    complex: bool,
    /// A word to find the question by; repeat it for several
    #[arg(long, value_name = "WORD")]
    tag: Vec<String>,
    /// More for programs: a JSON object of up to 16 KiB, or `@FILE` with one
    #[arg(long, value_name = "JSON")]
    details: Option<String>,
    /// The last round of the thread; never above the step's
    #[arg(long, value_name = "N")]
    max_rounds: Option<u32>,
    /// When the question ends without an answer, like 30s, 15m, 2h or 7d
    #[arg(long, value_name = "DURATION")]
    expires_in: Option<Span>,
    /// The asker's session; without it, `<agent>@<item>`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Wait so long for the answer; a wait that runs out is no failure, `answer` is then null
    #[arg(long, value_name = "DURATION")]
    wait: Option<Span>,
    #[command(flatten)]
    operation: Operation,
}

/// What may be answered.
#[derive(clap::Args)]
struct Answers {
    /// An option with its id and its label; repeat it for several
    #[arg(long = "option", value_name = "ID=LABEL", value_parser = pair, conflicts_with = "options")]
    option: Vec<(String, String)>,
    /// The options in full, as a JSON array of `{id, label, description?, recommended?, implications?}`, or `@FILE` with one
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    /// The id of the option that the asker would take
    #[arg(long, value_name = "ID")]
    recommend: Option<String>,
    /// What an answer must look like: `text`, `single_choice`, `multi_choice`, `boolean`, `number` or `json:@SCHEMA_FILE`
    ///
    /// Without it: `single_choice` if there are options, else `text`.
    #[arg(long, value_name = "FORM")]
    expect: Option<String>,
    /// An answer may leave the options
    #[arg(long)]
    allow_free_text: bool,
}

/// What is done if nobody answers.
#[derive(clap::Args)]
struct FallbackArgs {
    /// The answer that is taken if nobody answers in time: an option's id, or a value of the expected form
    #[arg(long, value_name = "ANSWER", requires = "because", allow_negative_numbers = true)]
    fallback: Option<String>,
    /// Why the fallback is safe
    #[arg(long, value_name = "TEXT", requires = "fallback")]
    because: Option<String>,
    /// How bad it is if the fallback is wrong; medium where it is not said
    #[arg(long, value_name = "RISK", requires = "fallback", value_parser = one_of(Risk::ALL, Risk::as_str))]
    fallback_risk: Option<Risk>,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let by = caller("--from", args.from.as_deref())?;
    let (item, patience) = (args.item.clone(), args.wait);
    let (ask, operation) = read(args)?;
    let hub = context.hub(&by)?;
    let item = item_of(item.as_deref(), &hub)?;
    let wish = command(item, by, Action::Ask(Box::new(ask)));
    let Some(patience) = patience else {
        return context.execute(&hub, &wish, &operation, |page, reply: AskReply| pages::asked(page, &reply));
    };
    let operation = operation.id()?;
    let reply = wait(async {
        // Begun before it is asked, so that the whole conversation is told.
        let news = hub.follow(None)?;
        let envelope = hub.execute(&wish, operation);
        let asked: AskReply = match envelope.read() {
            Ok(asked) => asked,
            Err(refusal) => return Ok(Err(Failure::Answered(envelope, refusal))),
        };
        let patience = context::patience(patience);
        conversation::until_answered(&hub, &asked.question_id, patience, news, context).await?;
        Ok(Ok(now(&hub, asked)?))
    })??;
    context.reply(&reply, |page| pages::asked(page, &reply))
}

/// The question as it is when it is settled, or when the wait has run out.
fn now(hub: &Handle, asked: AskReply) -> Result<AskReply, Refusal> {
    let (question, item) = hub.question_and_item(&asked.question_id)?;
    Ok(AskReply { reused: asked.reused, ..AskReply::of(Some(&item), &question, asked.advice) })
}

/// The question that was typed. Everything that can be wrong with it by itself is found here, before anything is opened.
fn read(args: Args) -> Result<(Ask, Operation), Refusal> {
    let evidence: BTreeMap<String, String> = args.evidence.into_iter().collect();
    let fallback = args.fallback.fallback.map(|answer| Fallback {
        answer: Value::String(answer),
        reason: args.fallback.because.unwrap_or_default(),
        risk: args.fallback.fallback_risk.unwrap_or_default(),
    });
    let ask = Ask {
        session: args.session.as_deref().map(str::parse).transpose()?,
        to: args.to.as_deref().map(str::parse).transpose()?,
        kind: args.kind,
        category: args.category,
        blocker: args.blocker,
        topic: args.topic,
        prompt: args.question,
        context: args.context,
        details: args.details.map(|given| input::object("--details", "details", &given)).transpose()?,
        expected: args.answers.expect.as_deref().map(input::expected).transpose()?,
        allow_free_text: args.answers.allow_free_text,
        options: args.answers.options()?,
        blocking: (args.blocking || args.no_blocking).then_some(args.blocking),
        fallback,
        evidence: (!evidence.is_empty()).then_some(evidence),
        complex: args.complex,
        tags: args.tag,
        max_rounds: args.max_rounds,
        expires_in: args.expires_in,
    };
    args.operation.id()?;
    Ok((ask, args.operation))
}

impl Answers {
    fn options(self) -> Result<Vec<Choice>, Refusal> {
        let plain = |(id, label)| Choice { id, label, description: None, recommended: false, implications: None };
        let mut options: Vec<Choice> = match &self.options {
            Some(given) => input::shaped(
                "--options",
                "options",
                given,
                "give an array of {id, label, description?, recommended?, implications?}",
            )?,
            None => self.option.into_iter().map(plain).collect(),
        };
        if let Some(wanted) = self.recommend {
            let ids: Vec<String> = options.iter().map(|option| option.id.clone()).collect();
            let Some(option) = options.iter_mut().find(|option| option.id == wanted) else {
                let hint = format!("recommend one of the options: {}", ids.join(", "));
                return Err(Refusal::invalid("recommend", format!("there is no option `{wanted}` to recommend"), hint)
                    .with(json!({ "field": "recommend", "known": ids })));
            };
            option.recommended = true;
        }
        Ok(options)
    }
}
