//! What must hold before and after every event.

use std::collections::BTreeSet;

use querent_core::event::TurnOutcome;
use querent_core::{
    Command, Event, Item, OpenQuestion, Party, Purpose, Question, Record, Rules, Stage, State, Status, Via, Work,
    decide, evolve, fold, outstanding, view, work,
};

use crate::teams;
use crate::world::World;

/// All of it, for one step of a life that recorded `records` between `before` and now.
pub(crate) fn of_step(before: &State, world: &World, records: &[Record]) {
    let mut state = before.clone();
    for record in records {
        holds_of_event(&state, record, &world.rules);
        let earlier = state.clone();
        evolve(&mut state, record);
        threads_only_grow(&earlier, &state);
        final_states_stay_final(&earlier, &state);
    }
    assert_eq!(state, world.state, "evolve makes what apply made");
    assert_eq!(fold(&world.records), world.state, "the state is the fold of all records");
    holds_of_state(&state);
    turns_end_once(&world.records);
    the_team_is_in_order(world);
    notifications_are_one_each(&state, &world.rules);
    views_do_not_fail(&state, &world.rules);
}

fn holds_of_event(state: &State, record: &Record, rules: &Rules) {
    assert_eq!(record.version, state.version(&record.stream) + 1, "versions are dense");
    let Some(item) = &state.item else { return };
    match &record.event {
        Event::SessionStarted(_) => {
            // An agent that listens is invoked for what happened, and not for the step.
            let listens = record.by == Party::Querent && item.stage == Stage::Blocked;
            let runs = matches!(item.stage, Stage::Step(_) | Stage::ReadyToMerge);
            assert!(runs || listens, "no work starts in {}", item.stage);
        }
        Event::QuestionAsked(asked) => {
            assert_eq!(asked.question.id.number, item.asked + 1, "ids are dense and unique");
            assert!(!item.has_ended(), "nothing is asked on an ended item");
        }
        Event::ItemPaused(paused) => {
            let expected = item.resume_stage.as_ref().unwrap_or(&item.stage);
            assert_eq!(paused.resume_stage, *expected, "a pause records where the item stood");
        }
        Event::ItemResumed(resumed) => {
            let recorded = item.resume_stage.as_ref().unwrap();
            assert_eq!(resumed.to, place(recorded, item, rules), "it resumes where it must");
        }
        Event::ItemMoved(moved) => assert_eq!(moved.from, item.stage),
        _ => holds_of_team(state, item, record),
    }
}

fn holds_of_team(state: &State, item: &Item, record: &Record) {
    match &record.event {
        Event::TurnBegun(begun) => {
            assert!(!item.has_ended() && item.stage != Stage::AwaitingInput, "no turn begins in {}", item.stage);
            let known = item.team.turns.get(&begun.session);
            let last = known.map_or((0, false), |it| (it.number, it.claim.is_some() && it.purpose == begun.purpose));
            let (number, attempt) = match last {
                (number, true) => (number, known.map_or(0, |it| it.attempt) + 1),
                (number, false) => (number + 1, 1),
            };
            assert_eq!((begun.number, begun.attempt), (number, attempt), "turns are numbered");
            match &begun.purpose {
                Purpose::Step(step) => assert_eq!(item.stage.as_str(), step, "it begins where the item stands"),
                Purpose::Happening(number) => assert!(item.team.happenings[number].pending.contains(&begun.agent)),
            }
        }
        Event::TurnEnded(ended) => {
            let turns = &item.team.turns[&ended.session];
            assert_eq!((turns.number, turns.claim.is_some()), (ended.number, true), "what ends is under way");
        }
        Event::AgentCalled(called) => {
            let question = &state.questions[&called.question];
            assert!(
                question.status.is_open() && question.to.agent() == Some(&called.agent),
                "{} is asked",
                called.agent
            );
        }
        Event::MessageSent(sent) => assert_eq!((sent.number, item.has_ended()), (item.team.sent + 1, false)),
        Event::EventEmitted(emitted) => {
            assert_eq!((emitted.number, item.has_ended()), (item.team.emitted + 1, false));
            assert!(emitted.hops <= 8, "{} follows from too many", emitted.event);
        }
        _ => {}
    }
}

/// A turn ends once, and the step that it was for is left by it only if that is done.
fn turns_end_once(records: &[Record]) {
    let mut ended = BTreeSet::new();
    for record in records {
        let Event::TurnEnded(it) = &record.event else { continue };
        assert!(ended.insert((&it.session, it.number)), "turn {} of {} ends twice", it.number, it.session);
        let with_it = records.iter().filter(|other| other.operation_id == record.operation_id);
        let moved: Vec<&Stage> = with_it.filter_map(|other| moved_to(&other.event)).collect();
        assert!(moved.len() <= 1, "an item is moved once");
        let is_done = it.outcome == TurnOutcome::Done;
        assert!(moved.iter().all(|to| is_done != (**to == Stage::Blocked)), "{} led to {moved:?}", it.outcome);
    }
}

fn moved_to(event: &Event) -> Option<&Stage> {
    match event {
        Event::ItemMoved(moved) => Some(&moved.to),
        _ => None,
    }
}

/// What is to be done can be begun, an item has one turn at a time, and what is pending is pending for somebody.
fn the_team_is_in_order(world: &World) {
    let (state, item) = (&world.state, world.item());
    let claimed = item.team.turns.values().filter(|it| it.claim.is_some()).count();
    assert!(claimed <= 1, "an item has one turn at a time");
    assert!(item.team.messages.len() <= 32);
    assert!(item.team.happenings.values().all(|it| !it.pending.is_empty()));
    for question in state.questions.values() {
        let is_asked = question.status.is_open() && question.to.agent().is_some();
        assert!(question.call.as_ref().is_none_or(|call| is_asked && call.round == question.round), "{}", question.id);
    }
    if let Work::Turn { .. } = work(item, &world.rules) {
        assert!(!item.has_ended() && item.stage != Stage::AwaitingInput, "nothing is to be done in {}", item.stage);
        let action = teams::begin(item, &world.rules, 1, false).unwrap();
        let command = Command { item: item.id.clone(), by: Party::Querent, via: Via::Team, action };
        decide(state, &command, &world.rules, world.now).unwrap();
    }
}

/// Runs the team until nothing is to be done any more. Its turns end like this, again and again.
pub(crate) fn comes_to_rest(mut world: World, outcomes: &[TurnOutcome]) {
    let listeners: usize = world.item().team.happenings.values().map(|it| it.pending.len()).sum();
    // Steps and events may fail a few times each; steps are few, and their ends are events too.
    let most = 8 * (listeners + 8);
    for outcome in outcomes.iter().cycle().take(most) {
        let Some(begin) = teams::begin(world.item(), &world.rules, 1, true) else { return };
        world.run_team(begin);
        // A deadline that passed comes first: then the item may wait for a human.
        if let Some(end) = teams::end(world.item(), *outcome, 1, false) {
            world.run_team(end);
        }
    }
    assert_eq!(teams::begin(world.item(), &world.rules, 1, true), None, "{most} turns, and no end");
}

/// The recorded stage, or the first step if the workflow lost it.
fn place(recorded: &Stage, item: &Item, rules: &Rules) -> Stage {
    let workflow = &rules.workflows[&item.workflow];
    match recorded {
        Stage::Step(step) if workflow.step(step).is_none() => Stage::Step(workflow.steps[0].name.clone()),
        stage => stage.clone(),
    }
}

fn threads_only_grow(earlier: &State, later: &State) {
    for (id, question) in &earlier.questions {
        let grown = &later.questions[id];
        assert!(grown.thread.starts_with(&question.thread), "the thread of {id} was rewritten");
    }
    for question in later.questions.values() {
        assert!(question.thread.iter().zip(1..).all(|(entry, seq)| entry.seq == seq), "entries are numbered");
        assert!(question.thread.is_sorted_by_key(|entry| (entry.round, entry.at)), "rounds and times only grow");
    }
}

/// What two sessions hold does not overlap, unless the one lock had expired when the other was granted; nobody holds or waits
/// who is not at work.
fn locks_belong_to_those_at_work(state: &State, item: &Item) {
    let locks = &state.resources.locks;
    for (path, lock) in locks {
        assert!(!item.sessions[&lock.session].finished, "{} is over and holds {path}", lock.session);
        for (other, held) in locks.iter().filter(|(_, held)| held.session != lock.session) {
            let in_turn = held.expires_at <= lock.since || lock.expires_at <= held.since;
            assert!(in_turn || !other.overlaps(path), "{path} and {other} have two holders");
        }
    }
    for session in state.resources.waits.keys() {
        assert!(!item.sessions[session].finished, "{session} is over and waits");
    }
}

/// Nobody is parked on a question that nobody asked, a program waits for one open question at most, and only what was
/// settled when it was claimed is resumed.
fn parked_sessions_have_their_question(state: &State, item: &Item) {
    let mut waiting = BTreeSet::new();
    for (number, parked) in &item.parked {
        let question = &state.questions[&item.question_id(*number)];
        assert_eq!((&question.from.session, &question.from.agent), (&parked.session, &parked.agent));
        assert!(question.blocking, "{} blocks", question.id);
        let reopened = question.round > 1 || question.status == Status::Escalated;
        assert!(parked.claim.is_none() || !question.status.is_open() || reopened, "{} is open", question.id);
        let waits = question.status.is_open() && !reopened;
        assert!(!waits || waiting.insert(&parked.handle), "{} waits for one", parked.handle);
    }
    assert!(item.parked.is_empty() || item.is_active());
}

/// A notification is one thing however often it is attempted, and somebody sends it only while it is queued. What was said
/// is owed to nobody.
fn notifications_are_one_each(state: &State, rules: &Rules) {
    let owed: BTreeSet<String> = outstanding(state, rules).into_iter().map(|effect| effect.id).collect();
    for question in state.questions.values() {
        let effects: BTreeSet<String> = question.deliveries.iter().map(|it| it.effect(&question.id)).collect();
        assert_eq!(effects.len(), question.deliveries.len(), "{} has a notification twice", question.id);
        for delivery in &question.deliveries {
            let effect = delivery.effect(&question.id);
            assert!(delivery.claim.is_none() || !delivery.is_over(), "{effect} is over, and somebody sends it");
            assert!(!delivery.is_over() || !owed.contains(&effect), "{effect} is over, and owed");
        }
    }
}

fn final_states_stay_final(earlier: &State, later: &State) {
    for (id, question) in earlier.questions.iter().filter(|(_, question)| question.status.is_final()) {
        assert_eq!(later.questions[id].status, question.status, "{id} was final");
    }
    let ended = earlier.item.as_ref().filter(|item| item.has_ended());
    if let Some(item) = ended {
        assert_eq!(later.item.as_ref().unwrap().stage, item.stage, "the item had ended");
    }
}

fn holds_of_state(state: &State) {
    let item = state.item.as_ref().unwrap();
    locks_belong_to_those_at_work(state, item);
    parked_sessions_have_their_question(state, item);
    questions_are_numbered(item, state);
    let holding: Vec<&Question> = open(state).filter(|question| question.blocking && question.to.is_human()).collect();
    let asked = holding.iter().filter(|question| question.status == Status::Open).count();
    assert!(asked <= 1, "{asked} blocking questions to a human were asked");

    let awaits = item.stage == Stage::AwaitingInput;
    let held = !holding.is_empty() && item.stage != Stage::Blocked;
    assert_eq!(awaits, held, "stage {} with {} questions to a human", item.stage, holding.len());
    assert_eq!(awaits, item.awaiting_since.is_some());
    assert_eq!(item.resume_stage.is_some(), awaits || item.blocked_by.is_some(), "stage {}", item.stage);
    assert!(item.blocked_by.is_none() || item.stage == Stage::Blocked);
    if item.has_ended() {
        assert_eq!(open(state).count(), 0, "an ended item has nothing open");
    }
}

/// What the item knows of its questions is what they say themselves.
fn questions_are_numbered(item: &Item, state: &State) {
    let numbers: Vec<u32> = state.questions.keys().map(|id| id.number).collect();
    assert_eq!(numbers, (1..=item.asked).collect::<Vec<_>>(), "ids are dense and unique");
    let known: Vec<(u32, OpenQuestion)> = item.open.clone().into_iter().collect();
    let of = |it: &Question| {
        let own = item.open.get(&it.id.number).map(|it| (it.pattern, it.strict, it.about_session));
        let (pattern, strict, about_session) = own.unwrap_or((None, false, false));
        OpenQuestion { pattern, strict, about_session, ..OpenQuestion::of(it) }
    };
    let said: Vec<(u32, OpenQuestion)> = open(state).map(|it| (it.id.number, of(it))).collect();
    assert_eq!(known, said, "the item's summaries are right");
    let strict = item.open.iter().filter(|(_, it)| it.strict).map(|(number, _)| item.question_id(*number));
    assert_eq!(strict.collect::<Vec<_>>(), state.quota.active.iter().cloned().collect::<Vec<_>>(), "the quota is one");
    let answered = state.questions.values().filter(|question| question.status == Status::Answered);
    assert_eq!(item.answered, answered.map(|question| question.id.number).collect::<BTreeSet<_>>());
}

fn open(state: &State) -> impl Iterator<Item = &Question> {
    state.questions.values().filter(|question| question.status.is_open())
}

fn views_do_not_fail(state: &State, rules: &Rules) {
    let item = state.item.as_ref().unwrap();
    let ready = view::ready(item, rules);
    if item.stage == Stage::AwaitingInput {
        assert!(ready.unwrap().blocked, "what waits for a human is not ready");
    }
    let sessions = view::sessions(item);
    let names: BTreeSet<_> = sessions.iter().map(|session| &session.session).collect();
    assert_eq!(names.len(), sessions.len(), "a session is shown once");
    for question in state.questions.values() {
        assert!(!view::thread(question, |at| at.to_string()).is_empty());
    }
}
