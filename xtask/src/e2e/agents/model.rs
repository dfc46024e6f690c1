//! The model behind the agents, on loopback: it asks Querent what it was told to ask, waits, and says what came back.
//!
//! It thinks nothing. Its next move follows from the conversation that a request carries, so that requests may be
//! repeated, and come in any order.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use super::dialect::{Conversation, Dialect, Move, Tool};

/// What the final text of an agent begins with; the answer's value follows.
pub(super) const FINAL: &str = "The answer was: ";

/// A model that serves until it is dropped.
pub(super) struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: Option<JoinHandle<()>>,
}

/// What a model is there for.
struct Part {
    /// The arguments of `question_create`.
    question: Value,
    /// What it says where it has no tools to ask with.
    words: String,
    /// Whether it waits for the answer, or ends its turn to be called again.
    waits: bool,
}

/// A request to a model, as it was and as it is understood.
#[derive(Clone)]
pub(super) struct Heard {
    /// The whole of it, head and body.
    pub(super) text: String,
    pub(super) conversation: Conversation,
}

struct Shared {
    part: Part,
    /// A line for each request.
    seen: Mutex<Vec<String>>,
    /// The requests that a model is for.
    heard: Mutex<Vec<Heard>>,
    /// Is told each line at once.
    listener: Listener,
    over: AtomicBool,
}

/// Who is told what the model was asked, and did.
type Listener = Box<dyn Fn(&str) + Send + Sync>;

impl Model {
    /// A model that asks `question`, and tells `told` a line for each request.
    pub(super) fn start(question: Value, told: impl Fn(&str) + Send + Sync + 'static) -> Result<Self, String> {
        Self::play(Part { question, words: "There is nothing that I can call.".to_owned(), waits: true }, told)
    }

    /// One that asks `question`, and says `words` where it has no tools to ask with.
    pub(super) fn with_words(question: Value, words: &str) -> Result<Self, String> {
        Self::play(Part { question, words: words.to_owned(), waits: true }, |_| ())
    }

    /// One that asks `question` and ends its turn; called again, it says what it was told.
    pub(super) fn that_is_called_again(question: Value) -> Result<Self, String> {
        Self::play(Part { question, words: "There is nothing that I can call.".to_owned(), waits: false }, |_| ())
    }

    fn play(part: Part, told: impl Fn(&str) + Send + Sync + 'static) -> Result<Self, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let (seen, heard, over) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(Shared { part, seen, heard, listener: Box::new(told), over });
        let own = Arc::clone(&shared);
        let server = thread::spawn(move || serve(&listener, &own));
        Ok(Self { address, shared, server: Some(server) })
    }

    /// Its address, without a path.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked of it that is not its own: attempts to reach somebody else, for whom it is the proxy.
    pub(super) fn strangers(&self) -> Vec<String> {
        let is_strange = |line: &String| line.starts_with("CONNECT ") || line.contains(" http://");
        self.seen().into_iter().filter(is_strange).collect()
    }

    /// What it was asked, and what it did, a line a request.
    pub(super) fn seen(&self) -> Vec<String> {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The requests so far.
    pub(super) fn heard(&self) -> Vec<Heard> {
        self.shared.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // A connection wakes the server, which then sees that it is over.
        drop(TcpStream::connect(self.address));
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().map_while(Result::ok) {
        if shared.over.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            let Some(request) = Request::read(&stream) else { return };
            let (line, reply) = shared.reply(&request);
            (shared.listener)(&line);
            shared.seen.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            // Whoever hung up needs no reply.
            let _ = (&stream).write_all(reply.as_bytes());
        });
    }
}

impl Shared {
    /// The reply, and a line for the log.
    fn reply(&self, request: &Request) -> (String, String) {
        let asked = format!("{} {}", request.method, request.path);
        let dialect = Dialect::of(&request.path).filter(|_| request.method == "POST");
        let Some(dialect) = dialect else {
            let body = json!({"error": {"type": "not_found_error", "message": "this model has no such page"}});
            return (format!("{asked}: not found"), http("404 Not Found", "application/json", &body.to_string()));
        };
        let conversation = dialect.read(&request.body);
        let next = decide(&conversation, &self.part);
        let heard = Heard { text: format!("{}\n{}", request.head, request.body), conversation };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(heard);
        let line = format!("{asked}: {next:?}");
        let wants_stream = request.body["stream"] == true || request.path.contains(":streamGenerateContent");
        let reply = if wants_stream {
            http("200 OK", "text/event-stream", &dialect.stream(&next))
        } else {
            http("200 OK", "application/json", &dialect.whole(&next).to_string())
        };
        (line, reply)
    }
}

fn http(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

/// What a model does in its part.
fn decide(conversation: &Conversation, part: &Part) -> Move {
    let number = conversation.results.len() + 1;
    let call = |name: &str, arguments: Value| {
        let tool = conversation.tools.iter().find(|tool| is_called(tool, name))?.clone();
        Some(Move::Call { tool, arguments, number })
    };
    let next = match conversation.results.last() {
        None => call("question_create", part.question.clone()),
        Some(result) => match outcome(result) {
            Outcome::Open(_) if !part.waits => {
                let said = conversation.news.as_ref().map(|news| format!("{FINAL}{news}"));
                Some(Move::Say(said.unwrap_or_else(|| "I asked, and end my turn.".to_owned())))
            }
            Outcome::Open(id) => call("await_answer", json!({"question_id": id, "wait_seconds": 40})),
            Outcome::Final(text) => Some(Move::Say(format!("{FINAL}{text}"))),
        },
    };
    // Titles, summaries and the like are asked for without tools; so is an agent that is only to answer.
    next.unwrap_or_else(|| Move::Say(part.words.clone()))
}

/// Whether this is Querent's tool of that name, whatever its agent puts before it.
fn is_called(tool: &Tool, name: &str) -> bool {
    tool.name.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('_'))
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// The question of this id waits for its answer.
    Open(String),
    /// The answer's value, or what came instead of one.
    Final(String),
}

/// What a result says: some agents pass the data on, some the words, and some put words of their own before either.
fn outcome(result: &str) -> Outcome {
    let mut objects = result.match_indices('{').filter_map(|(place, _)| {
        let mut read = serde_json::Deserializer::from_str(&result[place..]).into_iter::<Value>();
        read.next()?.ok().filter(|value| value["question_id"].is_string())
    });
    let Some(reply) = objects.next() else { return outcome_in_words(result) };
    match (&reply["question_id"], &reply["answer"]["value"]) {
        (Value::String(id), Value::Null) if reply["next"].is_string() => Outcome::Open(id.clone()),
        (_, Value::Null) => Outcome::Final(reply.to_string()),
        (_, Value::String(value)) => Outcome::Final(value.clone()),
        (_, value) => Outcome::Final(value.to_string()),
    }
}

fn outcome_in_words(result: &str) -> Outcome {
    let rest = result.split_once("call await_answer with question_id ").map(|(_, rest)| rest);
    let id = rest.and_then(|rest| rest.split(|it: char| !(it.is_alphanumeric() || it == '-')).next());
    id.map_or_else(|| Outcome::Final(result.to_owned()), |id| Outcome::Open(id.to_owned()))
}

struct Request {
    method: String,
    path: String,
    /// Its headers, a line each.
    head: String,
    body: Value,
}

impl Request {
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut parts = line.split_whitespace();
        let (method, path) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        let (mut length, mut chunked, mut head) = (0, false, String::new());
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim().split_once(':') else { break };
            head.push_str(&header);
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
                _ => {}
            }
        }
        let body = if chunked { chunks(&mut reader)? } else { exactly(&mut reader, length)? };
        Some(Self { method, path, head, body: serde_json::from_slice(&body).unwrap_or_default() })
    }
}

fn exactly(reader: &mut impl Read, length: u64) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body).ok()?;
    Some(body)
}

fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = u64::from_str_radix(line.trim().split(';').next()?, 16).ok()?;
        body.extend(exactly(reader, length)?);
        reader.read_line(&mut String::new()).ok()?;
        if length == 0 {
            return Some(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(names: &[&str]) -> Vec<Tool> {
        names.iter().map(|name| Tool { name: (*name).to_owned(), group: None }).collect()
    }

    fn part(waits: bool) -> Part {
        Part { question: json!({"topic": "Tea"}), words: "tea".to_owned(), waits }
    }

    fn talk(names: &[&str]) -> Conversation {
        Conversation { tools: tools(names), ..Conversation::default() }
    }

    #[test]
    fn it_asks_waits_and_says_what_came_back() {
        let mut talk = talk(&["bash", "q_await_answer", "q_question_create"]);
        let called = |talk: &Conversation| match decide(talk, &part(true)) {
            Move::Call { tool, arguments, .. } => (tool.name, arguments),
            Move::Say(text) => (text, Value::Null),
        };
        assert_eq!(called(&talk), ("q_question_create".to_owned(), part(true).question));
        talk.results.push(r#"{"question_id":"CLR-42-001","answer":null,"next":"wait"}"#.to_owned());
        let wait = json!({"question_id": "CLR-42-001", "wait_seconds": 40});
        assert_eq!(called(&talk), ("q_await_answer".to_owned(), wait));
        talk.results.push(r#"{"question_id":"CLR-42-001","answer":{"value":"green"}}"#.to_owned());
        assert_eq!(called(&talk), ("The answer was: green".to_owned(), Value::Null));
    }

    #[test]
    fn it_says_something_where_it_has_no_tools() {
        assert!(matches!(decide(&talk(&["bash"]), &part(true)), Move::Say(said) if said == "tea"));
    }

    #[test]
    fn it_ends_its_turn_and_says_what_it_was_told_when_it_is_called_again() {
        let mut talk = talk(&["q_await_answer", "q_question_create"]);
        talk.results.push(r#"{"question_id":"CLR-42-001","answer":null,"next":"wait"}"#.to_owned());
        let said = |talk: &Conversation| match decide(talk, &part(false)) {
            Move::Say(said) => said,
            Move::Call { tool, .. } => tool.name,
        };
        assert_eq!(said(&talk), "I asked, and end my turn.");
        talk.news = Some("Green, says a person.".to_owned());
        assert_eq!(said(&talk), "The answer was: Green, says a person.");
    }

    #[test]
    fn words_are_understood_as_well_as_data() {
        let open = "Output:\nCLR-42-001 is open.\nNext: call await_answer with question_id CLR-42-001; do not guess.";
        assert_eq!(outcome(open), Outcome::Open("CLR-42-001".to_owned()));
        let said = "CLR-42-001 is resolved. The answer of human (human): green";
        assert_eq!(outcome(said), Outcome::Final(said.to_owned()));
        let data = "Wall time: 1 s\nOutput:\n{\"question_id\":\"CLR-42-001\",\"answer\":{\"value\":true}}";
        assert_eq!(outcome(data), Outcome::Final("true".to_owned()));
    }

    #[test]
    fn it_serves_and_remembers_who_wanted_to_go_elsewhere() {
        let model = Model::start(json!({}), |_| ()).unwrap();
        for (request, wanted) in [
            ("CONNECT host.example:443 HTTP/1.1\r\n\r\n", "404"),
            ("POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "end_turn"),
        ] {
            let mut stream = TcpStream::connect(model.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut reply = String::new();
            stream.read_to_string(&mut reply).unwrap();
            assert!(reply.contains(wanted), "{reply}");
        }
        assert_eq!(model.strangers(), ["CONNECT host.example:443: not found"]);
    }
}
