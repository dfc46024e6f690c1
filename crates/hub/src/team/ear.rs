//! What an agent says in its turn, carried out: questions, locks, patches, words for the record.

use std::collections::BTreeSet;
use std::sync::Arc;

use querent_agents::{Request, Signal, TurnResult, Usage};
use querent_core::event::{SaidKind, Tokens};
use querent_core::reply::AskReply;
use querent_core::{
    Action, AgentName, Ask, Claim, Code, Command, Envelope, ItemId, OperationId, Party, ProgramHandle, ProjectPath,
    Refusal, SessionId, Span, TurnDeed, Via,
};

use super::crew::{Crew, off};
use crate::locks::Wanted;
use crate::project::Project;

/// How many words for the record a turn may make; the rest is not kept.
const MOST_WORDS: u32 = 200;
/// For how long a turn's files are its own.
const LOCK: Span = Span::minutes(30);

/// Why a turn ends before its agent does.
pub(super) enum Halt {
    /// It asked, and is called again with the answer.
    Asked,
    /// What it wanted cannot be; it is told so in its next turn.
    Refused(String),
}

/// A turn, as far as its signals go.
pub(super) struct Ear {
    pub(super) crew: Arc<Crew>,
    pub(super) item: ItemId,
    pub(super) agent: AgentName,
    pub(super) session: SessionId,
    pub(super) claim: Claim,
    /// The turn's number, and how often it was begun.
    pub(super) turn: (u32, u32),
    /// What the program called its session when it was last heard.
    pub(super) handle: Option<ProgramHandle>,
    /// How the agent sees its end.
    pub(super) result: Option<TurnResult>,
    pub(super) usage: Option<Usage>,
    /// How many requests it made, and how many words.
    pub(super) heard: (u32, u32),
}

impl Ear {
    /// Carries out what is wanted. Says whether the turn ends with it.
    pub(super) async fn hear(&mut self, signal: Signal) -> Result<Option<Halt>, Refusal> {
        match signal {
            Signal::Handle(handle) => self.known_as(handle).await?,
            Signal::Request(request) => return self.wants(request).await,
            Signal::Note(text) => self.record(SaidKind::Note, text).await?,
            Signal::Plan(plan) => self.record(SaidKind::Plan, plan.to_string()).await?,
            Signal::Ignored(what) => self.record(SaidKind::Ignored, what).await?,
            Signal::Patch(patch) => return self.patch(patch).await,
            Signal::Result(result) => self.result = Some(result),
            Signal::Usage(usage) => self.usage = Some(usage),
        }
        Ok(None)
    }

    /// What the turn cost.
    pub(super) fn tokens(&self) -> Option<Tokens> {
        self.usage.map(|it| Tokens { input: it.input_tokens, output: it.output_tokens })
    }

    async fn known_as(&mut self, handle: ProgramHandle) -> Result<(), Refusal> {
        if self.handle.as_ref() != Some(&handle) {
            self.handle = Some(handle.clone());
            let deed = TurnDeed::Note { claim: self.claim.clone(), program: None, handle: Some(handle) };
            self.deed(deed).await?;
        }
        Ok(())
    }

    async fn record(&mut self, kind: SaidKind, text: String) -> Result<(), Refusal> {
        self.heard.1 += 1;
        if self.heard.1 <= MOST_WORDS && !text.trim().is_empty() {
            self.deed(TurnDeed::Say { claim: self.claim.clone(), kind, text }).await?;
        }
        Ok(())
    }

    async fn deed(&self, deed: TurnDeed) -> Result<bool, Refusal> {
        self.crew.deed(&self.item, Action::Turn { session: self.session.clone(), deed: Box::new(deed) }).await
    }

    async fn wants(&mut self, request: Request) -> Result<Option<Halt>, Refusal> {
        self.heard.0 += 1;
        match request {
            Request::Ask(ask) => self.ask(*ask).await,
            Request::FollowUp { question, prompt } => {
                let refused = self.act(Action::FollowUp { question: question.clone(), prompt }).await?;
                Ok(Some(match refused {
                    // Out of rounds: a human decides, and the turn waits for that.
                    None | Some(Refusal { code: Code::MaxRoundsExceeded, .. }) => Halt::Asked,
                    Some(refusal) => refused_because("follow-up", &refusal),
                }))
            }
            Request::Resolve { question, note } => self.said_no(Action::Resolve { question, note }).await,
            Request::Assume(assume) => self.said_no(Action::Assume(assume)).await,
            Request::Emit { event, data } => match event.parse() {
                Ok(event) => self.said_no(Action::Emit { event, data }).await,
                Err(refusal) => self.said_no_because(&refusal).await,
            },
            Request::Lock { paths } => self.lock(paths).await,
            Request::Unlock { paths } => self.unlock(paths).await,
        }
    }

    async fn ask(&mut self, ask: Ask) -> Result<Option<Halt>, Refusal> {
        let action = Action::Ask(Box::new(Ask { session: Some(self.session.clone()), ..ask }));
        match self.carry_out(action).await?.read::<AskReply>() {
            Ok(reply) => {
                let question = self.crew.question(&reply.question_id).await?;
                // One that is answered already ends the turn too: the answer is in the context of the next.
                Ok(question.blocking.then_some(Halt::Asked))
            }
            Err(refusal) => Ok(Some(refused_because("question", &refusal))),
        }
    }

    /// Something that is wanted beside the work: that it cannot be is put on record, and the turn goes on.
    async fn said_no(&mut self, action: Action) -> Result<Option<Halt>, Refusal> {
        match self.act(action).await? {
            Some(refusal) => self.said_no_because(&refusal).await,
            None => Ok(None),
        }
    }

    async fn said_no_because(&mut self, refusal: &Refusal) -> Result<Option<Halt>, Refusal> {
        self.record(SaidKind::Ignored, format!("{}: {}", refusal.code, refusal.message)).await?;
        Ok(None)
    }

    async fn act(&mut self, action: Action) -> Result<Option<Refusal>, Refusal> {
        Ok(self.carry_out(action).await?.read::<serde_json::Value>().err())
    }

    /// As the agent, once for each request of the turn: a turn that is begun again and says the same does nothing twice.
    async fn carry_out(&mut self, action: Action) -> Result<Envelope, Refusal> {
        let ((number, attempt), count) = (self.turn, self.heard.0);
        let first: OperationId = format!("turn:{}:{number}:{count}", self.session).parse()?;
        let other: OperationId = format!("turn:{}:{number}:{count}:{attempt}", self.session).parse()?;
        let by = Party::Agent(self.agent.clone());
        let command = Command { item: self.item.clone(), by, via: Via::Team, action };
        self.crew
            .off(move |hub| {
                let reply = hub.execute(&command, Some(first));
                match reply.read::<serde_json::Value>() {
                    // It says something else this time.
                    Err(refusal) if refusal.code == Code::OperationConflict => Ok(hub.execute(&command, Some(other))),
                    _ => Ok(reply),
                }
            })
            .await
    }

    async fn lock(&mut self, paths: Vec<String>) -> Result<Option<Halt>, Refusal> {
        let (session, root) = (self.session.clone(), self.crew.root.clone());
        let locked = self
            .crew
            .off(move |hub| {
                let paths: Result<BTreeSet<ProjectPath>, Refusal> =
                    Project::find(&root).and_then(|it| paths.iter().map(|path| it.path(&root, path)).collect());
                match paths {
                    Ok(paths) => hub.lock(&Wanted { session, paths, ttl: LOCK, via: Via::Team }, None),
                    Err(refusal) => Ok(Envelope::refused(&refusal)),
                }
            })
            .await?;
        Ok(locked.read::<serde_json::Value>().err().map(|refusal| refused_because("lock", &refusal)))
    }

    async fn unlock(&mut self, paths: Vec<String>) -> Result<Option<Halt>, Refusal> {
        let session = self.session.clone();
        let paths: BTreeSet<ProjectPath> = paths.iter().filter_map(|path| path.parse().ok()).collect();
        self.crew.off(move |hub| hub.unlock(&session, paths, Via::Team, None)).await?;
        Ok(None)
    }

    async fn patch(&mut self, patch: String) -> Result<Option<Halt>, Refusal> {
        self.heard.0 += 1;
        let Some(trees) = self.crew.trees.clone() else {
            let why = "patches are applied in git worktrees, and this project has none; change the files yourself";
            return Ok(Some(Halt::Refused(why.to_owned())));
        };
        let (item, id) = (self.item.clone(), format!("{}:{}:{}", self.session, self.turn.0, self.heard.0));
        let applied = off(move || Ok(trees.apply(&item, &patch, &id))).await?;
        Ok(applied.err().map(|refusal| refused_because("patch", &refusal)))
    }
}

fn refused_because(what: &str, refusal: &Refusal) -> Halt {
    Halt::Refused(format!("Your {what} was refused ({}): {}. {}.", refusal.code, refusal.message, refusal.hint))
}
