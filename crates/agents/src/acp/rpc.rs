//! JSON-RPC 2.0 in lines, as far as the Agent Client Protocol needs it. Pure.

use serde_json::{Value, json};

/// The method is none that we have.
pub(super) const NO_METHOD: i64 = -32601;
/// The parameters do not fit.
pub(super) const BAD_PARAMS: i64 = -32602;
/// It could not be done.
pub(super) const FAILED: i64 = -32603;

/// The file is not there; agents tell this from all else, for they are about to make it.
pub(super) const NOT_FOUND: i64 = -32002;

/// What the other side says in a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// It wants something, and a reply that bears this id.
    Request { id: Value, method: String, params: Value },
    /// It tells something.
    Notice { method: String, params: Value },
    /// It replies to our request of this number.
    Reply { id: u64, result: Result<Value, Complaint> },
}

/// An error of the other side.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Complaint {
    pub(super) code: i64,
    pub(super) message: String,
}

/// Reads a line; none if it is no message.
pub(super) fn read(line: &str) -> Option<Message> {
    let Value::Object(mut fields) = serde_json::from_str(line).ok()? else { return None };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return None;
    }
    let id = fields.remove("id");
    if let Some(Value::String(method)) = fields.remove("method") {
        let params = fields.remove("params").unwrap_or_default();
        return Some(match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notice { method, params },
        });
    }
    let id = id?.as_u64()?;
    let result = match fields.remove("error") {
        Some(error) => Err(Complaint {
            code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: said(&error),
        }),
        None => Ok(fields.remove("result")?),
    };
    Some(Message::Reply { id, result })
}

/// What an error says; its details, where they are text, say more.
fn said(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("an error without a word");
    let data = error.get("data");
    let details = data.and_then(|data| data.as_str().or_else(|| data.get("details")?.as_str()));
    details.map_or_else(|| message.to_owned(), |details| format!("{message}: {details}"))
}

/// Our request of this number.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// Something that we tell.
pub(super) fn notice(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// Our reply to a request.
pub(super) fn reply(id: &Value, result: &Result<Value, (i64, String)>) -> String {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
        Err((code, message)) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_request_a_notice_or_a_reply() {
        let request = Message::Request { id: "a".into(), method: "m".to_owned(), params: json!([1]) };
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":[1]}"#), Some(request));
        let notice = Message::Notice { method: "m".to_owned(), params: Value::Null };
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"m"}"#), Some(notice));
        let reply = Message::Reply { id: 7, result: Ok(Value::Null) };
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":7,"result":null}"#), Some(reply));
        let error = Message::Reply { id: 7, result: Err(Complaint { code: -1, message: "No: why".to_owned() }) };
        for data in [r#""why""#, r#"{"details":"why"}"#] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":-1,"message":"No","data":{data}}}}}"#);
            assert_eq!(read(&line), Some(error.clone()));
        }
    }

    #[test]
    fn whatever_else_a_program_prints_is_no_message() {
        for line in [
            "",
            "Starting...",
            "{}",
            "[]",
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"id":1,"result":1}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn what_we_say_can_be_read() {
        let params = json!({"text": "a\nb"});
        let line = request(3, "m", &params);
        assert!(!line.contains('\n'));
        assert_eq!(
            read(&line),
            Some(Message::Request { id: 3.into(), method: "m".to_owned(), params: params.clone() })
        );
        assert_eq!(read(&notice("m", &params)), Some(Message::Notice { method: "m".to_owned(), params }));
        assert_eq!(read(&reply(&3.into(), &Ok(json!(1)))), Some(Message::Reply { id: 3, result: Ok(json!(1)) }));
        let error = Complaint { code: -1, message: "No".to_owned() };
        let refused = reply(&3.into(), &Err((-1, "No".to_owned())));
        assert_eq!(read(&refused), Some(Message::Reply { id: 3, result: Err(error) }));
    }
}
