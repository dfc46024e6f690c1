//! Files: who holds them, and whose they are.

use std::collections::BTreeSet;

use querent_core::{AgentName, Code, ItemId, Party, ProjectPath, Refusal, SessionId, SharedAction, Span, Via};
use querent_hub::Wanted;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Call, Named, on_thread, patience};
use super::reply::Said;
use super::schema::{
    Field, agent, by, item, list, maybe, needed, nullable, path, session, shape, shaped, span, text, texts, wait,
    worker,
};
use super::{Route, Run, Verb};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/locks",
        operation: "lock",
        tag: "files",
        summary: "Lock files for a session, all of them or none",
        description: "What another session holds is refused (file_locked, with the holder), or waited for with `wait`. A lock that \
is asked for again is renewed. Locks end with their session.",
        fields: || {
            let mut paths = paths("Files, directories or globs inside the project");
            paths["minItems"] = json!(1);
            let mut fields = vec![needed("paths", paths)];
            fields.extend(holder());
            fields.extend([
                maybe(
                    "wait",
                    wait("60s", "How long to wait for whoever holds them, 300s at most; without it, not at all"),
                ),
                maybe("ttl", span("30m", "For how long, if nobody renews or releases them; 30m without it")),
            ]);
            fields
        },
        example: r#"{"paths": ["src/auth.rs"], "session": "engineer@42", "ttl": "30m"}"#,
        reply: || shaped([("granted", texts("What the session has")), ("waiting", texts("What it waits for"))], &[]),
        versioned: false,
        run: Run::Later(|call| Box::pin(lock(call))),
    },
    Route {
        verb: Verb::Post,
        path: "/locks/release",
        operation: "unlock",
        tag: "files",
        summary: "Give files back that a session has locked",
        description: "Without paths the session gives back all that it holds. Whoever waits for the files goes on at once.",
        fields: || {
            let mut fields = vec![maybe("paths", paths("Files, directories or globs as they were locked"))];
            fields.extend(holder());
            fields
        },
        example: r#"{"session": "engineer@42"}"#,
        reply: || shaped([("released", texts("What the session had"))], &[]),
        versioned: false,
        run: Run::Now(unlock),
    },
    Route {
        verb: Verb::Get,
        path: "/locks",
        operation: "locks",
        tag: "files",
        summary: "List the files that sessions hold, who waits for them, and whose files are whose",
        description: "All at once: there are as many as sessions work.",
        fields: Vec::new,
        example: "",
        reply: locked,
        versioned: false,
        run: Run::Now(|call| Ok(Said::new(&call.site.hub.locks()?))),
    },
    Route {
        verb: Verb::Post,
        path: "/owners",
        operation: "own",
        tag: "files",
        summary: "Give files to an agent, whoever works on them now",
        description: "From then on only the owner, and agents that rank before it, may lock them. Only a person says so.",
        fields: || {
            let owner = nullable(agent("The agent that owns it; null if it has no owner any more"));
            vec![needed("path", path()), needed("agent", owner), by()]
        },
        example: r#"{"path": "docs/adr", "agent": "architect"}"#,
        reply: || {
            let owner = super::schema::or_null(text("Whose they are"));
            shaped([("path", text("The files")), ("owner", owner)], &[])
        },
        versioned: false,
        run: Run::Now(own),
    },
];

fn paths(description: &str) -> Value {
    let mut paths = list(path());
    paths["maxItems"] = json!(100);
    paths["description"] = json!(description);
    paths
}

fn holder() -> [Field; 3] {
    [maybe("session", session("The session, like engineer@42; without it, <agent>@<item>")), worker(), item()]
}

fn locked() -> Value {
    let owner = shaped([("path", text("The files")), ("agent", text("Whose they are"))], &[]);
    shaped([("locks", list(shape("Lock"))), ("owners", list(owner))], &[])
}

#[derive(Deserialize)]
struct Args {
    #[serde(default)]
    paths: Vec<String>,
    session: Option<SessionId>,
    agent: Option<Named>,
    item: Option<ItemId>,
    wait: Option<Span>,
    ttl: Option<Span>,
}

impl Args {
    /// The session that is meant, which is the caller's own if it is an agent; and the files.
    fn resolve(self, call: &Call) -> Result<(SessionId, BTreeSet<ProjectPath>), Refusal> {
        let by = call.speaks(self.agent)?;
        let session = match (self.session, &by) {
            (Some(session), _) => session,
            (None, Party::Agent(agent)) => SessionId::of(agent, &call.item(self.item)?),
            (None, _) => return Err(Refusal::invalid("session", "no session is named", "name it: engineer@42")),
        };
        let owner = call.site.hub.agent_of(&session)?;
        if by.agent().is_some_and(|agent| *agent != owner) {
            let message = format!("the session is {owner}'s, not {by}'s");
            return Err(Refusal::new(Code::NotOwner, message, format!("{owner} or a human may do this")));
        }
        let paths = self.paths.iter().map(|path| call.path(path)).collect::<Result<_, Refusal>>()?;
        Ok((session, paths))
    }
}

async fn lock(call: Call) -> Result<Said, Refusal> {
    let args: Args = call.read()?;
    let (wait, ttl) = (args.wait, args.ttl.unwrap_or(Span::minutes(30)));
    let (call, wanted) = on_thread(move || {
        let (session, paths) = args.resolve(&call)?;
        Ok((call, Wanted { session, paths, ttl, via: Via::Http }))
    })
    .await?;
    let operation = call.operation.clone();
    Ok(match wait {
        Some(span) => call.site.hub.lock_within(&wanted, patience(span), operation).await?.into(),
        None => on_thread(move || call.site.hub.lock(&wanted, operation)).await?.into(),
    })
}

fn unlock(call: &Call) -> Result<Said, Refusal> {
    let (session, paths) = call.read::<Args>()?.resolve(call)?;
    Ok(call.site.hub.unlock(&session, paths, Via::Http, call.operation.clone())?.into())
}

fn own(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        path: String,
        agent: Option<AgentName>,
        by: Option<Named>,
    }
    let Args { path, agent, by } = call.read()?;
    Ok(call.execute_shared(call.speaks(by)?, SharedAction::Own { path: call.path(&path)?, agent }))
}
