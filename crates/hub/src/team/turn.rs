//! One turn of an agent: it is claimed, invoked, heard, and its end is recorded.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use querent_agents::{Failure, FailureKind, Order, Purpose as OrderPurpose, Run, TurnResult};
use querent_core::event::TurnOutcome;
use querent_core::{
    Action, AgentName, Briefing, Claim, Context, Item, ItemId, News, Process, Purpose, Question, Refusal, SessionId,
    Span, Stage, TurnDeed,
};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::crew::{Crew, off, stopped};
use super::ear::{Ear, Halt};
use super::gate;
use crate::processes;

/// A turn that is to be taken.
pub(super) struct Turn {
    pub(super) item: ItemId,
    pub(super) agent: AgentName,
    pub(super) session: SessionId,
    pub(super) purpose: Purpose,
    /// A claim of somebody who is gone, and the program that they may have left running.
    pub(super) over: Option<Claim>,
    pub(super) orphan: Option<Process>,
}

/// How a turn ended.
struct End {
    outcome: TurnOutcome,
    said: Option<String>,
    artifacts: Vec<String>,
}

impl End {
    fn new(outcome: TurnOutcome, said: impl Into<Option<String>>) -> Self {
        Self { outcome, said: said.into(), artifacts: Vec::new() }
    }

    fn failed(failure: &Failure) -> Self {
        Self::new(TurnOutcome::Failed, failure.message.clone())
    }
}

/// What a look at the item says of a turn under way.
enum Look {
    /// It goes on; its time does not run while a human is waited for.
    GoesOn { waits_for_human: bool },
    /// It is to end.
    Ends(End),
}

impl Turn {
    pub(super) async fn drive(self, crew: &Arc<Crew>, stop: watch::Receiver<bool>) -> Result<(), Refusal> {
        if let Some(program) = &self.orphan {
            processes::kill_group(program);
        }
        // What happened before it begins is what it is told.
        let before = crew.item(&self.item).await?;
        let begin =
            TurnDeed::Begin { purpose: self.purpose.clone(), process: crew.process.clone(), over: self.over.clone() };
        if !crew.deed(&self.item, self.action(begin)).await? {
            return Ok(());
        }
        let item = crew.item(&self.item).await?;
        let Some((turns, claim)) = item.team.turns.get(&self.session).and_then(|it| Some((it, it.claim.clone()?)))
        else {
            return Ok(());
        };
        let mut ear = Ear {
            crew: Arc::clone(crew),
            item: self.item.clone(),
            agent: self.agent.clone(),
            session: self.session.clone(),
            claim: claim.clone(),
            turn: (turns.number, turns.attempt),
            handle: turns.handle.clone(),
            result: None,
            usage: None,
            heard: (0, 0),
        };
        let mut watch = Watch::new();
        let end = self.work(crew, &before, &mut ear, &mut watch, stop).await;
        let End { outcome, said, artifacts } = match end {
            Ok(end) => end,
            // The agent did nothing wrong; whoever is next begins it again.
            Err(refusal) => End::new(TurnOutcome::Stopped, refusal.message),
        };
        let (worked, tokens) = (watch.worked(), ear.tokens());
        crew.surely(&self.item, self.action(TurnDeed::End { claim, outcome, said, artifacts, worked, tokens })).await?;
        Ok(())
    }

    fn action(&self, deed: TurnDeed) -> Action {
        Action::Turn { session: self.session.clone(), deed: Box::new(deed) }
    }

    async fn work(
        &self,
        crew: &Arc<Crew>,
        before: &Item,
        ear: &mut Ear,
        watch: &mut Watch,
        mut stop: watch::Receiver<bool>,
    ) -> Result<End, Refusal> {
        let (config, provider) = match crew.provider(&self.agent) {
            Ok(found) => found,
            Err(failure) => return Ok(End::failed(&failure)),
        };
        let directory = match self.directory(crew).await {
            Ok(directory) => directory,
            Err(refusal) => return Ok(End::new(TurnOutcome::Failed, refusal.message)),
        };
        let order = self.order(crew, before, ear, directory.clone()).await?;
        let run = match &ear.handle {
            Some(handle) => provider.resume(order, handle),
            None => provider.start(order),
        };
        let mut run = match run {
            Ok(run) => run,
            Err(failure) => return Ok(End::failed(&failure)),
        };
        if let Some(program) = run.process().and_then(|pid| processes::process(pid).ok()) {
            let deed = TurnDeed::Note { claim: ear.claim.clone(), program: Some(program), handle: None };
            if !crew.deed(&self.item, self.action(deed)).await? {
                return Ok(End::new(TurnOutcome::Stopped, None));
            }
        }
        run.go();
        watch.begin();
        let limit = Duration::from_millis(config.timeout.as_millis());
        let early = self.listen(crew, &mut run, ear, watch, limit, stop.clone()).await;
        if !matches!(early, Ok(None)) {
            run.cancel();
        }
        let ended = run.end().await;
        watch.pause();
        if let Some(end) = early? {
            return Ok(end);
        }
        tokio::select! {
            end = self.conclude(crew, ear, ended, directory) => end,
            // Gates may take long; they are run again in the next turn.
            () = stopped(&mut stop) => Ok(End::new(TurnOutcome::Stopped, None)),
        }
    }

    /// Hears the agent until it is silent; says how the turn ends if that is before.
    async fn listen(
        &self,
        crew: &Arc<Crew>,
        run: &mut Run,
        ear: &mut Ear,
        watch: &mut Watch,
        limit: Duration,
        mut stop: watch::Receiver<bool>,
    ) -> Result<Option<End>, Refusal> {
        let mut follower = crew.hub.follow_item(&self.item)?;
        let mut is_new = true;
        loop {
            if follower.is_broken() {
                follower = crew.hub.follow_item(&self.item)?;
                is_new = true;
            }
            let changed = follower.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if std::mem::take(&mut is_new) {
                match self.look(crew).await? {
                    Look::GoesOn { waits_for_human: true } => watch.pause(),
                    Look::GoesOn { waits_for_human: false } => watch.begin(),
                    Look::Ends(end) => return Ok(Some(end)),
                }
            }
            tokio::select! {
                biased;
                signal = run.next() => match signal {
                    None => return Ok(None),
                    Some(signal) => match ear.hear(signal).await? {
                        None => {}
                        Some(Halt::Asked) => return Ok(Some(End::new(TurnOutcome::Asked, None))),
                        Some(Halt::Refused(why)) => return Ok(Some(End::new(TurnOutcome::Rejected, why))),
                    },
                },
                () = stopped(&mut stop) => return Ok(Some(End::new(TurnOutcome::Stopped, None))),
                () = watch.out(limit) => {
                    let message = format!("it was not done within {}s", limit.as_secs());
                    return Ok(Some(End::new(TurnOutcome::Failed, message)));
                }
                () = &mut changed => is_new = true,
            }
        }
    }

    async fn look(&self, crew: &Arc<Crew>) -> Result<Look, Refusal> {
        let item = crew.item(&self.item).await?;
        if item.sessions.get(&self.session).is_some_and(|it| it.lost) {
            return Ok(Look::Ends(End::new(TurnOutcome::Failed, "it did not get on and was given up".to_owned())));
        }
        let stands = match (&self.purpose, &item.stage) {
            (_, stage) if stage.is_terminal() => false,
            (Purpose::Step(step), Stage::Step(_) | Stage::AwaitingInput) => item.step() == Some(step),
            (Purpose::Step(_), _) => false,
            (Purpose::Happening(number), _) => item.team.happenings.contains_key(number),
        };
        if !stands {
            return Ok(Look::Ends(End::new(TurnOutcome::Stopped, format!("the item is {} now", item.stage))));
        }
        Ok(Look::GoesOn { waits_for_human: item.stage == Stage::AwaitingInput })
    }

    /// The agent is silent: what it made is kept, and judged by the gates of its step.
    async fn conclude(
        &self,
        crew: &Arc<Crew>,
        ear: &mut Ear,
        ended: Result<(), Failure>,
        directory: PathBuf,
    ) -> Result<End, Refusal> {
        if let Err(failure) = ended {
            let stopped = failure.kind == FailureKind::Cancelled;
            let outcome = if stopped { TurnOutcome::Stopped } else { TurnOutcome::Failed };
            return Ok(End::new(outcome, failure.message));
        }
        let (said, artifacts) = match ear.result.take() {
            Some(TurnResult::Failed { summary }) => return Ok(End::new(TurnOutcome::Failed, summary)),
            Some(TurnResult::Done { summary, artifacts }) => (Some(summary), artifacts),
            Some(TurnResult::Text(text)) => (Some(text), Vec::new()),
            Some(TurnResult::Answer { answer, .. }) => (Some(answer.to_string()), Vec::new()),
            None => (None, Vec::new()),
        };
        let item = crew.item(&self.item).await?;
        if item.stage == Stage::AwaitingInput || item.team_question(&self.session).is_some() {
            return Ok(End::new(TurnOutcome::Asked, said));
        }
        let said = said.filter(|said| !said.trim().is_empty());
        if let Err(why) = self.accept(crew, &item, ear.turn.0, said.as_deref(), directory).await? {
            return Ok(End::new(TurnOutcome::Rejected, why));
        }
        Ok(End { outcome: TurnOutcome::Done, said, artifacts })
    }

    /// Commits what was made; the gates say whether it will do.
    async fn accept(
        &self,
        crew: &Arc<Crew>,
        item: &Item,
        number: u32,
        said: Option<&str>,
        directory: PathBuf,
    ) -> Result<Result<(), String>, Refusal> {
        let Purpose::Step(step) = &self.purpose else { return Ok(Ok(())) };
        let rules = crew.hub.rules()?;
        let gates = rules.workflow(&item.workflow)?.step(step).map(|it| it.gates.clone()).unwrap_or_default();
        let limit = Duration::from_millis(rules.config.run.gate_timeout.as_millis());
        if let Err(why) = gate::pass(&gates, &directory, limit).await {
            return Ok(Err(why));
        }
        if let Some(trees) = crew.trees.clone() {
            let summary = said.and_then(|said| said.lines().next()).unwrap_or("done");
            let (id, mark) = (item.id.clone(), format!("{}:{number}", self.session));
            let message = format!("{id}: {step}\n\n{summary}");
            return Ok(off(move || trees.commit(&id, &message, &mark)).await.map(drop).map_err(|it| it.message));
        }
        Ok(Ok(()))
    }

    async fn directory(&self, crew: &Arc<Crew>) -> Result<PathBuf, Refusal> {
        match crew.trees.clone() {
            Some(trees) => {
                let id = self.item.clone();
                off(move || trees.ensure(&id)).await
            }
            None => Ok(crew.root.clone()),
        }
    }

    async fn order(&self, crew: &Arc<Crew>, before: &Item, ear: &Ear, directory: PathBuf) -> Result<Order, Refusal> {
        let (id, agent) = (self.item.clone(), self.agent.clone());
        let told = before.team.turns.get(&self.session).map_or(0, |it| it.told);
        let news: Vec<News> = before.board.news.after(told).map(|(_, it)| *it).collect();
        let (item, open, answered, settled, knowledge) = crew
            .off(move |hub| {
                let (item, open, answered) = hub.context(&id, &agent)?;
                let mut settled: Vec<Question> = Vec::new();
                for it in news {
                    if let News::Question(number) = it {
                        settled.push(hub.question(&item.question_id(number))?);
                    }
                }
                Ok((item, open, answered, settled, hub.knowledge()?))
            })
            .await?;
        let mcp = crew.mcp(&self.agent, &self.item);
        let rules = crew.hub.rules()?;
        let context = Context::new(&item, &self.agent, &open, &answered, &knowledge);
        let briefing = Briefing {
            rules: &rules,
            item: before,
            agent: &self.agent,
            session: &self.session,
            purpose: &self.purpose,
            context: &context,
            settled: &settled,
            goes_on: ear.handle.is_some(),
            has_tools: mcp.is_some(),
        };
        let purpose = match &self.purpose {
            Purpose::Step(step) => OrderPurpose::Step(step.clone()),
            Purpose::Happening(number) => {
                let event = before.team.happenings.get(number).map(|it| it.event.to_string());
                OrderPurpose::Event(event.unwrap_or_default())
            }
        };
        Ok(Order {
            agent: self.agent.clone(),
            item: self.item.clone(),
            session: self.session.clone(),
            purpose,
            turn: ear.turn.0,
            prompt: briefing.text(),
            directory,
            mcp,
            env: Crew::environment(&self.agent, &self.item),
        })
    }
}

/// How long an agent works. It stands still while a human is waited for.
struct Watch {
    before: Duration,
    since: Option<Instant>,
}

impl Watch {
    fn new() -> Self {
        Self { before: Duration::ZERO, since: None }
    }

    fn begin(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    fn pause(&mut self) {
        self.before += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }

    fn worked(&mut self) -> Span {
        self.pause();
        Span::millis(u64::try_from(self.before.as_millis()).unwrap_or(u64::MAX))
    }

    /// Waits until the agent worked for so long.
    async fn out(&self, limit: Duration) {
        match self.since {
            Some(since) => sleep_until(since + limit.saturating_sub(self.before)).await,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[tokio::test(start_paused = true)]
    async fn the_time_that_a_human_takes_is_not_the_agents() {
        let mut watch = Watch::new();
        advance(MINUTE).await;
        watch.begin();
        advance(MINUTE).await;
        watch.pause();
        advance(60 * MINUTE).await;
        watch.begin();
        // To begin what goes on, or to pause what stands, changes nothing.
        watch.begin();
        advance(MINUTE).await;
        watch.pause();
        watch.pause();

        assert_eq!(watch.worked(), Span::minutes(2));
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_out_when_the_agent_worked_so_long_however_often_it_paused() {
        let mut watch = Watch::new();
        watch.begin();
        advance(MINUTE).await;
        watch.pause();
        advance(60 * MINUTE).await;
        watch.begin();
        let again = Instant::now();

        watch.out(3 * MINUTE).await;

        assert_eq!(again.elapsed(), 2 * MINUTE);
        assert_eq!(watch.worked(), Span::minutes(3));
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_never_out_while_it_stands_still() {
        let mut watch = Watch::new();
        watch.begin();
        watch.pause();

        let out = tokio::time::timeout(600 * MINUTE, watch.out(MINUTE)).await;

        assert!(out.is_err());
    }
}
