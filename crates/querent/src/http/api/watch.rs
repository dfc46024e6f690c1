//! The monitor, its alerts, and signs of life.

use querent_core::{AlertId, ComponentName, Refusal, SharedAction};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Call, Named};
use super::reply::Said;
use super::schema::{
    by, counted_id, flag, list, maybe, needed, next_cursor, or_null, paged, session, shape, shape_or_null, shaped, text,
};
use super::{Route, Run, Verb};
use crate::paging;

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/monitor",
        operation: "monitor",
        tag: "monitor",
        summary: "Look for work that does not get on, and do what follows",
        description: "The same happens with hooks, the ready queue and lists of questions. What follows, happens once.",
        fields: || vec![maybe("dry_run", flag("Only say what is wrong and what would follow"))],
        example: r#"{"dry_run": true}"#,
        reply: || shaped([("findings", list(shape("Finding")))], &[]),
        versioned: false,
        run: Run::Now(monitor),
    },
    Route {
        verb: Verb::Get,
        path: "/alerts",
        operation: "alerts",
        tag: "monitor",
        summary: "List the alerts that nobody has seen yet",
        description: "The oldest first. The last 256 are kept.",
        fields: || {
            let mut fields = vec![maybe("all", flag("Also those that somebody has seen"))];
            fields.extend(paged("^ALR-(00[1-9]|0[1-9][0-9]|[1-9][0-9]{2,8})$", "ALR-001"));
            fields
        },
        example: "",
        reply: || shaped([("alerts", list(shape("Alert"))), ("next_cursor", next_cursor())], &[]),
        versioned: false,
        run: Run::Now(alerts),
    },
    Route {
        verb: Verb::Post,
        path: "/alerts/{id}/ack",
        operation: "alerts_ack",
        tag: "monitor",
        summary: "Say that an alert was seen",
        description: "It leaves the list; the same is not raised again for 30 minutes.",
        fields: || vec![needed("id", counted_id("ALR", "The alert's id")), by()],
        example: r#"{"by": "human:alice"}"#,
        reply: || shaped([("alert", shape_or_null("Alert"))], &[]),
        versioned: false,
        run: Run::Now(acknowledge),
    },
    Route {
        verb: Verb::Post,
        path: "/beats",
        operation: "beat",
        tag: "monitor",
        summary: "Show that a component, or a session, is alive",
        description: "Whoever beats is expected to beat on: after five minutes without, the monitor says that it is down. Nothing is \
recorded of a beat.",
        fields: || {
            vec![
                needed("component", session("The component: a session, a runner, a bridge")),
                maybe("stop", flag("It ends: no more beats are expected")),
            ]
        },
        example: r#"{"component": "build-runner"}"#,
        reply: || {
            let named = |what| or_null(text(what));
            shaped(
                [("component", text("Its name")), ("session", named("The session that it is")), ("at", named("When"))],
                &[],
            )
        },
        versioned: false,
        run: Run::Now(beat),
    },
];

fn monitor(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        #[serde(default)]
        dry_run: bool,
    }
    #[derive(Serialize)]
    struct Reply<T> {
        findings: T,
    }
    let Args { dry_run } = call.read()?;
    Ok(Said::new(&Reply { findings: call.site.hub.monitor(dry_run)? }))
}

fn alerts(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        #[serde(default)]
        all: bool,
        limit: Option<usize>,
        cursor: Option<String>,
    }
    #[derive(Serialize)]
    struct Reply<T> {
        alerts: Vec<T>,
        next_cursor: Option<String>,
    }
    let Args { all, limit, cursor } = call.read()?;
    let mut found = call.site.hub.alerts()?;
    found.retain(|alert| all || !alert.acknowledged);
    let page = paging::sorted(found, |it| it.id, cursor.as_deref(), paging::limit(limit))?;
    Ok(Said::new(&Reply { alerts: page.entries, next_cursor: page.next }))
}

fn acknowledge(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: AlertId,
        by: Option<Named>,
    }
    let Args { id: alert, by } = call.read()?;
    Ok(call.execute_shared(call.speaks(by)?, SharedAction::Acknowledge { alert }))
}

fn beat(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        component: ComponentName,
        #[serde(default)]
        stop: bool,
    }
    let Args { component: name, stop } = call.read()?;
    if stop {
        call.site.hub.still(&name)?;
        return Ok(Said::new(&json!({ "at": null, "component": name, "session": null })));
    }
    let is_session = call.site.hub.beat(&name)?;
    Ok(Said::new(&json!({ "at": call.site.hub.now(), "component": name, "session": is_session.then_some(&name) })))
}
