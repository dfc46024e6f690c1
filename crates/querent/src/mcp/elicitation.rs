//! A question to a human in the client's own form. Whoever accepts answers; whoever declines or cancels is nobody: the
//! question stays open everywhere else, and the first answer wins.
//!
//! Earlier eras are sent the form while the call waits. The era without sessions gets it as the call's result and comes back.

use std::collections::BTreeMap;

use querent_core::{Action, Code, Command, Expected, Party, Question, QuestionId, Refusal, Via};
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest, InputRequests,
    InputRequiredResult, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleServer, ServiceError};
use serde_json::{Map, Value, json};

use super::call::Call;
use super::outcome::Halt;

/// The name of our form among a call's.
const FORM: &str = "answer";
/// The form's fields: the answer, and what leaves the options.
const ANSWER: &str = "answer";
const OTHER: &str = "other";

/// A form that a client shows.
pub(crate) struct Offer(RequestHandle<RoleServer>);

/// What came back.
pub(crate) type Heard = Result<ClientResult, ServiceError>;

impl Offer {
    /// Shows the form, if the client has such forms and the question is for a human.
    pub(crate) async fn make(call: &Call, question: &Question) -> Option<Self> {
        if call.is_modern() || !is_offered(call, question) {
            return None;
        }
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(question)?));
        let handle = call.context.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        handle.ok().map(Self)
    }

    /// What the person says; never, without a form.
    pub(crate) async fn said(offer: &mut Option<Self>) -> Heard {
        match offer {
            Some(offer) => (&mut offer.0.rx).await.unwrap_or(Err(ServiceError::TransportClosed)),
            None => std::future::pending().await,
        }
    }

    /// Takes the form away.
    pub(crate) async fn withdraw(self) {
        // A client that is gone shows nothing anyway.
        let _ = self.0.cancel(Some("it is answered, or nobody waits for it any more".to_owned())).await;
    }
}

/// What a client of the era without sessions has to do first: show the form and come back.
pub(crate) fn required(call: &Call, question: &Question) -> Result<Option<InputRequiredResult>, Refusal> {
    if !call.is_modern() || call.request_state.is_some() {
        return Ok(None);
    }
    let Some(forms) = forms(call, question) else { return Ok(None) };
    let sealed = call.server.seal()?.seal(&question.id, &call.bound());
    Ok(Some(InputRequiredResult::new(Some(forms), Some(sealed))))
}

/// The form of a question that the client can show.
pub(crate) fn forms(call: &Call, question: &Question) -> Option<InputRequests> {
    let form = form(question).filter(|_| is_offered(call, question))?;
    Some(BTreeMap::from([(FORM.to_owned(), InputRequest::Elicitation(ElicitRequest::new(form)))]))
}

/// Takes what a client that came back brings.
pub(crate) async fn take(call: &Call, id: &QuestionId) -> Result<(), Halt> {
    match call.input_responses.get(FORM) {
        Some(said) => match serde_json::from_value::<ElicitResult>(said.clone()) {
            Ok(result) => answer(call, id, result).await,
            Err(error) => Err(rmcp::ErrorData::invalid_params(format!("inputResponses.{FORM}: {error}"), None).into()),
        },
        None => Ok(()),
    }
}

/// Takes what a person said while the call waited.
pub(crate) async fn heard(call: &Call, id: &QuestionId, said: Heard) -> Result<(), Halt> {
    if let Ok(ClientResult::ElicitResult(result)) = said {
        return answer(call, id, result).await;
    }
    // A client whose form broke has nobody there.
    call.server.put_away(id);
    Ok(())
}

async fn answer(call: &Call, id: &QuestionId, result: ElicitResult) -> Result<(), Halt> {
    let (ElicitationAction::Accept, Some(Value::Object(content))) = (result.action, result.content) else {
        call.server.put_away(id);
        return Ok(());
    };
    let (question, _) = call.question(id)?;
    let Some(answer) = given(&question, &content) else {
        call.server.put_away(id);
        return Ok(());
    };
    let action = Action::Answer { question: id.clone(), answer, note: None };
    let command = Command { item: id.item.clone(), by: Party::HUMAN, via: Via::Elicitation, action };
    match call.execute_as(command, None).await?.read::<Value>() {
        Ok(_) => Ok(()),
        // Another surface was faster, or it does not fit: the question is as it is, and the call waits on.
        Err(refusal) if refusal.code == Code::QuestionAlreadyAnswered => Ok(()),
        Err(refusal) => {
            call.server.put_away(id);
            log(&refusal);
            Ok(())
        }
    }
}

/// Says on the log why a form was not taken: the person sees no more of it.
#[expect(clippy::print_stderr, reason = "standard error is the log of a server on standard streams")]
fn log(refusal: &Refusal) {
    eprintln!("querent: an answer that was given in the client's form was refused: {}", refusal.message);
}

/// Whether the client has forms, and the question is one for a human that nobody put away here.
fn is_offered(call: &Call, question: &Question) -> bool {
    let forms = call.context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    let has_forms = forms.is_some_and(|it| it.form.is_some() || it.url.is_none());
    let by_agent = call.caller().party.as_ref().is_some_and(|party| party.agent().is_some());
    has_forms && by_agent && question.to.is_human() && call.server.may_show(&question.id)
}

/// The form of a question: its words, and one field of the form that it expects.
fn form(question: &Question) -> Option<ElicitRequestParams> {
    let mut message = format!("{}\n\n{}", question.topic, question.prompt);
    if let Some(context) = &question.context {
        message.push_str("\n\n");
        message.push_str(context);
    }
    let free = question.allow_free_text && !question.options.is_empty();
    let mut properties = Map::from_iter([(ANSWER.to_owned(), field(question))]);
    if free {
        properties.insert(OTHER.to_owned(), json!({ "type": "string", "title": "Something else" }));
    }
    let required: &[&str] = if free { &[] } else { &[ANSWER] };
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    serde_json::from_value(json!({ "mode": "form", "message": message, "requestedSchema": schema })).ok()
}

fn field(question: &Question) -> Value {
    let ids: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
    let choices: Vec<Value> =
        question.options.iter().map(|option| json!({ "const": option.id, "title": option.label })).collect();
    let recommended = question.options.iter().find(|option| option.recommended).map(|option| option.id.as_str());
    let mut field = match &question.expected {
        Expected::SingleChoice if ids.is_empty() => json!({ "type": "string" }),
        Expected::SingleChoice => json!({ "type": "string", "oneOf": choices }),
        Expected::MultiChoice => json!({ "type": "array", "items": { "anyOf": choices } }),
        Expected::Boolean => json!({ "type": "boolean" }),
        Expected::Number => json!({ "type": "number" }),
        Expected::Json { .. } => json!({ "type": "string", "description": "JSON" }),
        Expected::Text => json!({ "type": "string" }),
    };
    field["title"] = json!("Answer");
    if let (Expected::SingleChoice, Some(id)) = (&question.expected, recommended) {
        field["default"] = json!(id);
    }
    field
}

/// The answer in a form that was filled in; none if it is empty.
fn given(question: &Question, content: &Map<String, Value>) -> Option<Value> {
    let is_something = |value: &&Value| !value.is_null() && value.as_str() != Some("");
    let other = content.get(OTHER).filter(is_something);
    let answer = other.or_else(|| content.get(ANSWER).filter(is_something))?;
    match (&question.expected, answer) {
        (Expected::Json { .. }, Value::String(text)) => {
            Some(serde_json::from_str(text).unwrap_or_else(|_| answer.clone()))
        }
        _ => Some(answer.clone()),
    }
}
