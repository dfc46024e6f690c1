use querent_core::{Code, Role, SharedAction, Span, TokenId};
use serde_json::json;

use crate::scenario::{Scenario, given};

fn hash(digit: &str) -> querent_core::SecretHash {
    digit.repeat(64).parse().unwrap()
}

fn token(role: &str, expires: Option<Span>) -> SharedAction {
    let name = Some("alice".to_owned());
    SharedAction::CreateToken { name, role: role.parse().unwrap(), hash: hash("a"), expires_in: expires }
}

fn given_token(role: &str) -> Scenario {
    given().when_shared(token(role, None)).then_accepted()
}

#[test]
fn a_token_is_good_until_it_expires_or_is_revoked_and_time_opens_no_door() {
    let it = given().when_shared(token("human", Some(Span::minutes(60)))).then_shared_events(["token_created"]);
    let access = |it: &Scenario| it.state.access.clone();
    assert!(access(&it).bearer(&hash("a"), it.now).is_some());
    assert!(access(&it).bearer(&hash("b"), it.now).is_none());

    let it = it.later("60m");
    assert!(access(&it).bearer(&hash("a"), it.now).is_none());
    assert!(access(&it).is_guarded());

    let it = it.when_shared(SharedAction::RevokeToken { token: TokenId(1) }).then_shared_events(["token_revoked"]);
    assert!(!access(&it).is_guarded());
    it.when_shared(SharedAction::RevokeToken { token: TokenId(1) }).then_refused(Code::InvalidTransition);
}

#[test]
fn what_is_told_of_a_token_is_not_what_it_is_known_by() {
    given_token("agent:engineer")
        .then_reply(&json!({ "token": { "id": "TOK-001", "role": "agent:engineer", "name": "alice" } }))
        .when_shared(SharedAction::RevokeToken { token: TokenId(2) })
        .then_refused(Code::InvalidInput);
    assert!("agent:".parse::<Role>().is_err());
    assert!("admin".parse::<Role>().is_err());
    given().when_shared(token("agent:nobody", None)).then_refused(Code::UnknownAgent);
    given().when_shared(token("human", Some(Span::minutes(0)))).then_refused(Code::InvalidInput);
}

#[test]
fn a_login_link_works_once_within_its_time_and_only_the_newest_one() {
    let offer = |digit| SharedAction::OfferLogin { token: TokenId(1), hash: hash(digit) };
    let enter = |digit| SharedAction::UseLogin { hash: hash(digit) };

    given_token("human")
        .when_shared(enter("c"))
        .then_refused(Code::Unauthorized)
        .when_shared(offer("c"))
        .then_shared_events(["login_offered"])
        .when_shared(enter("c"))
        .then_shared_events(["login_used"])
        .when_shared(enter("c"))
        .then_refused(Code::Unauthorized)
        .when_shared(offer("d"))
        .when_shared(offer("e"))
        .when_shared(enter("d"))
        .then_refused(Code::Unauthorized)
        .later("15m")
        .when_shared(enter("e"))
        .then_refused(Code::Unauthorized)
        .when_shared(offer("f"))
        .when_shared(SharedAction::RevokeToken { token: TokenId(1) })
        .when_shared(enter("f"))
        .then_refused(Code::Unauthorized)
        .when_shared(offer("f"))
        .then_refused(Code::InvalidTransition);
}

#[test]
fn pages_are_for_people() {
    given_token("agent:engineer")
        .when_shared(SharedAction::OfferLogin { token: TokenId(1), hash: hash("c") })
        .then_refused(Code::InvalidInput)
        .then_message("pages are for people");
}
