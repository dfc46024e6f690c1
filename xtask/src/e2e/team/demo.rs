//! `querent demo --serve`: what it asks of a person is answered in the inbox, and it goes on.

use std::path::Path;

use serde_json::json;

use super::runner::Runner;
use crate::e2e::http::Client;
use crate::e2e::project::{Project, hold, same};

/// What is asked of a person: the question, and a line of the inbox; a permission first, then what two agents did not agree on.
const PERMISSION: [&str; 3] = ["CLR-export-001", "The export needs an index", "allow"];
const ESCALATED: [&str; 3] = ["CLR-checkout-001", "May somebody buy without an account?", "guest"];

pub(super) fn answered(binary: &Path) -> Result<(), String> {
    let place = Project::empty(binary)?;
    let (mut demo, mut client) = served(&place, &[])?;
    for [id, words, answer] in [PERMISSION, ESCALATED] {
        demo.wait_for_line(id, |line| line.contains(&format!("{id} is for you. Answer in the inbox")))?;
        let page = inbox(&mut client)?;
        hold(page.contains(id) && page.contains(words), || format!("{id} is not in the inbox: {page}"))?;
        let body = json!({"answer": answer, "by": "human:alice"}).to_string();
        let reply = client.call("POST", &format!("/api/v1/questions/{id}/answer"), "", &body);
        same(&reply.map_err(|error| error.to_string())?.data()?, "/answer/value", answer)?;
    }
    let told = ends(demo, &mut client)?;
    hold(told.contains("[Round 1] human:alice -> engineer"), || format!("the answer is not told: {told}"))?;
    let shop = Project::at(binary, &place.folder().join("shop"));
    for [id, _, answer] in [PERMISSION, ESCALATED] {
        let shown = shop.ok(&["show", id])?;
        same(&shown, "/question/status", "resolved")?;
        same(&shown, "/question/answer/value", answer)?;
        same(&shown, "/question/answer/by", "human:alice")?;
    }
    for item in ["sign-in", "checkout", "export", "launch"] {
        same(&shop.ok(&["item", "show", item])?, "/item/stage", "ready_to_merge")?;
    }
    same(&shop.ok(&["doctor"])?, "/healthy", true)
}

pub(super) fn fast(binary: &Path) -> Result<(), String> {
    let place = Project::empty(binary)?;
    let (demo, mut client) = served(&place, &["--fast"])?;
    let told = ends(demo, &mut client)?;
    let [id, ..] = ESCALATED;
    hold(told.contains(&format!("[EXPIRED] {id} nobody answered; the fallback is taken")), || told.clone())?;
    let shop = Project::at(binary, &place.folder().join("shop"));
    same(&shop.ok(&["show", id])?, "/question/answer/provenance", "fallback")
}

/// The demo under way, and its inbox, whose address it says first.
fn served(place: &Project, more: &[&str]) -> Result<(Runner, Client), String> {
    let mut demo = Runner::of(place.command(&[&["demo", "--serve", "--dir", "shop"], more].concat()))?;
    let line = demo.wait_for_line("the address", |line| line.starts_with("listening on http://127.0.0.1:"))?;
    let port = line.rsplit(':').next().and_then(|port| port.parse().ok());
    Ok((demo, Client::new(port.ok_or_else(|| format!("no port in {line}"))?)))
}

/// It comes to its digest, its inbox stays until it is interrupted, and nothing in it waits for anybody. Says what was told.
fn ends(mut demo: Runner, client: &mut Client) -> Result<String, String> {
    demo.wait_for_line("the digest", |line| line == "The digest")?;
    demo.wait_for_line("the end", |line| line.contains("until you press Ctrl-C"))?;
    let page = inbox(client)?;
    hold(!page.contains(ESCALATED[1]), || format!("it is still asked: {page}"))?;
    demo.signal("-INT")?;
    let status = demo.end()?;
    let told = demo.told.join("\n");
    hold(status.success(), || format!("the demo ended with {status}: {told}"))?;
    Ok(told)
}

fn inbox(client: &mut Client) -> Result<String, String> {
    let page = client.call("GET", "/", "", "").map_err(|error| error.to_string())?;
    hold(page.status == 200, || format!("there is no inbox ({}): {}", page.status, page.body))?;
    Ok(page.body)
}
