//! Waiting: an event ends it, not a look every now and then.
//!
//! Time is tokio's, paused. While a blocking task runs it stands still, so whatever ends a wait then was no timer.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use querent_core::{ComponentName, Envelope, Moment, Provenance, Record, Span, Status};
use querent_hub::{Awaited, Clock, Handle, SystemClock};
use querent_journal::{Beat, Error, Journal, Memory, Pulse, Snapshot, Update, Wake, Watch};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use crate::support::{Scene, accepted, answers, asked, ends, id, moves, opens, ten, to_human, with_fallback};

/// How long a lost event is waited for before time runs on and the test fails.
const LOST: Duration = Duration::from_mins(1);

/// Does something in another process while `waiting` waits, with time standing still until it has ended.
async fn while_time_stands_still<T>(waiting: impl Future<Output = T>, work: impl FnOnce() + Send + 'static) -> T {
    let ((go, gone), (end, ended)) = (mpsc::channel::<()>(), mpsc::channel::<()>());
    let other = spawn_blocking(move || {
        gone.recv().unwrap();
        work();
        let _ = ended.recv_timeout(LOST);
    });
    let began = Instant::now();
    let mut waiting = pin!(waiting);
    tokio::select! {
        biased;
        _ = &mut waiting => panic!("there is nothing to wait for"),
        () = async {} => go.send(()).unwrap(),
    }
    let outcome = waiting.await;
    assert_eq!(Instant::now(), began, "a timer ended the wait");
    drop(end);
    other.await.unwrap();
    outcome
}

#[track_caller]
fn settled(awaited: Awaited) -> querent_core::reply::AnswerReply {
    match awaited {
        Awaited::Settled(reply) => *reply,
        Awaited::TimedOut { .. } => panic!("{awaited:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_another_process_ends_the_wait_at_once() {
    let scene = Scene::in_files();
    scene.item("42");
    let id = scene.asks("42", to_human());
    let (other, answer) = (scene.another_process(), answers(&id, "REST"));

    let waiting = scene.hub.await_answer(&id, None);
    let reply = settled(while_time_stands_still(waiting, move || drop(accepted(&other, &answer))).await.unwrap());

    assert_eq!((reply.status, reply.resumed), (Status::Resolved, true));
    assert_eq!(reply.answer.unwrap().value, "REST");
    assert_eq!(reply.item_stage.unwrap().as_str(), "implement");
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_the_same_process_ends_the_wait_at_once() {
    for scene in [Scene::in_files(), Scene::on(|_| Box::new(Memory::new()))] {
        scene.item("42");
        let id = scene.asks("42", to_human());
        let (clone, answer) = (scene.hub.clone(), answers(&id, "REST"));

        let waiting = scene.hub.await_answer(&id, None);
        let reply = settled(while_time_stands_still(waiting, move || drop(accepted(&clone, &answer))).await.unwrap());

        assert_eq!(reply.status, Status::Resolved);
    }
}

/// A system has few watches of its own to give: far fewer than there may be agents that wait.
#[tokio::test(start_paused = true)]
async fn as_many_as_there_are_may_wait_in_one_process() {
    let scene = Scene::in_files();
    scene.item("42");
    let id = scene.asks("42", to_human());
    let (other, answer) = (scene.another_process(), answers(&id, "REST"));

    let mut all = tokio::task::JoinSet::new();
    for _ in 0..1_000 {
        let (hub, id) = (scene.hub.clone(), id.clone());
        all.spawn(async move { hub.await_answer(&id, None).await });
    }
    let waiting = all.join_all();
    let replies = while_time_stands_still(waiting, move || drop(accepted(&other, &answer))).await;

    assert_eq!(replies.len(), 1_000);
    assert!(replies.into_iter().all(|reply| settled(reply.unwrap()).status == Status::Resolved));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_taken_back_ends_the_wait_without_an_answer() {
    let scene = Scene::in_files();
    scene.item("42");
    let id = scene.asks("42", to_human());
    let other = scene.another_process();

    let waiting = scene.hub.await_answer(&id, None);
    let reply = settled(while_time_stands_still(waiting, move || drop(accepted(&other, &ends("42")))).await.unwrap());

    assert_eq!((reply.status, reply.answer, reply.resumed), (Status::Withdrawn, None, false));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_settled_already_is_not_waited_for() {
    let scene = Scene::in_files();
    scene.item("42");
    let id = scene.asks("42", to_human());
    accepted(&scene.hub, &answers(&id, "REST"));
    let began = Instant::now();

    let reply = settled(scene.hub.await_answer(&id, None).await.unwrap());

    assert_eq!((reply.status, Instant::now()), (Status::Resolved, began));
}

/// The time of tokio, so that a wait and the deadlines that it fires run on one clock.
struct TokioClock(Instant);

impl Clock for TokioClock {
    fn now(&self) -> Moment {
        ten().plus(Span::millis(u64::try_from(self.0.elapsed().as_millis()).unwrap()))
    }
}

/// A hub whose engine never says that something changed: the safety net must do.
struct Deaf(Memory);

impl Journal for Deaf {
    fn update(&self, update: Update) -> Result<Envelope, Error> {
        self.0.update(update)
    }

    fn read(&self) -> Result<Box<dyn Snapshot + '_>, Error> {
        self.0.read()
    }

    fn records(&self, since: u64, each: &mut dyn FnMut(Arc<Record>) -> bool) -> Result<(), Error> {
        self.0.records(since, each)
    }

    fn sync(&self) -> Result<(), Error> {
        self.0.sync()
    }

    fn beat(&self, beat: &Beat) -> Result<(), Error> {
        self.0.beat(beat)
    }

    fn beats(&self, pulse: Pulse) -> Result<Vec<Beat>, Error> {
        self.0.beats(pulse)
    }

    fn still(&self, pulse: Pulse, name: &ComponentName) -> Result<(), Error> {
        self.0.still(pulse, name)
    }

    fn watch(&self, _: Wake) -> Result<Watch, Error> {
        Ok(Watch::held_by(()))
    }
}

/// A hub on tokio's time, with an item and one question.
fn on_tokio_time(
    scene: &Scene,
    journal: Box<dyn Journal>,
    ask: querent_core::Ask,
) -> (Handle, querent_core::QuestionId) {
    let hub = Handle::with_clock(journal, &scene.project, Arc::new(TokioClock(Instant::now())));
    accepted(&hub, &opens("42"));
    accepted(&hub, &moves("42", "implement"));
    let id = asked(&hub, "42", ask);
    (hub, id)
}

#[tokio::test(start_paused = true)]
async fn a_deadline_fires_on_time_while_somebody_waits() {
    let scene = Scene::in_files();
    let (hub, id) = on_tokio_time(&scene, Box::new(Memory::new()), with_fallback());
    let began = Instant::now();

    let reply = settled(hub.await_answer(&id, None).await.unwrap());

    assert_eq!(reply.status, Status::Expired);
    assert_eq!(reply.answer.unwrap().provenance, Provenance::Fallback);
    assert_eq!((reply.resumed, reply.item_stage.unwrap().as_str()), (true, "implement"));
    assert_eq!(began.elapsed().as_secs(), 15 * 60);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_its_time_is_over() {
    let scene = Scene::in_files();
    let (hub, id) = on_tokio_time(&scene, Box::new(Memory::new()), to_human());
    let began = Instant::now();

    let awaited = hub.await_answer(&id, Some(Duration::from_secs(90))).await.unwrap();

    assert_eq!(awaited, Awaited::TimedOut { question_id: id, status: Status::Open });
    assert_eq!(began.elapsed().as_secs(), 90);
}

#[tokio::test(start_paused = true)]
async fn a_lost_event_is_made_good_by_the_safety_net() {
    let scene = Scene::in_files();
    let (hub, id) = on_tokio_time(&scene, Box::new(Deaf(Memory::new())), to_human());
    let answer = answers(&id, "REST");
    let answering = async {
        tokio::time::sleep(Duration::from_secs(100)).await;
        accepted(&hub, &answer);
    };

    let (awaited, ()) = tokio::join!(hub.await_answer(&id, Some(Duration::from_secs(200))), answering);

    assert_eq!(settled(awaited.unwrap()).status, Status::Resolved);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_question_that_does_not_exist_is_refused() {
    let scene = Scene::in_files();
    scene.item("42");

    let code = |refusal: querent_core::Refusal| refusal.code.as_str();

    let none = scene.hub.await_answer(&id("CLR-42-001"), None).await.map_err(code);
    assert_eq!(none, Err("question_not_found"));
    let none = scene.hub.await_answer(&id("CLR-43-001"), None).await.map_err(code);
    assert_eq!(none, Err("item_not_found"));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_sees_what_was_and_what_comes_in_order() {
    let scene = Scene::in_files();
    let other = scene.another_process();
    for item in ["a", "b", "c"] {
        accepted(&other, &opens(item));
    }

    let mut records = scene.hub.subscribe(1).unwrap();

    for (seq, item) in [(2, "b"), (3, "c")] {
        let record = records.next().await.unwrap();
        assert_eq!((record.seq, record.stream.as_str()), (seq, item));
    }
    let mut seen = Vec::new();
    let new = async {
        while seen.len() < 300 {
            seen.push(records.next().await.unwrap().seq);
        }
    };
    while_time_stands_still(new, move || {
        for number in 0..300 {
            accepted(&other, &opens(&format!("item-{number}")));
        }
    })
    .await;
    assert_eq!(seen, (4..=303).collect::<Vec<_>>());
}

#[test]
fn a_handle_goes_wherever_it_is_needed() {
    fn everywhere<T: Send + Sync + Clone + 'static>() {}
    fn sent<T: Send>(_: T) {}
    everywhere::<Handle>();
    let scene = Scene::on(|_| Box::new(Memory::new()));
    sent(scene.hub.await_answer(&id("CLR-42-001"), None));
    assert!(SystemClock.now() > ten());
}
