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
mod project;
mod questions;
mod reply;
mod schema;
mod triggers;
mod watch;

use std::pin::Pin;
use std::sync::LazyLock;

use axum::Router;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderMap, IF_NONE_MATCH};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, any, get, on};
use querent_core::{Code, Command, Refusal, nearest};
use serde_json::Value;

use super::Site;
use super::who::Who;
use call::Call;
pub(crate) use call::on_thread;
use input::Checked;
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
#[derive(Clone, Copy, PartialEq, Eq)]
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
}

type Later = Pin<Box<dyn Future<Output = Result<Said, Refusal>> + Send>>;

/// The routes with their schemas at hand.
static CHECKED: LazyLock<Vec<Checked>> = LazyLock::new(|| ROUTES.iter().copied().flatten().map(Checked::new).collect());

/// The document as it is served.
static DOCUMENT: LazyLock<String> = LazyLock::new(|| openapi::document(&CHECKED).to_string());

/// The routes of the API, and its description.
pub(crate) fn routes() -> Router<Site> {
    let mut api = Router::new();
    for checked in CHECKED.iter() {
        let handler = move |State(site): State<Site>,
                            who: Who,
                            params: Result<RawPathParams, RawPathParamsRejection>,
                            request: Request| serve(checked, site, who, params, request);
        let filter = match checked.route.verb {
            Verb::Get => MethodFilter::GET,
            Verb::Post => MethodFilter::POST,
        };
        api = api.route(&format!("{ROOT}{}", checked.route.path), on(filter, handler));
    }
    api = api.route("/openapi.json", get(document)).method_not_allowed_fallback(not_allowed);
    for place in ["", "/", "/{*rest}"] {
        api = api.route(&format!("{ROOT}{place}"), any(unknown));
    }
    api
}

async fn serve(
    checked: &'static Checked,
    site: Site,
    who: Who,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response {
    let known = request.headers().get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let said = match call(checked, site, who, params, request).await {
        Ok(call) => run(checked.route.run, call).await,
        Err(halt) => return halt,
    };
    said.unwrap_or_else(|refusal| Said::refused(&refusal)).response(known.as_deref())
}

/// What a request asks for; else why it is not even tried.
async fn call(
    checked: &'static Checked,
    site: Site,
    who: Who,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Result<Call, Response> {
    let refused = |refusal: Refusal| Said::refused(&refusal).response(None);
    match checked.route.verb {
        Verb::Get => who.may_read().map_err(refused)?,
        Verb::Post => who.speaks(None).map(drop).map_err(refused)?,
    }
    let params = params.map_err(|error| refused(Refusal::invalid("path", error.body_text(), "encode it as UTF-8")))?;
    let headers: HeaderMap = request.headers().clone();
    let given = checked.read(&params, request).await?;
    Call::new(checked.route, &site, who, given, &headers).map_err(refused)
}

async fn run(run: Run, call: Call) -> Result<Said, Refusal> {
    match run {
        Run::Tell(command) => Ok(call.tell(command(&call)?).await.into()),
        Run::Now(run) => call::on_thread(move || run(&call)).await,
        Run::Later(run) => run(call).await,
    }
}

async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT.as_str()).into_response()
}

/// No such route.
async fn unknown(method: Method, uri: Uri) -> Response {
    let (path, known) = (uri.path(), CHECKED.iter().map(|it| it.route.path));
    let below = path.strip_prefix(ROOT).unwrap_or(path);
    let near = nearest::of(below, known).map(|near| format!("did you mean {ROOT}{near}? "));
    let shown: String = path.chars().take(200).collect();
    let hint = format!("{}see /openapi.json", near.unwrap_or_default());
    let refusal = Refusal::new(Code::Usage, format!("there is no {method} {shown}"), hint);
    reply::refused(StatusCode::NOT_FOUND, &refusal)
}

/// A route that knows another method; the header `Allow` says which.
async fn not_allowed(method: Method, uri: Uri) -> Response {
    let shown: String = uri.path().chars().take(200).collect();
    let message = format!("{shown} cannot be called with {method}");
    let refusal = Refusal::new(Code::Usage, message, "the header Allow says with what; see /openapi.json");
    reply::refused(StatusCode::METHOD_NOT_ALLOWED, &refusal)
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
