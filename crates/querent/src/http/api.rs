//! `/api/v1`: every command and query of the command line, with the same names, fields, replies and codes. One table of routes
//! makes both the router and the `OpenAPI` document, so that they cannot disagree. A file a group.

mod ask;
mod assumptions;
mod call;
mod deliveries;
mod hooks;
mod input;
mod items;
mod learned;
mod lists;
mod locks;
mod openapi;
mod parts;
mod plain;
mod project;
mod questions;
mod reply;
mod schema;
mod triggers;
mod watch;

use std::pin::Pin;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderValue, IF_NONE_MATCH};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use querent_core::{Code, Command, Refusal, nearest};
use serde_json::{Map, Value};

use super::Site;
use super::who::Who;
use call::Call;
pub(crate) use call::on_thread;
use input::Checked;
use plain::Plain;
use reply::Said;
pub(crate) use reply::status_of as status;
use schema::Field;

/// Where the routes begin.
const ROOT: &str = "/api/v1";

/// Every route there is, in the order of the document.
const ROUTES: &[&[Route]] = &[
    items::ROUTES,
    ask::ROUTES,
    questions::ROUTES,
    deliveries::ROUTES,
    hooks::ROUTES,
    lists::ROUTES,
    assumptions::ROUTES,
    learned::ROUTES,
    locks::ROUTES,
    watch::ROUTES,
    triggers::ROUTES,
    project::ROUTES,
];

/// What a route is, and how it is called.
struct Route {
    verb: Verb,
    /// Below the root; `{id}` is filled in by the caller.
    path: &'static str,
    /// The command of the command line, in `snake_case`.
    operation: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
    /// What it takes: in the path if that names it, else in the query of a GET and in the body of a POST.
    fields: fn() -> Vec<Field>,
    /// A body that it takes; empty where there is none.
    example: &'static str,
    /// The schema of `data`.
    reply: fn() -> Value,
    /// Whether it is about one version of an item: a GET has an `ETag`, a POST heeds `If-Match`.
    versioned: bool,
    run: Run,
}

/// Whether a call only looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Get,
    Post,
}

/// How a call is carried out.
#[derive(Clone, Copy)]
enum Run {
    /// By this command.
    Tell(fn(&Call) -> Result<Command, Refusal>),
    /// Where it may block.
    Now(fn(&Call) -> Result<Said, Refusal>),
    /// It waits, without a thread.
    Later(fn(Call) -> Later),
    /// It may wait, and tell what it has before, if the caller wants that.
    Parts(fn(Call) -> Later),
}

type Later = Pin<Box<dyn Future<Output = Result<Said, Refusal>> + Send>>;

/// The routes with their schemas at hand.
static CHECKED: LazyLock<Vec<Checked>> = LazyLock::new(|| ROUTES.iter().copied().flatten().map(Checked::new).collect());

/// The document as it is served.
static DOCUMENT: LazyLock<String> = LazyLock::new(|| openapi::document(&CHECKED).to_string());

/// Whether a path is one of the API's, or would be.
pub(crate) fn has(path: &str) -> bool {
    path.strip_prefix(ROOT).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// What a call of the API comes to.
pub(crate) async fn answer(site: &Site, who: Option<Who>, request: Request<Bytes>) -> Response {
    let below = request.uri().path().strip_prefix(ROOT).unwrap_or_default();
    let verb = match *request.method() {
        Method::GET | Method::HEAD => Some(Verb::Get),
        Method::POST => Some(Verb::Post),
        _ => None,
    };
    let parts: Vec<&str> = below.split('/').collect();
    // A name in a path is no match for a word that is another route's own.
    let fits = CHECKED.iter().filter(|it| Some(it.route.verb) == verb && it.is_at(&parts));
    let Some(checked) = fits.min_by_key(|it| it.names) else {
        return not_found(request.method(), request.uri(), below);
    };
    let known = request.headers().get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let Some(who) = who else {
        let refusal = Refusal::new(Code::Unauthorized, "nobody knows who calls", "this is a fault of the server");
        return reply::refused(StatusCode::FORBIDDEN, &refusal);
    };
    let said = match call(checked, site, who, request) {
        Ok((call, plain)) => run(checked.route.run, call, plain).await,
        Err(refusal) => Err(refusal),
    };
    said.unwrap_or_else(|refusal| Said::refused(&refusal)).response(known.as_deref())
}

/// What a request asks for; else why it is not even tried.
fn call(checked: &Checked, site: &Site, who: Who, request: Request<Bytes>) -> Result<(Call, Option<Plain>), Refusal> {
    match checked.route.verb {
        Verb::Get => who.may_read()?,
        Verb::Post => who.speaks(None).map(drop)?,
    }
    let (head, body) = request.into_parts();
    let below = head.uri.path().strip_prefix(ROOT).unwrap_or_default();
    let plain = plain::read(checked.route, below, &head, &body);
    let given = if plain.is_some() { Map::new() } else { checked.read(below, &head, &body)? };
    Ok((Call::new(checked.route, site, who, given, &head.headers)?, plain))
}

async fn run(run: Run, call: Call, plain: Option<Plain>) -> Result<Said, Refusal> {
    match (plain, run) {
        (Some(Plain::Ask(beside, ask)), _) => ask::asked(call, beside, ask).await,
        (Some(Plain::Answer(item, action, by)), _) => {
            let command = Call::command(item, call.speaks(by)?, action);
            Ok(call.tell(command).await.into())
        }
        (None, Run::Tell(command)) => Ok(call.tell(command(&call)?).await.into()),
        (None, Run::Now(run)) => call::on_thread(move || run(&call)).await,
        (None, Run::Later(run) | Run::Parts(run)) => run(call).await,
    }
}

pub(crate) async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT.as_str()).into_response()
}

/// No such route; or one that knows another method, which the header `Allow` then names.
fn not_found(method: &Method, uri: &Uri, below: &str) -> Response {
    let shown: String = uri.path().chars().take(200).collect();
    let parts: Vec<&str> = below.split('/').collect();
    let verbs: Vec<Verb> = CHECKED.iter().filter(|it| it.is_at(&parts)).map(|it| it.route.verb).collect();
    if verbs.is_empty() {
        let near = nearest::of(below, CHECKED.iter().map(|it| it.route.path));
        let near = near.map(|near| format!("did you mean {ROOT}{near}? "));
        let hint = format!("{}see /openapi.json", near.unwrap_or_default());
        let refusal = Refusal::new(Code::Usage, format!("there is no {method} {shown}"), hint);
        return reply::refused(StatusCode::NOT_FOUND, &refusal);
    }
    let message = format!("{shown} cannot be called with {method}");
    let refusal = Refusal::new(Code::Usage, message, "the header Allow says with what; see /openapi.json");
    let mut response = reply::refused(StatusCode::METHOD_NOT_ALLOWED, &refusal);
    let allowed = match (verbs.contains(&Verb::Get), verbs.contains(&Verb::Post)) {
        (true, true) => "GET,HEAD,POST",
        (true, false) => "GET,HEAD",
        (false, _) => "POST",
    };
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_operation_is_a_command_of_the_command_line() {
        let commands = crate::cli::commands_in_snake_case();
        let mut seen = BTreeSet::new();
        for route in ROUTES.iter().copied().flatten() {
            assert!(commands.contains(route.operation), "{} is no command", route.operation);
            assert!(seen.insert(route.operation), "{} has two routes", route.operation);
        }
        // What is about this machine, and not about the project's questions, has no route.
        let local = [
            "completions",
            "connect",
            "demo",
            "disconnect",
            "hook",
            "hook_claude",
            "init",
            "item",
            "mcp",
            "notify",
            "notify_test",
            "resume",
            "run",
            "serve",
            "token",
            "token_create",
            "token_link",
            "token_list",
            "token_revoke",
            "trigger_install",
            "watch",
        ];
        let rest: Vec<&str> = commands.iter().map(String::as_str).filter(|name| !seen.contains(name)).collect();
        assert_eq!(rest, local);
    }

    #[test]
    fn every_example_fits_its_schema() {
        for checked in CHECKED.iter().filter(|it| it.route.verb == Verb::Post) {
            let example: Value = serde_json::from_str(checked.route.example).unwrap();
            let body = checked.body_schema().unwrap();
            let validator = jsonschema::validator_for(&body).unwrap();
            let faults: Vec<String> = validator.iter_errors(&example).map(|it| it.to_string()).collect();
            assert!(faults.is_empty(), "{}: {faults:?}", checked.route.operation);
        }
    }
}
