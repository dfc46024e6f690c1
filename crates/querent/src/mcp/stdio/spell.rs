//! A message as it is written. What a tool says may be spelt already, and then goes on as it is.

use rmcp::model::{JsonRpcResponse, ServerJsonRpcMessage, ServerResult};
use serde_json::Value;

/// What stands where data belongs that is spelt already.
const GAP: &[u8] = b"\"structuredContent\":null";
const NULL: usize = b"null".len();

/// A message as it is written. The data of a tool is an object; where it is a text, that is the spelling of the object.
pub(super) fn spelt(mut message: ServerJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    let Some(text) = taken(&mut message) else { return serde_json::to_vec(&message) };
    // The same in words is shorter.
    let mut line = Vec::with_capacity(2 * text.len());
    serde_json::to_writer(&mut line, &message)?;
    // It stands near the end. No text can look like it: the quotes in a text are escaped.
    let Some(gap) = line.windows(GAP.len()).rposition(|part| part == GAP) else {
        if let Some(data) = data(&mut message) {
            *data = serde_json::from_str(&text)?;
        }
        return serde_json::to_vec(&message);
    };
    let rest = line.split_off(gap + GAP.len());
    line.truncate(gap + GAP.len() - NULL);
    line.extend_from_slice(text.as_bytes());
    line.extend_from_slice(&rest);
    Ok(line)
}

/// Data that is spelt already; null stays where it was.
fn taken(message: &mut ServerJsonRpcMessage) -> Option<String> {
    match data(message).filter(|data| data.is_string())?.take() {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn data(message: &mut ServerJsonRpcMessage) -> Option<&mut Value> {
    match message {
        ServerJsonRpcMessage::Response(JsonRpcResponse { result: ServerResult::CallToolResult(result), .. }) => {
            result.structured_content.as_mut()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use querent_core::canonical;
    use rmcp::model::{CallToolResult, ContentBlock, RequestId, ResultType};
    use serde_json::json;

    use super::*;

    /// What a tool says, as data and in these words.
    fn said(data: Value, words: &str, result_type: Option<ResultType>) -> ServerJsonRpcMessage {
        let mut result = CallToolResult::success(vec![ContentBlock::text(words)]);
        (result.structured_content, result.result_type) = (Some(data), result_type);
        ServerJsonRpcMessage::response(ServerResult::CallToolResult(result), RequestId::Number(7))
    }

    #[test]
    fn data_that_is_spelt_already_is_written_as_its_tree_is() {
        let odd = "\"structuredContent\":null, \\\"structuredContent\\\":null \u{1f600} \u{e4}\u{2028}\u{7f}\n\t\u{1}";
        let tree =
            json!({ "z": [{ "y": null, "structuredContent": null, "b": [{}, { odd: odd }] }], "a": -0.5e-9, "": "" });
        for data in [tree, json!({}), json!({ "structuredContent": null })] {
            for (words, result_type) in [("", None), (odd, None), ("Two\nlines", Some(ResultType::COMPLETE))] {
                let spelling = canonical::spelt(&data).unwrap();

                let line = spelt(said(Value::String(spelling), words, result_type.clone())).unwrap();

                let same = said(canonical::sorted(data.clone()), words, result_type);
                assert_eq!(String::from_utf8(line).unwrap(), serde_json::to_string(&same).unwrap());
            }
        }
    }

    #[test]
    fn what_is_not_spelt_yet_is_written_as_ever() {
        let messages = [
            said(json!({ "b": 1, "a": 2 }), "words", None),
            ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(1)),
            ServerJsonRpcMessage::error(rmcp::ErrorData::invalid_request("no", None), None),
        ];
        for message in messages {
            assert_eq!(spelt(message.clone()).unwrap(), serde_json::to_vec(&message).unwrap());
        }
    }
}
