//! Following the log: everybody sees everything once and in order, however slow, and deadlines need nobody who looks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use querent_core::{Moment, Span, Status};
use querent_hub::{Clock, Follower, Handle};
use querent_journal::Memory;
use tokio::time::Instant;

use crate::support::{Scene, accepted, asked, moves, opens, ten, with_fallback};

async fn seen(follower: &mut Follower, count: usize) -> Vec<u64> {
    let mut seqs = Vec::new();
    while seqs.len() < count {
        let news = follower.next().await.unwrap();
        assert!(news.line().contains(&format!("\"seq\":{}", news.record.seq)), "{}", news.line());
        seqs.push(news.record.seq);
    }
    seqs
}

#[tokio::test]
async fn whoever_begins_in_the_middle_gets_the_rest_once_and_in_order() {
    let scene = Scene::in_files();
    let other = scene.another_process();
    for number in 0..600 {
        accepted(&other, &opens(&format!("old-{number}")));
    }

    let (mut early, mut late) = (scene.hub.follow(Some(100)).unwrap(), scene.hub.follow(None).unwrap());
    for number in 0..50 {
        accepted(&other, &opens(&format!("new-{number}")));
    }

    assert_eq!(seen(&mut early, 550).await, (101..=650).collect::<Vec<_>>());
    assert_eq!(seen(&mut late, 50).await, (601..=650).collect::<Vec<_>>());
}

#[tokio::test]
async fn one_that_falls_far_behind_reads_on_in_the_log() {
    let scene = Scene::on(|_| Box::new(Memory::new()));
    let (mut slow, mut quick) = (scene.hub.follow(None).unwrap(), scene.hub.follow(None).unwrap());

    for number in 0..3_000 {
        accepted(&scene.hub, &opens(&format!("item-{number}")));
    }

    assert_eq!(seen(&mut quick, 3_000).await, (1..=3_000).collect::<Vec<_>>());
    assert_eq!(seen(&mut slow, 3_000).await, (1..=3_000).collect::<Vec<_>>());
}

/// The time of tokio, so that sleeps and deadlines run on one clock.
struct TokioClock(Instant);

impl Clock for TokioClock {
    fn now(&self) -> Moment {
        ten().plus(Span::millis(u64::try_from(self.0.elapsed().as_millis()).unwrap()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_fires_on_time_though_nobody_looks() {
    let scene = Scene::in_files();
    let hub = Handle::with_clock(Box::new(Memory::new()), &scene.project, Arc::new(TokioClock(Instant::now())));
    let clock = hub.clone();
    let kept = tokio::spawn(async move { clock.keep_time().await });
    let mut news = hub.follow(None).unwrap();
    accepted(&hub, &opens("42"));
    accepted(&hub, &moves("42", "implement"));
    let (began, id) = (Instant::now(), asked(&hub, "42", with_fallback()));

    while news.next().await.unwrap().record.event.type_name() != "question_expired" {}

    assert_eq!(began.elapsed().as_secs(), 15 * 60);
    assert_eq!(hub.question(&id).unwrap().status, Status::Expired);
    kept.abort();
}
