//! The digest looks back from the hub's clock, on every engine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use querent_core::Code;

use crate::support::{accepted, answers, expiring, id, on_both_engines, to_human, with_fallback};

#[test]
fn a_digest_looks_back_from_now_and_sees_what_is_due() {
    on_both_engines(|scene| {
        scene.item("42");
        scene.item("43");
        let old = scene.asks("42", to_human());
        accepted(&scene.hub, &answers(&old, "REST"));
        scene.pass("8d");
        scene.asks("42", expiring(with_fallback(), "5m"));
        scene.asks("43", to_human());
        scene.pass("6m");

        let week = scene.hub.digest(id("7d"), None).unwrap();
        let month = scene.hub.digest(id("30d"), Some(&id("42"))).unwrap();

        assert_eq!((week.total, week.settled, week.open, week.fallbacks_used), (2, 1, 1, 1));
        assert_eq!((month.total, month.settled, month.open), (2, 2, 0));
        assert_eq!(week.until.since(week.since), id("7d"));
    });
}

#[test]
fn a_digest_of_an_item_that_is_not_there_is_refused() {
    on_both_engines(|scene| {
        let refusal = scene.hub.digest(id("7d"), Some(&id("42"))).unwrap_err();

        assert_eq!(refusal.code, Code::ItemNotFound);
    });
}
