//! The four model APIs, as far as an agent needs them: what a request says, and a move as a stream of events.

use serde_json::{Value, json};

/// A model API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Anthropic Messages.
    Messages,
    /// `OpenAI` Responses.
    Responses,
    /// `OpenAI` Chat Completions.
    Chat,
    /// Gemini `generateContent`.
    Gemini,
}

/// A tool as the agent offers it to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tool {
    /// Its name in a call.
    pub(super) name: String,
    /// The group that it stands in, where the API has groups.
    pub(super) group: Option<String>,
}

/// What a request says that matters here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Conversation {
    /// The tools that can be called.
    pub(super) tools: Vec<Tool>,
    /// What the calls so far came back with, the oldest first.
    pub(super) results: Vec<String>,
    /// What the model was told since it last spoke, if that was after the last result: then it was called again.
    pub(super) news: Option<String>,
}

/// A part of the conversation so far.
enum Entry {
    /// What a call came back with.
    Result(String),
    /// The model spoke.
    Spoke,
    /// It was told this.
    Told(String),
}

/// What the model does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// It calls a tool; the number makes the call's id.
    Call { tool: Tool, arguments: Value, number: usize },
    /// It says a text and is done.
    Say(String),
}

impl Dialect {
    /// The API whose address this is.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        let known = [
            ("/messages", Self::Messages),
            ("/responses", Self::Responses),
            ("/chat/completions", Self::Chat),
            (":streamGenerateContent", Self::Gemini),
            (":generateContent", Self::Gemini),
        ];
        known.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, dialect)| dialect)
    }

    /// What the request says.
    pub(super) fn read(self, request: &Value) -> Conversation {
        let tools = each(&request["tools"]).flat_map(|tool| self.tools(tool)).collect();
        let (mut results, mut news) = (Vec::new(), None::<String>);
        for entry in self.entries(request) {
            match entry {
                Entry::Result(result) => {
                    results.push(result);
                    news = None;
                }
                Entry::Spoke => news = Some(String::new()),
                Entry::Told(text) => news = news.map(|before| before + &text),
            }
        }
        Conversation { tools, results, news }
    }

    fn entries(self, request: &Value) -> Vec<Entry> {
        let said = |by: &Value, words: &Value| match by.as_str() {
            Some("user") => Some(Entry::Told(text(words))),
            Some("assistant" | "model") => Some(Entry::Spoke),
            _ => None,
        };
        let result = |content: &Value| Some(Entry::Result(text(content)));
        match self {
            Self::Messages => {
                let blocks =
                    each(&request["messages"]).flat_map(|it| parts(&it["content"]).map(|part| (&it["role"], part)));
                let entry = |(role, part): (&Value, &Value)| match part["type"].as_str() {
                    Some("tool_result") => result(&part["content"]),
                    Some("text") => said(role, &part["text"]),
                    None => said(role, part),
                    Some(_) => None,
                };
                blocks.filter_map(entry).collect()
            }
            Self::Responses => {
                let entry = |it: &Value| match it["type"].as_str() {
                    Some("function_call_output") => result(&it["output"]),
                    Some("message") => said(&it["role"], &it["content"]),
                    _ => None,
                };
                each(&request["input"]).filter_map(entry).collect()
            }
            Self::Chat => {
                let entry = |it: &Value| match it["role"].as_str() {
                    Some("tool") => result(&it["content"]),
                    _ => said(&it["role"], &it["content"]).filter(|_| !it["content"].is_null()),
                };
                each(&request["messages"]).filter_map(entry).collect()
            }
            Self::Gemini => {
                let parts =
                    each(&request["contents"]).flat_map(|it| each(&it["parts"]).map(|part| (&it["role"], part)));
                let entry = |(role, part): (&Value, &Value)| match part.get("functionResponse") {
                    Some(it) => result(&it["response"]),
                    None => part.get("text").and_then(|words| said(role, words)),
                };
                parts.filter_map(entry).collect()
            }
        }
    }

    fn tools(self, tool: &Value) -> Vec<Tool> {
        let named = |it: &Value, group: Option<&str>| {
            let name = it["name"].as_str()?.to_owned();
            Some(Tool { name, group: group.map(str::to_owned) })
        };
        match self {
            Self::Responses if tool["type"] == "namespace" => {
                each(&tool["tools"]).filter_map(|it| named(it, tool["name"].as_str())).collect()
            }
            Self::Messages | Self::Responses => named(tool, None).into_iter().collect(),
            Self::Chat => named(&tool["function"], None).into_iter().collect(),
            Self::Gemini => each(&tool["functionDeclarations"]).filter_map(|it| named(it, None)).collect(),
        }
    }

    /// The move as the body of an event stream.
    pub(super) fn stream(self, next: &Move) -> String {
        match self {
            Self::Messages => named_events(&messages(next)),
            Self::Responses => named_events(&responses(next)),
            Self::Chat => format!("{}data: [DONE]\n\n", events(&chat(next))),
            Self::Gemini => events(&[gemini(next)]),
        }
    }

    /// The move as one JSON object, for a request that wants no stream.
    pub(super) fn whole(self, next: &Move) -> Value {
        match self {
            Self::Messages => message(next),
            Self::Responses => response("completed", &[item(next)]),
            Self::Chat => completion("message", &choice(next), Some(reason(next))),
            Self::Gemini => gemini(next),
        }
    }
}

/// The elements of a list; none of anything else.
fn each(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

/// The parts of a message; one that is no list is its only part.
fn parts(content: &Value) -> impl Iterator<Item = &Value> {
    content.as_array().map_or_else(|| std::slice::from_ref(content), Vec::as_slice).iter()
}

/// The text of a tool's result: a string, parts of text, or what it is as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => match (fields.get("output"), fields.get("error")) {
            (Some(inner), _) | (None, Some(inner)) => text(inner),
            (None, None) => value.to_string(),
        },
        other => other.to_string(),
    }
}

fn events(payloads: &[Value]) -> String {
    payloads.iter().fold(String::new(), |stream, payload| format!("{stream}data: {payload}\n\n"))
}

fn named_events(payloads: &[Value]) -> String {
    payloads.iter().fold(String::new(), |stream, payload| {
        let name = payload["type"].as_str().unwrap_or("event");
        format!("{stream}event: {name}\ndata: {payload}\n\n")
    })
}

fn messages(next: &Move) -> Vec<Value> {
    let whole = message(next);
    let mut begun = whole.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    let (block, delta) = match next {
        Move::Say(text) => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text})),
        Move::Call { arguments, .. } => {
            let mut block = whole["content"][0].clone();
            block["input"] = json!({});
            (block, json!({"type": "input_json_delta", "partial_json": arguments.to_string()}))
        }
    };
    let end = json!({"stop_reason": whole["stop_reason"], "stop_sequence": null});
    vec![
        json!({"type": "message_start", "message": begun}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ]
}

fn message(next: &Move) -> Value {
    let (block, reason) = match next {
        Move::Say(text) => (json!({"type": "text", "text": text}), "end_turn"),
        Move::Call { tool, arguments, number } => {
            let id = format!("toolu_{number}");
            (json!({"type": "tool_use", "id": id, "name": tool.name, "input": arguments}), "tool_use")
        }
    };
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "stub", "content": [block],
        "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}})
}

fn responses(next: &Move) -> Vec<Value> {
    let item = item(next);
    vec![
        json!({"type": "response.created", "response": response("in_progress", &[])}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response("completed", &[item])}),
    ]
}

fn response(status: &str, output: &[Value]) -> Value {
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}});
    json!({"id": "resp_1", "object": "response", "status": status, "output": output, "usage": usage})
}

fn item(next: &Move) -> Value {
    match next {
        Move::Say(text) => json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        Move::Call { tool, arguments, number } => {
            let id = format!("call_{number}");
            let mut item = json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": id,
                "status": "completed", "name": tool.name, "arguments": arguments.to_string()});
            if let Some(group) = &tool.group {
                item["namespace"] = json!(group);
            }
            item
        }
    }
}

fn chat(next: &Move) -> Vec<Value> {
    vec![completion("delta", &choice(next), None), completion("delta", &json!({}), Some(reason(next)))]
}

fn choice(next: &Move) -> Value {
    match next {
        Move::Say(text) => json!({"role": "assistant", "content": text}),
        Move::Call { tool, arguments, number } => {
            let function = json!({"name": tool.name, "arguments": arguments.to_string()});
            let call = json!({"index": 0, "id": format!("call_{number}"), "type": "function", "function": function});
            json!({"role": "assistant", "content": null, "tool_calls": [call]})
        }
    }
}

fn reason(next: &Move) -> &'static str {
    match next {
        Move::Say(_) => "stop",
        Move::Call { .. } => "tool_calls",
    }
}

fn completion(part: &str, choice: &Value, reason: Option<&str>) -> Value {
    let object = if part == "delta" { "chat.completion.chunk" } else { "chat.completion" };
    json!({"id": "chat_1", "object": object, "created": 0, "model": "stub",
        "choices": [{"index": 0, part: choice, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
}

fn gemini(next: &Move) -> Value {
    let part = match next {
        Move::Say(text) => json!({"text": text}),
        Move::Call { tool, arguments, number } => {
            json!({"functionCall": {"id": format!("call_{number}"), "name": tool.name, "args": arguments}})
        }
    };
    json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, group: Option<&str>) -> Tool {
        Tool { name: name.to_owned(), group: group.map(str::to_owned) }
    }

    #[test]
    fn an_api_is_known_by_its_address() {
        assert_eq!(Dialect::of("/v1/messages?beta=true"), Some(Dialect::Messages));
        assert_eq!(Dialect::of("/v1/messages/count_tokens"), None);
        assert_eq!(Dialect::of("/v1/responses"), Some(Dialect::Responses));
        assert_eq!(Dialect::of("/v1/chat/completions"), Some(Dialect::Chat));
        assert_eq!(Dialect::of("/v1beta/models/m:streamGenerateContent?alt=sse"), Some(Dialect::Gemini));
    }

    #[test]
    fn tools_and_results_are_found_in_every_api() {
        let messages = json!({"tools": [{"name": "a"}], "messages": [{"content": "hi"},
            {"content": [{"type": "tool_result", "content": [{"type": "text", "text": "one"}]}]}]});
        let responses = json!({"tools": [{"type": "namespace", "name": "g", "tools": [{"name": "a"}]}],
            "input": [{"type": "message"}, {"type": "function_call_output", "output": "one"}]});
        let chat = json!({"tools": [{"function": {"name": "a"}}], "messages": [{"role": "tool", "content": "one"}]});
        let gemini = json!({"tools": [{"functionDeclarations": [{"name": "a"}]}],
            "contents": [{"parts": [{"functionResponse": {"response": {"output": "one"}}}]}]});
        for (dialect, request, group) in [
            (Dialect::Messages, messages, None),
            (Dialect::Responses, responses, Some("g")),
            (Dialect::Chat, chat, None),
            (Dialect::Gemini, gemini, None),
        ] {
            let wanted = Conversation { tools: vec![tool("a", group)], results: vec!["one".to_owned()], news: None };
            assert_eq!(dialect.read(&request), wanted, "{dialect:?}");
        }
    }

    #[test]
    fn what_it_was_told_after_it_had_spoken_is_found_in_every_api() {
        let part = |role: &str, words: &str| json!({"role": role, "content": [{"type": "text", "text": words}]});
        let messages = json!({"messages": [{"role": "user", "content": "old"},
            {"role": "user", "content": [{"type": "tool_result", "content": "one"}, {"type": "text", "text": "aside"}]},
            part("assistant", "I wait."), {"role": "user", "content": "new"}, part("user", "er")]});
        let message = |role: &str, words: &str| json!({"type": "message", "role": role, "content": [{"text": words}]});
        let responses = json!({"input": [message("user", "old"), {"type": "function_call_output", "output": "one"},
            message("assistant", "I wait."), message("user", "new"), message("developer", "aside"), message("user", "er")]});
        let line = |role: &str, words: &str| json!({"role": role, "content": words});
        let chat = json!({"messages": [line("user", "old"), {"role": "assistant", "content": null}, line("tool", "one"),
            line("assistant", "I wait."), line("user", "new"), line("user", "er")]});
        let said = |role: &str, words: &str| json!({"role": role, "parts": [{"text": words}]});
        let gemini = json!({"contents": [said("user", "old"), {"role": "user", "parts": [{"functionResponse":
            {"response": {"output": "one"}}}]}, said("model", "I wait."), said("user", "new"), said("user", "er")]});
        for (dialect, request) in [
            (Dialect::Messages, messages),
            (Dialect::Responses, responses),
            (Dialect::Chat, chat),
            (Dialect::Gemini, gemini),
        ] {
            let talk = dialect.read(&request);
            assert_eq!((talk.results, talk.news), (vec!["one".to_owned()], Some("newer".to_owned())), "{dialect:?}");
        }
    }

    #[test]
    fn every_event_is_json_and_carries_the_call_and_the_text() {
        let call = Move::Call { tool: tool("ask", Some("g")), arguments: json!({"x": 1}), number: 7 };
        for dialect in [Dialect::Messages, Dialect::Responses, Dialect::Chat, Dialect::Gemini] {
            for (next, word) in [(&call, "\"ask\""), (&Move::Say("tea".to_owned()), "\"tea\"")] {
                let stream = dialect.stream(next);
                let payloads = stream.lines().filter_map(|line| line.strip_prefix("data: "));
                for payload in payloads.filter(|it| *it != "[DONE]") {
                    assert!(serde_json::from_str::<Value>(payload).is_ok(), "{payload}");
                }
                assert!(stream.contains(word), "{stream}");
                assert!(dialect.whole(next).to_string().contains(word));
            }
        }
    }
}
