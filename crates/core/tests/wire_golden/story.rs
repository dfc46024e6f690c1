//! A life of an item in which everything happens once, told to the core and kept as the journal would.

use std::collections::BTreeMap;

use querent_core::event::{EffectOutcome, SaidKind, Tokens, TurnOutcome};
use querent_core::wire::Line;
use querent_core::{
    Action, AgentName, AgentReply, AlertId, Ask, Assume, AssumptionId, Batch, Blocker, CallDeed, Cause, Choice,
    Command, Confidence, Config, Errand, Fallback, Gate, Kind, LearnedId, Moment, Occasion, OnTimeout, Outcome, Park,
    Party, Process, Program, Purpose, QuestionId, Risk, RiskIfWrong, Role, Rules, SharedAction, SharedCommand, Source,
    Span, State, Ticket, TokenId, TurnDeed, Verdict, Via, act, apply, apply_shared, tick, try_act,
};
use serde_json::{Value, json};

use crate::project;

/// The first line of every type of event, in the order of the story.
pub(crate) fn one_of_each() -> Vec<Line> {
    let mut lines: BTreeMap<&str, Line> = BTreeMap::new();
    for line in tell() {
        lines.entry(line.record.event.type_name()).or_insert(line);
    }
    lines.into_values().collect()
}

pub(crate) fn tell() -> Vec<Line> {
    let mut story = Story::begin();
    story.tell(
        "human:zoë",
        Action::OpenItem { title: "Log in with a bank account — 銀行".into(), workflow: None, autonomy: None },
    );
    story.tell("human", Action::Advance { to: "implement".into() });
    story.tell("engineer", Action::StartSession { session: None, process: None });
    // The first question goes through all its rounds of life.
    story.tell("engineer", Action::Ask(Box::new(full_question())));
    story.wait(Span::minutes(30));
    story.tell("architect", Action::Answer { question: id(1), answer: json!("json web tokens"), note: None });
    story.tell("engineer", Action::FollowUp { question: id(1), prompt: "Which algorithm? «RS256»\nor another".into() });
    story.tell("engineer", Action::Escalate { question: id(1), summary: None, cause: Cause::Requested });
    story.wait(Span::minutes(8));
    story.wait(Span::minutes(7));
    story.tell("human:zoë", Action::Answer { question: id(1), answer: json!("cookie"), note: None });
    // The second is answered and resolved, the third taken back.
    story.tell("engineer", Action::Ask(Box::new(question("Which language?"))));
    story.tell("architect", Action::Answer { question: id(2), answer: json!("𠮷 only"), note: None });
    story.tell("engineer", Action::Resolve { question: id(2), note: Some("Rust it is".into()) });
    story.tell("engineer", Action::Ask(Box::new(question("Which dialect of it?"))));
    story.tell("engineer", Action::Withdraw { question: id(3), reason: None });
    // The second is asked again, and has its answer.
    story.tell("engineer", Action::Ask(Box::new(question("Which language?"))));
    // Two decisions are put on record; one of them turns out to be wrong.
    for (number, verdict) in [(2, Verdict::Confirm), (3, Verdict::Overturn)] {
        story.tell("engineer", Action::Assume(Box::new(assumption())));
        let assumption = AssumptionId { item: "42".parse().unwrap(), number };
        story.tell("human:zoë", Action::Review { assumption, verdict, note: Some("so — sei es".into()) });
    }
    learn(&mut story);
    ask_strictly(&mut story);
    hold_files(&mut story);
    lose_a_session(&mut story);
    park_a_session(&mut story);
    let_people_in(&mut story);
    notify_people(&mut story);
    run_a_team(&mut story);
    story.tell("engineer", Action::FinishSession { session: None, keep: false });
    story.tell("human", Action::EndItem { outcome: Outcome::Merged });
    story.lines
}

/// A preference is learned, used a day later, overruled, and taken back.
fn learn(story: &mut Story) {
    let preference =
        || Ask { kind: Some(Kind::Preference), to: Some(Party::HUMAN), ..question("Tabs — or spaces? ｢空白｣") };
    story.tell("engineer", Action::Ask(Box::new(preference())));
    story.tell("human:zoë", Action::Answer { question: id(4), answer: json!("spaces, 四つ"), note: None });
    story.wait(Span::minutes(25 * 60));
    story.tell("engineer", Action::Ask(Box::new(preference())));
    story.tell("human:zoë", Action::Answer { question: id(5), answer: json!("tabs"), note: None });
    let note = Some("so — sei es".into());
    story.share("human:zoë", SharedAction::Revoke { learned: LearnedId(1), note });
}

/// A strict question takes the quota, and its answer frees it.
fn ask_strictly(story: &mut Story) {
    story.tell("human", Action::Advance { to: "requirements".into() });
    let tried = ["codebase_search", "similar_features", "attempted_inference"];
    let strict = Ask {
        blocker: Some(Blocker::MissingExternalData),
        evidence: Some(tried.map(|name| (name.to_owned(), "nothing — 無".to_owned())).into()),
        prompt: "Which mode of payment?".into(),
        ..full_question()
    };
    story.tell("product-manager", Action::Ask(Box::new(strict)));
    story.tell("human:zoë", Action::Answer { question: id(6), answer: json!("cookie"), note: None });
    story.tell("human", Action::Advance { to: "implement".into() });
}

/// Files are owned, locked, waited for and given back; a lock that nobody renews expires.
fn hold_files(story: &mut Story) {
    let paths = |paths: &[&str]| paths.iter().map(|path| path.parse().unwrap()).collect();
    let lock = |session: &str, files: &[&str], wait| Action::Lock {
        session: session.parse().unwrap(),
        paths: paths(files),
        ttl: Span::minutes(30),
        wait,
    };
    story.share("human:zoë", SharedAction::Own { path: "docs/größe".parse().unwrap(), agent: Some(engineer()) });
    story.tell("engineer", Action::StartSession { session: Some("other".parse().unwrap()), process: None });
    story.tell("engineer", lock("engineer@42", &["src/auth.rs", "docs/größe/**/*.md"], false));
    story.tell("engineer", lock("other", &["src"], true));
    story.tell("engineer", Action::EndWait { session: "other".parse().unwrap() });
    story.tell("engineer", Action::Unlock { session: "engineer@42".parse().unwrap(), paths: paths(&["src/auth.rs"]) });
    story.wait(Span::minutes(31));
    story.tell("engineer", lock("other", &["docs"], false));
}

/// The monitor gives a session up and says so; somebody has seen it.
fn lose_a_session(story: &mut Story) {
    let since = story.state.item.as_ref().unwrap().sessions[&"other".parse().unwrap()].busy_since.unwrap();
    let (session, to) = ("other".parse().unwrap(), Some("engineer@42".parse().unwrap()));
    let action = Action::LoseSession { session, since, reason: "its process is gone".into(), to };
    let command = Command { item: "42".parse().unwrap(), by: Party::Querent, via: Via::Querent, action };
    let batches = act(&mut story.state, &command, &story.rules, story.now);
    story.keep(batches);
    story.share("human:zoë", SharedAction::Acknowledge { alert: AlertId(1) });
}

/// People are let in over the network, log in once, and are let in no more.
fn let_people_in(story: &mut Story) {
    let hash = |digit: &str| digit.repeat(64).parse().unwrap();
    let (name, expires_in) = (Some("zoë".to_owned()), Some(Span::minutes(60)));
    story.share("human:zoë", SharedAction::CreateToken { name, role: Role::Human, hash: hash("a"), expires_in });
    let role = Role::Agent(engineer());
    story.share("human:zoë", SharedAction::CreateToken { name: None, role, hash: hash("b"), expires_in: None });
    story.share("human:zoë", SharedAction::OfferLogin { token: TokenId(1), hash: hash("c") });
    story.share("human", SharedAction::UseLogin { hash: hash("c") });
    story.share("human:zoë", SharedAction::RevokeToken { token: TokenId(2) });
}

/// A session ends to wait for an answer, is resumed twice, and its program is told.
fn park_a_session(story: &mut Story) {
    let asked = || id(7);
    let park = Park {
        program: Program::Claude,
        handle: "be401e2e-6c9c".parse().unwrap(),
        directory: "/größe/店".into(),
        call: Some("toolu_01".into()),
    };
    let process = || Some(Process { pid: 4711, start: "12 in a boot".into(), host: "büro".into() });
    story.tell("engineer", Action::Ask(Box::new(Ask { to: Some(Party::HUMAN), ..question("Which colour?") })));
    story.tell("engineer", Action::Park { question: asked(), park: Box::new(park) });
    story.tell("human:zoë", Action::Answer { question: asked(), answer: json!("grün — 緑"), note: None });
    for (resumed, exit_code) in [(false, Some(1)), (true, Some(0))] {
        story.tell("human:zoë", Action::Claim { question: asked(), process: process(), over: None });
        if resumed {
            story.tell("engineer", Action::Wake { question: asked(), resumed });
        }
        story.tell("human:zoë", Action::EndResume { question: asked(), process: process(), exit_code });
    }
    let (handle, upto) = ("be401e2e-6c9c".parse().unwrap(), story.state.item.as_ref().unwrap().version);
    story.tell("engineer", Action::Tell { handle, upto, question: Some(asked()) });
}

/// People are notified of a question: one attempt fails, the last one too; a person wants another, and sees it.
fn notify_people(story: &mut Story) {
    let config = json!({ "project": { "name": "shop" }, "notify": [{ "channel": "webhook", "name": "pager", "severities": ["error"] }] });
    story.rules.config.notify = serde_json::from_value::<Config>(config).unwrap().notify;
    story.tell("engineer", Action::Ask(Box::new(Ask { to: Some(Party::HUMAN), ..question("Which font? 書体") })));
    let channel = || "pager".parse().unwrap();
    for (error, outcome) in [(Some("status 500 — さよなら"), EffectOutcome::Failed), (None, EffectOutcome::Delivered)]
    {
        let process = Some(Process { pid: 4711, start: "12 in a boot".into(), host: "büro".into() });
        let error = error.map(str::to_owned);
        let claim =
            Errand::Claim { channel: channel(), state: Occasion::Asked, process, over: None, error: error.clone() };
        story.errand(claim);
        let claim = story.state.questions[&id(8)].deliveries[0].claim.clone().unwrap();
        let receipt = Some("12".to_owned());
        story.errand(Errand::End { channel: channel(), state: Occasion::Asked, claim, outcome, error, receipt });
        if outcome == EffectOutcome::Failed {
            let errand = Errand::Requeue { channel: None };
            story.tell("human:zoë", Action::Errand { question: id(8), errand });
        }
    }
    let tell = SharedAction::Tell { alert: AlertId(2), channel: channel() };
    let command = SharedCommand { by: Party::Querent, via: Via::Querent, action: tell };
    let told = apply_shared(&mut story.state, &command, None, &story.rules, story.now);
    story.keep(told.batches);
    let errand = Errand::See { channel: channel(), round: 1 };
    story.tell("human:zoë", Action::Errand { question: id(8), errand });
    story.tell("human:zoë", Action::AnswerRound { question: id(8), round: 1, answer: json!("fett") });
}

/// The engineer is invoked and asks; the architect is called, fails, and then is not sure. People and agents say what happens.
fn run_a_team(story: &mut Story) {
    story.rules.config.agents = project::team().config.agents;
    story.rules.config.agents.get_mut(&"reviewer".parse().unwrap()).unwrap().on = vec!["spec.*".into()];
    let process = || Some(Process { pid: 4711, start: "12 in a boot".into(), host: "büro".into() });
    let turn = |deed| Action::Turn { session: "engineer@42".parse().unwrap(), deed: Box::new(deed) };
    let call = |deed| Action::Call { question: id(9), deed };
    let purpose = Purpose::Step("implement".into());
    story.act(turn(TurnDeed::Begin { purpose, process: process(), over: None }));
    let claim = story.state.item.as_ref().unwrap().team.driven().unwrap().2.clone();
    let handle = Some("be401e2e-6c9c".parse().unwrap());
    story.act(turn(TurnDeed::Note { claim: claim.clone(), program: process(), handle }));
    let text = "It begins with 文字".to_owned();
    story.act(turn(TurnDeed::Say { claim: claim.clone(), kind: SaidKind::Note, text }));
    story.tell("engineer", Action::Ask(Box::new(question("Which alphabet? 文字"))));
    story.act(turn(TurnDeed::End {
        claim,
        outcome: TurnOutcome::Done,
        said: Some("The parser — 構文 — is done".into()),
        artifacts: vec!["docs/größe.md".into()],
        worked: Span::millis(90_500),
        tokens: Some(Tokens { input: 1_200, output: 34 }),
    }));
    story.act(call(CallDeed::Begin { process: process(), over: None }));
    let claim = story.state.questions[&id(9)].call.as_ref().unwrap().claim.clone().unwrap();
    story.act(call(CallDeed::Fail { claim, error: "exit status 1: «nein»".into() }));
    let reply = AgentReply { answer: json!("not sure"), evidence: None, uncertainty: None, plain: false };
    story.tell("architect", Action::Reply { question: id(9), round: 1, reply: Box::new(reply) });
    let text = "Tabs, bitte — 空白".to_owned();
    story.tell("human:zoë", Action::Send { text, to: Some(engineer()) });
    let (event, data) = ("spec.approved".parse().unwrap(), json!({ "spec": "docs/größe.md", "ratio": 0.1 }));
    story.tell("human:zoë", Action::Emit { event, data });
}

fn engineer() -> AgentName {
    "engineer".parse().unwrap()
}

fn full_question() -> Ask {
    let option = |id: &str, label: &str, implications: Option<&str>| Choice {
        id: id.into(),
        label: label.into(),
        description: None,
        recommended: id == "jwt",
        implications: implications.map(Into::into),
    };
    let details: Value = json!({ "files": ["src/auth.rs"], "ratio": 0.1, "none": null, "größe": 12 });
    Ask {
        topic: "Authentication".into(),
        prompt: "Which one? 質問: \"JWT\" or a cookie\t𠮷 e\u{301}".into(),
        context: Some("The ADR says two things.".into()),
        details: details.as_object().cloned(),
        options: vec![
            option("jwt", "JSON Web Tokens", Some("keys must be rotated")),
            option("cookie", "Signed cookie", None),
        ],
        fallback: Some(Fallback { answer: json!("jwt"), reason: "it is stateless".into(), risk: Risk::Low }),
        evidence: Some([("searched".to_owned(), "docs/adr".to_owned())].into()),
        tags: vec!["auth".into()],
        ..Ask::default()
    }
}

fn assumption() -> Assume {
    Assume {
        decision: "Tokens live for an hour".into(),
        reasoning: "So does every other one here: src/auth.rs".into(),
        confidence: Confidence::Medium,
        risk_if_wrong: RiskIfWrong { level: Risk::Low, note: Some("one constant — 一つ".into()) },
        source: Source::InferredFromCodebase,
        blocker: Some(Blocker::MissingExternalData),
        question: Some(id(1)),
    }
}

fn question(prompt: &str) -> Ask {
    Ask { topic: "Language".into(), prompt: prompt.into(), ..Ask::default() }
}

fn id(number: u32) -> QuestionId {
    QuestionId { item: "42".parse().unwrap(), number }
}

struct Story {
    state: State,
    rules: Rules,
    now: Moment,
    lines: Vec<Line>,
}

impl Story {
    fn begin() -> Self {
        let mut rules = project::rules();
        rules.config.human_input.on_timeout = OnTimeout::Block;
        rules.config.agents.get_mut(&"product-manager".parse().unwrap()).unwrap().gate = Gate::Strict;
        let now = "2026-01-31T10:02:03.004Z".parse().unwrap();
        Self { state: State::default(), rules, now, lines: Vec::new() }
    }

    fn tell(&mut self, by: &str, action: Action) {
        let by: Party = by.parse().unwrap();
        let command = Command { item: "42".parse().unwrap(), by, via: Via::Cli, action };
        let ticket = Ticket::new(format!("op-{:04}", self.lines.len()).parse().unwrap(), &command);
        let applied = apply(&mut self.state, &command, &ticket, &self.rules, self.now);
        applied.reply.read::<Value>().unwrap();
        self.keep(applied.batches);
    }

    fn share(&mut self, by: &str, action: SharedAction) {
        let command = SharedCommand { by: by.parse().unwrap(), via: Via::Cli, action };
        let ticket = Ticket::shared(format!("op-{:04}", self.lines.len()).parse().unwrap(), &command);
        let applied = apply_shared(&mut self.state, &command, Some(&ticket), &self.rules, self.now);
        applied.reply.read::<Value>().unwrap();
        self.keep(applied.batches);
    }

    /// Something that only Querent does.
    fn errand(&mut self, errand: Errand) {
        self.act(Action::Errand { question: id(8), errand });
    }

    fn act(&mut self, action: Action) {
        let command = Command { item: "42".parse().unwrap(), by: Party::Querent, via: Via::Querent, action };
        let applied = try_act(&mut self.state, &command, &self.rules, self.now);
        applied.reply.read::<Value>().unwrap();
        self.keep(applied.batches);
    }

    fn wait(&mut self, span: Span) {
        self.now = self.now.plus(span);
        let batches = tick(&mut self.state, &self.rules, self.now);
        self.keep(batches);
    }

    fn keep(&mut self, batches: Vec<Batch>) {
        for batch in batches {
            let count = batch.records.len();
            for (place, mut record) in batch.records.into_iter().enumerate() {
                record.seq = self.lines.len() as u64 + 1;
                let more = u32::try_from(count - place - 1).unwrap();
                let operation = batch.operation.clone().filter(|_| more == 0);
                self.lines.push(Line { record, more, operation });
            }
        }
    }
}
