//! Coming in and going out by browser.

use askama::Template;
use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::http::header::SET_COOKIE;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use querent_core::{Code, Refusal, Role, Token};

use super::{Page, Visitor, form_field, render};
use crate::http::{Sessions, Site, on_thread};

#[derive(Template)]
#[template(path = "login.html")]
struct Login {
    page: Page,
    error: Option<String>,
}

/// A page of ours that leads on. A cookie of ours goes along only where the way begins on a page of ours, which a link in a
/// message does not.
#[derive(Template)]
#[template(path = "entered.html")]
struct Entered {
    to: String,
}

/// A page of ours that leads to where somebody wanted to go, who came by a link from elsewhere.
pub(crate) fn passage(uri: &Uri) -> Response {
    let wanted = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    render(StatusCode::OK, &Entered { to: format!("/{}", wanted.trim_start_matches(['/', '\\'])) })
}

/// The page that asks for a token.
pub(crate) fn page(site: &Site, error: Option<String>) -> Response {
    let visitor = Visitor { site: site.clone(), who: None, csrf: None, wants_part: false };
    let status = if error.is_some() { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
    render(status, &Login { page: visitor.frame("login", "Log in", None), error })
}

/// A login link is opened; or somebody wants to log in.
pub(super) async fn enter(visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    let Some(code) = form_field(query.unwrap_or_default().as_bytes(), "code") else {
        return page(&visitor.site, None);
    };
    let hub = visitor.site.hub.clone();
    match on_thread(move || hub.use_login(&code)).await {
        Ok(token) => logged_in(&visitor.site, &token),
        Err(refusal) => turned_down(&visitor.site, &refusal),
    }
}

/// A token is shown.
pub(super) async fn with_token(visitor: Visitor, form: Bytes) -> Response {
    let (hub, secret) = (visitor.site.hub.clone(), form_field(&form, "token").unwrap_or_default());
    match on_thread(move || hub.bearer(secret.trim())).await {
        Ok(Some(token)) if !matches!(token.role, Role::Agent(_)) => logged_in(&visitor.site, &token),
        Ok(_) => {
            let message = "that is no token that is good for pages";
            let refusal = Refusal::new(Code::Unauthorized, message, "make one: querent token create --role human");
            turned_down(&visitor.site, &refusal)
        }
        Err(refusal) => turned_down(&visitor.site, &refusal),
    }
}

/// Out again.
pub(super) async fn leave() -> Response {
    with_cookie(Redirect::to("/login").into_response(), &Sessions::gone())
}

fn logged_in(site: &Site, token: &Token) -> Response {
    let cookie = site.sessions.cookie(token, site.hub.now(), site.doors.is_secure());
    with_cookie(render(StatusCode::OK, &Entered { to: "/".to_owned() }), &cookie)
}

fn turned_down(site: &Site, refusal: &Refusal) -> Response {
    crate::http::turned_down(site, "at the login", refusal);
    page(site, Some(format!("{}: {}", refusal.message, refusal.hint)))
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}
