//! Batches of messages, which one version of the protocol has: what comes in one line is answered in one line.

use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};

use super::spell::spelt;

/// The batches that have no reply yet.
#[derive(Default)]
pub(super) struct Batches(Vec<Batch>);

#[derive(Default)]
struct Batch {
    /// The requests that have none.
    open: Vec<RequestId>,
    /// The others, as they are written.
    replies: Vec<Vec<u8>>,
}

impl Batches {
    /// These came in one line.
    pub(super) fn begin(&mut self, messages: &[ClientJsonRpcMessage]) {
        let open: Vec<RequestId> = messages.iter().filter_map(request).cloned().collect();
        if !open.is_empty() {
            self.0.push(Batch { open, ..Batch::default() });
        }
    }

    /// What is to be written, now that there is this message. A reply to a request of a batch waits for the others.
    pub(super) fn write(&mut self, message: ServerJsonRpcMessage) -> serde_json::Result<Option<Vec<u8>>> {
        let to = match &message {
            ServerJsonRpcMessage::Response(reply) => Some(&reply.id),
            ServerJsonRpcMessage::Error(reply) => reply.id.as_ref(),
            _ => None,
        };
        let place = to.and_then(|to| self.find(to));
        let line = spelt(message)?;
        Ok(match place {
            Some((number, request)) => self.settle(number, request, Some(line)),
            None => Some(line),
        })
    }

    /// What is to be written, now that a request has been cancelled and its batch need not wait for it.
    pub(super) fn cancel(&mut self, request: &RequestId) -> Option<Vec<u8>> {
        self.find(request).and_then(|(number, request)| self.settle(number, request, None))
    }

    /// The batch of a request that has no reply yet, and its place there.
    fn find(&self, request: &RequestId) -> Option<(usize, usize)> {
        let place = |batch: &Batch| batch.open.iter().position(|id| id == request);
        self.0.iter().enumerate().find_map(|(number, batch)| Some((number, place(batch)?)))
    }

    fn settle(&mut self, number: usize, request: usize, reply: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let batch = &mut self.0[number];
        batch.open.swap_remove(request);
        batch.replies.extend(reply);
        let complete = batch.open.is_empty().then(|| self.0.swap_remove(number).replies);
        complete.filter(|replies| !replies.is_empty()).map(|replies| [b"[", &*replies.join(&b','), b"]"].concat())
    }
}

fn request(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rmcp::ErrorData;

    use super::*;

    /// What is written once the request of this id has its reply.
    fn written(batches: &mut Batches, id: i64) -> String {
        let reply = ServerJsonRpcMessage::error(ErrorData::invalid_request("no", None), Some(RequestId::Number(id)));
        String::from_utf8(batches.write(reply).unwrap().unwrap_or_default()).unwrap()
    }

    fn reply(id: i64) -> String {
        written(&mut Batches::default(), id)
    }

    #[test]
    fn the_replies_of_a_batch_go_out_together_and_others_at_once() {
        let pings = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},
            {"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
        let mut batches = Batches::default();
        batches.begin(&serde_json::from_str::<Vec<_>>(pings).unwrap());

        assert_eq!(written(&mut batches, 2), "");
        assert_eq!(written(&mut batches, 3), reply(3));
        assert_eq!(written(&mut batches, 1), format!("[{},{}]", reply(2), reply(1)));
        assert_eq!(written(&mut batches, 1), reply(1));
    }

    #[test]
    fn a_request_that_was_cancelled_holds_nothing_up() {
        let pings = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
        let mut batches = Batches::default();
        batches.begin(&serde_json::from_str::<Vec<_>>(pings).unwrap());
        assert_eq!(written(&mut batches, 2), "");

        let line = batches.cancel(&RequestId::Number(1)).unwrap_or_default();

        assert_eq!(String::from_utf8(line).unwrap(), format!("[{}]", reply(2)));
        assert_eq!(batches.cancel(&RequestId::Number(1)), None);
    }

    #[test]
    fn a_batch_of_notifications_has_no_reply() {
        let mut batches = Batches::default();
        let told = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
        batches.begin(&serde_json::from_str::<Vec<_>>(told).unwrap());

        assert_eq!(batches.0.len(), 0);
    }
}
