//! Anthropic's Messages API: what is sent. What comes back is read by [`parse`].

mod parse;

use serde_json::{Value, json};

use crate::api::{Model, Vendor, system};
use crate::order::Order;

/// The version of the API that this is written for.
const VERSION: &str = "2023-06-01";

/// The most tokens of a reply, which the API wants to be told, unless the config says otherwise.
const MAX_TOKENS: u32 = 16_000;

/// Anthropic.
pub(crate) static VENDOR: Vendor = Vendor {
    address: "https://api.anthropic.com",
    path: "/v1/messages",
    key_env: "ANTHROPIC_API_KEY",
    headers,
    body,
    reading: || Box::new(parse::Message::default()),
};

fn headers(key: &str) -> Vec<(&'static str, String)> {
    vec![("x-api-key", key.to_owned()), ("anthropic-version", VERSION.to_owned())]
}

fn body(model: &Model, order: &Order) -> Value {
    json!({
        "model": model.name,
        "max_tokens": model.max_tokens.unwrap_or(MAX_TOKENS),
        "stream": true,
        "system": system(order),
        "messages": [{"role": "user", "content": order.prompt}],
    })
}
