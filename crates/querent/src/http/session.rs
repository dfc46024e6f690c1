//! Whoever logged in with a browser: a cookie that names the token and is signed by us. Nothing is kept, so a server that was
//! started again knows its visitors, and a token that is revoked takes all its cookies with it.

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use querent_core::{Moment, Span, Token, TokenId};
use querent_hub::Key;

/// The cookie's name.
const NAME: &str = "querent_session";
/// For how long a browser stays logged in.
const LASTS: Span = Span::minutes(30 * 24 * 60);
/// The header, or the field of a form, that a page of ours sends along.
pub(crate) const CSRF: &str = "x-querent-csrf";

/// Makes cookies and knows them again.
#[derive(Clone)]
pub(crate) struct Sessions {
    key: Key,
}

impl Sessions {
    pub(crate) fn new(key: Key) -> Self {
        Self { key }
    }

    /// The header that logs a browser in.
    pub(crate) fn cookie(&self, token: &Token, at: Moment, is_secure: bool) -> String {
        let end = token.expires_at.map_or(at.plus(LASTS), |end| end.min(at.plus(LASTS)));
        let said = format!("{}.{}", token.id, end.millis());
        let signature = self.key.sign("session", &said);
        let secure = if is_secure { "; Secure" } else { "" };
        let seconds = end.since(at).as_millis() / 1_000;
        format!("{NAME}={said}.{signature}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
    }

    /// The header that logs it out.
    pub(crate) fn gone() -> String {
        format!("{NAME}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")
    }

    /// The token that a request's cookie names, if we made it and it has not expired; and the cookie itself.
    pub(crate) fn read(&self, headers: &HeaderMap, at: Moment) -> Option<(TokenId, String)> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let value = cookies.flat_map(|line| line.split(';')).find_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == NAME).then_some(value)
        })?;
        let (said, signature) = value.rsplit_once('.')?;
        let (token, end) = said.split_once('.')?;
        let is_good = self.key.signed("session", said, signature) && end.parse::<i64>().ok()? > at.millis();
        is_good.then_some(())?;
        Some((token.parse().ok()?, value.to_owned()))
    }

    /// What a page of ours shows to prove that it is one: bound to the cookie, so that nobody else can make it.
    pub(crate) fn csrf(&self, cookie: &str) -> String {
        self.key.sign("csrf", cookie)
    }

    /// Whether it is that.
    pub(crate) fn is_csrf(&self, cookie: &str, given: &str) -> bool {
        self.key.signed("csrf", cookie, given)
    }
}
