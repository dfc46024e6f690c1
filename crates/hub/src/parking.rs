//! Sessions that wait outside of any process: who may be resumed, by whom, and what programs have not been told.

use std::sync::Arc;

use querent_core::view::ParkedView;
use querent_core::{
    Action, AgentName, Assumption, AssumptionStatus, Claim, Code, Command, Item, ItemId, Moment, News, Parked, Party,
    Process, ProgramHandle, Question, QuestionId, Refusal, Span, Via,
};
use querent_journal::Which;

use crate::handle::Handle;
use crate::processes;

/// How long a claim is believed whose process cannot be seen from here.
const LEASE: Span = Span::minutes(24 * 60);

/// A parked session that this process resumes.
#[derive(Clone, Debug)]
pub struct Resumption {
    /// The question that it was parked on, settled.
    pub question: Question,
    /// How it is resumed.
    pub parked: Parked,
    by: Party,
    claim: Option<Claim>,
}

/// What a program has not been told yet.
#[derive(Clone, Debug)]
pub struct Untold {
    /// The item as it is now.
    pub item: Item,
    /// The questions that were settled, oldest first.
    pub settled: Vec<Question>,
    /// The assumptions that were overturned.
    pub overturned: Vec<Assumption>,
    /// Whether the program was never told anything.
    pub newcomer: bool,
}

impl Handle {
    /// The parked sessions of all items, after what is due. Costs what is open and what is parked.
    pub fn parked(&self) -> Result<Vec<ParkedView>, Refusal> {
        let (items, _) = self.current(Which::Active)?;
        let of =
            |item: &Item| item.parked.keys().filter_map(|number| ParkedView::of(item, *number)).collect::<Vec<_>>();
        Ok(items.iter().flat_map(of).collect())
    }

    /// Claims a parked session for this process. One whose claim is void is taken over.
    pub fn claim(&self, id: &QuestionId, by: &Party) -> Result<Resumption, Refusal> {
        let known = self.item(&id.item)?.parked.get(&id.number).and_then(|parked| parked.claim.clone());
        let over = known.filter(|claim| is_void(claim, self.now()));
        let process = processes::process(std::process::id()).ok();
        self.claim_as(id, by, process, over)
    }

    fn claim_as(
        &self,
        id: &QuestionId,
        by: &Party,
        process: Option<Process>,
        over: Option<Claim>,
    ) -> Result<Resumption, Refusal> {
        let action = Action::Claim { question: id.clone(), process, over };
        let command = Command { item: id.item.clone(), by: by.clone(), via: Via::Cli, action };
        self.execute(&command, None).read::<serde_json::Value>()?;
        let (question, item) = self.question_and_item(id)?;
        let parked = item.parked.get(&id.number).cloned().ok_or_else(|| {
            let message = format!("the session on {id} is not parked any more");
            Refusal::new(Code::Conflict, message, "see who waits: querent state")
        })?;
        let claim = parked.claim.clone();
        Ok(Resumption { question: Arc::unwrap_or_clone(question), parked, by: by.clone(), claim })
    }

    /// Hands a claim on to the process that was started, so that it holds while that process runs.
    pub fn hand_on(&self, resumption: &mut Resumption, pid: u32) -> Result<(), Refusal> {
        if let Ok(process) = processes::process(pid) {
            let (id, over) = (&resumption.question.id, resumption.claim.clone());
            resumption.claim = self.claim_as(id, &resumption.by, Some(process), over)?.claim;
        }
        Ok(())
    }

    /// The program has ended. Says whether the session is still parked, for another try.
    pub fn end_resume(&self, resumption: &Resumption, exit_code: Option<i32>) -> Result<bool, Refusal> {
        let id = &resumption.question.id;
        let process = resumption.claim.as_ref().and_then(|claim| claim.process.clone());
        let action = Action::EndResume { question: id.clone(), process, exit_code };
        let command = Command { item: id.item.clone(), by: resumption.by.clone(), via: Via::Cli, action };
        match self.execute(&command, None).read::<serde_json::Value>() {
            // Somebody else ended it meanwhile, or it was parked anew: that is as it is.
            Ok(_) => {}
            Err(refusal) if matches!(refusal.code, Code::InvalidTransition | Code::Conflict) => {}
            Err(refusal) => return Err(refusal),
        }
        Ok(self.item(&id.item)?.parked.contains_key(&id.number))
    }

    /// What a program has not been told yet of an item. A newcomer is told what an agent is told that goes on with it.
    pub fn untold(&self, item: &ItemId, agent: &AgentName, handle: &ProgramHandle) -> Result<Untold, Refusal> {
        let (item, _, mut last) = self.context(item, agent)?;
        let is_overturned = |it: &&Assumption| it.status == AssumptionStatus::Overturned;
        let Some(news) = item.board.untold(handle) else {
            last.reverse();
            let overturned = item.assumptions.values().filter(is_overturned).cloned().collect();
            return Ok(Untold { item, settled: last, overturned, newcomer: true });
        };
        let (mut settled, mut overturned) = (Vec::new(), Vec::new());
        for it in news {
            match it {
                News::Question(number) => settled.extend(self.question(&item.question_id(number)).ok()),
                News::Assumption(number) => overturned.extend(item.assumptions.get(&number).cloned()),
            }
        }
        settled.retain(|question| !question.status.is_open());
        overturned.retain(|it| is_overturned(&it));
        Ok(Untold { item, settled, overturned, newcomer: false })
    }
}

/// Whether nobody is behind a claim any more.
fn is_void(claim: &Claim, now: Moment) -> bool {
    let runs = claim.process.as_ref().and_then(processes::runs);
    runs.map_or_else(|| now.since(claim.at) > LEASE, |runs| !runs)
}
