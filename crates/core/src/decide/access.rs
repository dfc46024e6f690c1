//! People make tokens, take them back, and give out login links; a link is used once.

use serde_json::json;

use crate::access::{LINK_LASTS, Role, Token};
use crate::event::{Event, LoginOffered, LoginUsed, TokenCreated, TokenRevoked};
use crate::id::{SecretHash, TokenId};
use crate::moment::{Moment, Span};
use crate::party::Party;
use crate::policy::Rules;
use crate::refusal::{Code, Refusal};
use crate::state::State;

/// How long a name may be, as that of any person.
const LONGEST_NAME: usize = 64;

/// The wish for a token.
pub(super) struct Wanted<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) role: &'a Role,
    pub(super) hash: &'a SecretHash,
    pub(super) expires_in: Option<Span>,
}

pub(super) fn create(
    state: &State,
    wanted: &Wanted<'_>,
    by: &Party,
    rules: &Rules,
    at: Moment,
) -> Result<Event, Refusal> {
    only_people(by, "make a token")?;
    if let Role::Agent(agent) = wanted.role {
        rules.agent(agent)?;
    }
    let is_bad = |name: &str| {
        name.trim().is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control)
    };
    if let Some(name) = wanted.name.filter(|name| is_bad(name)) {
        return Err(Refusal::malformed("name", name, "1 to 64 visible characters"));
    }
    if wanted.expires_in.is_some_and(|span| span.as_millis() == 0) {
        return Err(Refusal::invalid("expires", "a token must be good for some time", "give a time like 30d"));
    }
    let token = TokenId(state.access.made.saturating_add(1));
    let (name, role, hash) = (wanted.name.map(str::to_owned), wanted.role.clone(), wanted.hash.clone());
    Ok(TokenCreated { token, name, role, hash, expires_at: wanted.expires_in.map(|span| at.plus(span)) }.into())
}

pub(super) fn revoke(state: &State, token: TokenId, by: &Party) -> Result<Event, Refusal> {
    only_people(by, "take a token back")?;
    if known(state, token)?.revoked_at.is_some() {
        let message = format!("{token} was taken back already");
        return Err(Refusal::new(Code::InvalidTransition, message, "there is nothing left to do")
            .with(json!({ "token_id": token })));
    }
    Ok(TokenRevoked { token }.into())
}

pub(super) fn offer_login(
    state: &State,
    token: TokenId,
    hash: &SecretHash,
    by: &Party,
    at: Moment,
) -> Result<Event, Refusal> {
    only_people(by, "give out a login link")?;
    let found = known(state, token)?;
    if !found.is_good(at) {
        let message = format!("{token} is revoked or has expired, so nobody can log in with it");
        return Err(Refusal::new(Code::InvalidTransition, message, "make another: querent token create --role human")
            .with(json!({ "token_id": token })));
    }
    if let Role::Agent(agent) = &found.role {
        let message = format!("{token} is the agent `{agent}`'s, and pages are for people");
        let hint = "give out a link for a token with the role human or observer";
        return Err(Refusal::invalid("token_id", message, hint));
    }
    Ok(LoginOffered { token, hash: hash.clone(), expires_at: at.plus(LINK_LASTS) }.into())
}

pub(super) fn use_login(state: &State, hash: &SecretHash, at: Moment) -> Result<Event, Refusal> {
    let linked = state.access.linked(hash, at).ok_or_else(|| {
        let message = "this login link was used already, has expired, or was replaced by a newer one";
        Refusal::new(Code::Unauthorized, message, "ask for a new one: querent token link TOK-001")
    })?;
    Ok(LoginUsed { token: linked.id }.into())
}

fn known(state: &State, token: TokenId) -> Result<&Token, Refusal> {
    state.access.tokens.get(&token.0).ok_or_else(|| {
        let message = format!("there is no token `{token}`");
        Refusal::invalid("token_id", message, "list them: querent token list")
    })
}

fn only_people(by: &Party, what: &str) -> Result<(), Refusal> {
    if by.is_human() {
        return Ok(());
    }
    Err(Refusal::new(Code::HumanOnly, format!("only a person may {what}, not {by}"), "leave it to a person"))
}
