//! The `OpenAPI` document, made from the table of routes.

use std::collections::BTreeSet;

use querent_core::{Code, canonical};
use serde_json::{Map, Value, json};

use super::input::Checked;
use super::reply::status_of;
use super::schema::{SHAPES, formed, shape, text};
use super::{ROOT, Run, Verb};

/// The whole document.
pub(super) fn document(routes: &[Checked]) -> Value {
    let mut paths = Map::new();
    for checked in routes {
        let path = paths.entry(format!("{ROOT}{}", checked.route.path)).or_insert_with(|| json!({}));
        path[verb(checked.route.verb)] = operation(checked);
    }
    let tags: BTreeSet<&str> = routes.iter().map(|it| it.route.tag).collect();
    let shapes: Map<String, Value> = SHAPES.iter().map(|(name, make)| ((*name).to_owned(), make())).collect();
    canonical::sorted(json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Querent",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "The question layer for teams of AI coding agents",
            "description": "Every command and query of the command line, with the same names, fields, replies and codes.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        // Without a token on loopback, as long as the project has none.
        "security": [{}, { "bearer": [] }],
        "paths": paths,
        "components": {
            "schemas": shapes,
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of `querent token create`. It says who calls; no field of a request can say otherwise.",
                },
            },
            "headers": { "ETag": { "description": "The version of the item", "schema": { "type": "string" } } },
        },
    }))
}

fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Post => "post",
    }
}

fn operation(checked: &Checked) -> Value {
    let route = checked.route;
    let mut operation = json!({
        "operationId": route.operation,
        "tags": [route.tag],
        "summary": route.summary,
        "description": route.description,
        "parameters": parameters(checked),
        "responses": responses(checked),
    });
    if let Some(schema) = checked.body_schema() {
        let is_required = schema["required"].as_array().is_some_and(|it| !it.is_empty());
        let example: Value = serde_json::from_str(route.example).unwrap_or_default();
        operation["requestBody"] = json!({
            "required": is_required,
            "content": { "application/json": { "schema": schema, "examples": { "usual": { "value": example } } } },
        });
    }
    operation
}

fn parameters(checked: &Checked) -> Vec<Value> {
    let mut parameters = Vec::new();
    for field in checked.fields.iter().filter(|it| it.in_path || checked.route.verb == Verb::Get) {
        let (mut schema, place) = (field.schema.clone(), if field.in_path { "path" } else { "query" });
        let description = schema.as_object_mut().and_then(|it| it.remove("description"));
        parameters.push(json!({
            "name": field.name, "in": place, "required": field.required, "description": description, "schema": schema,
        }));
    }
    match (checked.route.verb, checked.route.versioned) {
        (Verb::Post, is_versioned) => {
            let key = formed("^[!-~]{1,200}$", "op-1", "Makes the call happen once, however often it is sent");
            parameters.push(header("Idempotency-Key", &key));
            if is_versioned {
                let tag = formed(
                    "^(\\*|\"[0-9]{1,18}\")$",
                    "\"7\"",
                    "The ETag of the item or question; refused with 412 if it has another now",
                );
                parameters.push(header("If-Match", &tag));
            }
        }
        (Verb::Get, true) => {
            let mut tag = text("An ETag; replied to with 304 if nothing has changed");
            tag["examples"] = json!(["\"7\""]);
            parameters.push(header("If-None-Match", &tag));
        }
        (Verb::Get, false) => {}
    }
    parameters
}

fn header(name: &str, schema: &Value) -> Value {
    let mut schema = schema.clone();
    let description = schema.as_object_mut().and_then(|it| it.remove("description"));
    json!({ "name": name, "in": "header", "required": false, "description": description, "schema": schema })
}

fn responses(checked: &Checked) -> Value {
    let route = checked.route;
    let data = (route.reply)();
    let schema = json!({
        "type": "object",
        "properties": { "ok": { "const": true }, "data": data },
        "required": ["ok", "data"],
    });
    let mut done = json!({ "description": "Done", "content": { "application/json": { "schema": schema } } });
    if matches!(route.run, Run::Parts(_)) {
        let events = text(
            "Two events, `asked` and `awaited`; the data of each is such a reply, the second when the wait is over",
        );
        done["content"]["text/event-stream"] = json!({ "schema": events });
    }
    let mut responses = Map::new();
    let is_tagged = route.versioned && route.verb == Verb::Get;
    if is_tagged {
        done["headers"] = json!({ "ETag": { "$ref": "#/components/headers/ETag" } });
        responses.insert("304".to_owned(), json!({ "description": "Nothing has changed" }));
    }
    responses.insert("200".to_owned(), done);
    for (status, description) in refusals(checked) {
        let refusal =
            json!({ "description": description, "content": { "application/json": { "schema": shape("Refusal") } } });
        responses.insert(status.to_string(), refusal);
    }
    Value::Object(responses)
}

/// The statuses of refusals, each with the codes that it stands for.
fn refusals(checked: &Checked) -> Vec<(u16, String)> {
    let codes = |status: u16| {
        let codes: Vec<&str> =
            Code::ALL.iter().filter(|code| status_of(**code).as_u16() == status).map(|code| code.as_str()).collect();
        codes.join(", ")
    };
    let mut refusals: Vec<(u16, String)> = [400, 403, 404, 409, 422, 503].map(|it| (it, codes(it))).into();
    refusals.push((401, "No token, or one that is not known".to_owned()));
    refusals.push((421, "A name of this server that it does not know".to_owned()));
    refusals.push((429, "Too many requests; Retry-After says when to go on".to_owned()));
    if checked.route.verb == Verb::Post {
        refusals.push((413, "The body has more than 1 MiB".to_owned()));
        if checked.route.versioned {
            refusals.push((412, "conflict: the item has another version than If-Match names".to_owned()));
        }
    }
    refusals
}
