//! Notifications: what people were told, are told, or could not be told.

use std::fmt;
use std::str::FromStr;

use querent_core::{Action, ChannelName, DeliveryStatus, Errand, ItemId, QuestionId, Refusal};
use querent_hub::Deliveries;
use serde::{Deserialize, Serialize};

use super::call::{Call, Named};
use super::reply::Said;
use super::schema::{
    by, flag, formed, item_id, list, maybe, needed, next_cursor, paged, question_id, shape, shaped, word,
};
use super::{Route, Run, Verb};
use crate::paging::{self, foreign};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/deliveries",
        operation: "deliveries",
        tag: "notifications",
        summary: "List notifications, and what became of them",
        description: "Those of active questions; with `all`, also those of settled ones. `queued` are owed, `failed` had all their \
attempts.",
        fields: || {
            let status = word(DeliveryStatus::ALL, DeliveryStatus::as_str, "Only those that are this far");
            let mut fields = vec![
                maybe("item", item_id("Only those of this item")),
                maybe("status", status),
                maybe("all", flag("Also those of settled questions")),
            ];
            fields.extend(paged("^notify:CLR-[ -~]{1,300}$", "notify:CLR-42-001:1:asked:webhook"));
            fields
        },
        example: "",
        reply: || shaped([("deliveries", list(shape("Delivery"))), ("next_cursor", next_cursor())], &[]),
        versioned: false,
        run: Run::Now(deliveries),
    },
    Route {
        verb: Verb::Post,
        path: "/questions/{id}/deliveries/retry",
        operation: "deliveries_retry",
        tag: "notifications",
        summary: "Have the failed notifications of a question tried again",
        description: "This server sends them at once.",
        fields: || {
            let channel = formed("^[a-z0-9][a-z0-9-]{0,63}$", "webhook", "Only through this channel");
            vec![needed("id", question_id("The question's id")), maybe("channel", channel), by()]
        },
        example: r#"{"channel": "webhook"}"#,
        reply: || shape("StatusReply"),
        versioned: false,
        run: Run::Now(retry),
    },
];

/// Where a notification stands in the list: what makes it the same one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place(String);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Place {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        text.starts_with("notify:").then(|| Self(text.to_owned())).ok_or_else(foreign)
    }
}

fn deliveries(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        item: Option<ItemId>,
        status: Option<DeliveryStatus>,
        #[serde(default)]
        all: bool,
        limit: Option<usize>,
        cursor: Option<String>,
    }
    #[derive(Serialize)]
    struct Reply {
        deliveries: Vec<Deliveries>,
        next_cursor: Option<String>,
    }
    let Args { item, status, all, limit, cursor } = call.read()?;
    let mut found = call.site.hub.deliveries(item.as_ref(), all)?;
    found.retain(|it| status.is_none_or(|status| it.status == status));
    found.sort_by(|a, b| a.effect.cmp(&b.effect));
    let page = paging::sorted(found, |it| Place(it.effect.clone()), cursor.as_deref(), paging::limit(limit))?;
    Ok(Said::new(&Reply { deliveries: page.entries, next_cursor: page.next }))
}

fn retry(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: QuestionId,
        channel: Option<ChannelName>,
        by: Option<Named>,
    }
    let Args { id, channel, by } = call.read()?;
    let action = Action::Errand { question: id.clone(), errand: Errand::Requeue { channel } };
    Ok(call.execute(id.item, call.speaks(by)?, action))
}
