//! What a call comes to: the envelope as every surface has it, under the status that its code stands for.

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, ETAG, HeaderValue};
use axum::response::{IntoResponse, Response};
use querent_core::{Code, Envelope, Refusal};
use serde::Serialize;
use serde::de::IgnoredAny;

use super::parts::{self, Rest};

/// A reply.
pub(super) struct Said {
    envelope: Envelope,
    /// The version of the item that it shows.
    version: Option<u64>,
    /// What is said when there is more.
    rest: Option<Rest>,
}

impl From<Envelope> for Said {
    fn from(envelope: Envelope) -> Self {
        Self { envelope, version: None, rest: None }
    }
}

impl Said {
    /// Says `data`.
    pub(super) fn new(data: &impl Serialize) -> Self {
        Envelope::ok(data).into()
    }

    /// Says why not.
    pub(super) fn refused(refusal: &Refusal) -> Self {
        Envelope::refused(refusal).into()
    }

    /// The same, which shows an item as of this version.
    pub(super) fn at(mut self, version: u64) -> Self {
        self.version = Some(version);
        self
    }

    /// The same, in two parts: the other one comes when it is there.
    pub(super) fn then(mut self, rest: Rest) -> Self {
        self.rest = Some(rest);
        self
    }

    /// The response; `known` is what the caller has already (`If-None-Match`).
    pub(super) fn response(self, known: Option<&str>) -> Response {
        if let Some(rest) = self.rest {
            return parts::response(self.envelope, rest);
        }
        let mut response = match (self.version, known) {
            (Some(version), Some(known)) if is_known(known, version) => StatusCode::NOT_MODIFIED.into_response(),
            _ => {
                let status = status(&self.envelope);
                let mut response = Response::new(Body::from(self.envelope.into_string()));
                *response.status_mut() = status;
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                response
            }
        };
        if let Some(tag) = self.version.and_then(|version| HeaderValue::from_str(&format!("\"{version}\"")).ok()) {
            response.headers_mut().insert(ETAG, tag);
        }
        response
    }
}

/// A refusal under a status of its own.
pub(super) fn refused(status: StatusCode, refusal: &Refusal) -> Response {
    let mut response = Said::refused(refusal).response(None);
    *response.status_mut() = status;
    response
}

/// The status of an envelope.
fn status(envelope: &Envelope) -> StatusCode {
    if envelope.is_ok() {
        return StatusCode::OK;
    }
    match envelope.read::<IgnoredAny>() {
        Ok(_) => StatusCode::OK,
        // The caller named a version, and it is another now.
        Err(refusal) if refusal.code == Code::Conflict && refusal.details["field"] == "version" => {
            StatusCode::PRECONDITION_FAILED
        }
        Err(refusal) => status_of(refusal.code),
    }
}

/// The status that a code stands for.
pub(crate) const fn status_of(code: Code) -> StatusCode {
    match code {
        Code::InvalidInput | Code::Usage => StatusCode::BAD_REQUEST,
        Code::HumanOnly | Code::NotAddressee | Code::NotAsker | Code::Unauthorized => StatusCode::FORBIDDEN,
        Code::ItemNotFound | Code::QuestionNotFound => StatusCode::NOT_FOUND,
        Code::QuestionAlreadyAnswered | Code::QuestionConflictOpen | Code::OperationConflict | Code::Conflict => {
            StatusCode::CONFLICT
        }
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::LockTimeout | Code::StorageError => StatusCode::SERVICE_UNAVAILABLE,
        Code::NoProject
        | Code::InvalidConfig
        | Code::ItemNotRunnable
        | Code::UnknownAgent
        | Code::InvalidTransition
        | Code::ScopeViolation
        | Code::BlockingNotAllowed
        | Code::UnsupportedOperation
        | Code::ConditionsNotMet
        | Code::MaxRoundsExceeded
        | Code::QuestionInvalidAnswer
        | Code::QuestionAnswerNotAllowedInTerminalState
        | Code::FileLocked
        | Code::NotOwner
        | Code::AgentError => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// Whether one of the tags is that of this version.
fn is_known(tags: &str, version: u64) -> bool {
    let own = format!("\"{version}\"");
    tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_known_alone_in_a_list_and_weak() {
        for tags in ["\"7\"", "\"6\", \"7\"", "W/\"7\"", "*"] {
            assert!(is_known(tags, 7), "{tags}");
        }
        for tags in ["\"6\"", "7", "\"77\"", ""] {
            assert!(!is_known(tags, 7), "{tags}");
        }
    }
}
