//! `OpenAI`'s Responses API: what is sent. What comes back is read by [`parse`].

mod parse;

use serde_json::{Value, json};

use crate::api::{Model, Vendor, system};
use crate::order::Order;

/// `OpenAI`.
pub(crate) static VENDOR: Vendor = Vendor {
    address: "https://api.openai.com",
    path: "/v1/responses",
    key_env: "OPENAI_API_KEY",
    headers,
    body,
    reading: || Box::new(parse::Response::default()),
};

fn headers(key: &str) -> Vec<(&'static str, String)> {
    vec![("authorization", format!("Bearer {key}"))]
}

fn body(model: &Model, order: &Order) -> Value {
    let mut body = json!({
        "model": model.name,
        "stream": true,
        // Nothing of ours is kept there: there is no session to go on with.
        "store": false,
        "instructions": system(order),
        "input": order.prompt,
    });
    if let (Some(most), Value::Object(fields)) = (model.max_tokens, &mut body) {
        fields.insert("max_output_tokens".to_owned(), most.into());
    }
    body
}
