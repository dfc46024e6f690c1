use querent_core::{Code, Outcome, SharedAction};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{architect, engineer, human, product_manager};

/// Engineer and architect are at work.
fn given_two_at_work() -> Scenario {
    given_implementing().and(engineer().starts()).and(architect().starts())
}

fn owned(path: &str, agent: Option<&str>) -> SharedAction {
    SharedAction::Own { path: path.parse().unwrap(), agent: agent.map(|agent| agent.parse().unwrap()) }
}

fn held(it: &Scenario) -> Vec<(&str, &str)> {
    let locks = it.state.resources.locks.iter();
    locks.map(|(path, lock)| (path.as_str(), lock.session.as_str())).collect()
}

#[test]
fn files_are_granted_together_or_not_at_all() {
    given_two_at_work()
        .when(engineer().locks(&["src/b.rs", "src/a.rs"]))
        .then_reply(&json!({ "granted": ["src/a.rs", "src/b.rs"], "waiting": [] }))
        .then_events([])
        .then_shared_events(["lock_granted"])
        .when(architect().locks(&["docs", "src/b.rs"]))
        .then_refused(Code::FileLocked)
        .then_details(&json!({ "path": "src/b.rs", "owner": null,
            "holder": { "session": "engineer@42", "agent": "engineer" } }))
        .then(|it| assert_eq!(held(it), [("src/a.rs", "engineer@42"), ("src/b.rs", "engineer@42")]));
}

#[test]
fn directories_and_globs_cover_what_is_below_them() {
    let it = given_two_at_work().and(engineer().locks(&["src/auth", "docs/**/*.md"]));

    let it = ["src", "src/auth/token.rs", "src/*/token.rs", "docs/adr/1.md", "docs", "."]
        .into_iter()
        .fold(it, |it, path| it.when(architect().locks(&[path])).then_refused(Code::FileLocked));
    it.when(architect().locks(&["src/authors.rs", "docs/x.txt"])).then_accepted();
}

#[test]
fn the_holder_may_lock_again_and_nobody_else_may_unlock() {
    given_two_at_work()
        .and(engineer().locks(&["src"]))
        .later("20m")
        .and(engineer().locks(&["src", "src/a.rs"]))
        .later("20m")
        .when(architect().locks(&["src"]))
        .then_refused(Code::FileLocked)
        .when(architect().unlocks(&["src"]))
        .then_refused(Code::NotOwner)
        .when(architect().unlocks(&["nothing"]))
        .then_refused(Code::NotOwner)
        .when(engineer().unlocks(&["src"]))
        .then_reply(&json!({ "released": ["src"] }))
        .when(engineer().unlocks(&[]))
        .then_reply(&json!({ "released": ["src/a.rs"] }))
        .when(engineer().unlocks(&[]))
        .then_reply(&json!({ "released": [] }))
        .then_shared_events(["lock_released"]);
}

#[test]
fn a_lock_that_expired_can_be_taken() {
    given_two_at_work()
        .and(engineer().locks(&["src"]))
        .later("30m")
        .when(architect().locks(&["src/a.rs"]))
        .then_shared_events(["lock_expired", "lock_granted"])
        .then(|it| assert_eq!(held(it), [("src/a.rs", "architect@42")]));
}

#[test]
fn locks_end_with_their_session_and_with_the_item() {
    given_two_at_work()
        .and(engineer().locks(&["src"]))
        .when(engineer().finishes())
        .then_shared_events(["lock_released"])
        .then(|it| assert_eq!(held(it), []))
        .and(architect().locks(&["docs"]))
        .when(human().ends_as(Outcome::Merged))
        .then_shared_events(["lock_released"])
        .then(|it| assert_eq!(held(it), []));
}

#[test]
fn only_a_session_at_work_locks_and_only_its_agent_for_it() {
    given_two_at_work()
        .when(product_manager().locks(&["src"]))
        .then_refused(Code::InvalidInput)
        .then_message("no session `product-manager@42` is at work")
        .and(engineer().finishes_but_keeps_the_step())
        .when(engineer().locks(&["src"]))
        .then_refused(Code::InvalidInput)
        .when(engineer().locks_as("architect@42", &["src"], false))
        .then_refused(Code::NotOwner)
        .when(architect().locks(&[]))
        .then_refused(Code::InvalidInput);
}

#[test]
fn an_owner_and_whoever_ranks_before_it_come_first() {
    given_two_at_work()
        .when_shared(owned("docs/adr", Some("architect")))
        .then_shared_events(["file_owned"])
        .when(engineer().locks(&["docs/adr/1.md"]))
        .then_refused(Code::NotOwner)
        .then_details(&json!({ "owner": "architect", "holder": null }))
        .and(engineer().locks(&["docs/guide.md"]))
        .and(architect().locks(&["docs/adr"]))
        .and(product_manager().starts())
        .when(product_manager().locks(&["docs/adr/1.md"]))
        .then_shared_events(["lock_released", "lock_granted"])
        .then(|it| assert_eq!(held(it), [("docs/adr/1.md", "product-manager@42"), ("docs/guide.md", "engineer@42")]))
        .when(architect().locks(&["docs/adr/1.md"]))
        .then_refused(Code::FileLocked)
        .then_details(&json!({ "owner": "architect" }))
        .when_shared(owned("docs/adr", None))
        .then_shared_events(["file_owned"]);
}

#[test]
fn whoever_waits_is_on_record_until_it_has_the_files_or_gives_up() {
    given_two_at_work()
        .and(engineer().locks(&["src"]))
        .when(architect().waits_for(&["src/a.rs", "docs"]))
        .then_reply(&json!({ "granted": [], "waiting": ["docs", "src/a.rs"] }))
        .then_shared_events(["lock_waited"])
        .and(engineer().unlocks(&[]))
        .then(|it| assert_eq!(it.state.resources.waits.len(), 1))
        .when(architect().waits_for(&["src/a.rs", "docs"]))
        .then_shared_events(["lock_granted"])
        .then(|it| assert_eq!(it.state.resources.waits.len(), 0));
}
