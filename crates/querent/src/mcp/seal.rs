//! What a client carries for us between two rounds of a call, sealed so that nobody can change it.

use std::time::Duration;

use querent_core::{Code, QuestionId, Refusal};
use querent_hub::{Key, Project};
use rmcp::ErrorData;
use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};

/// How long a form may lie on a person's desk.
const LASTS: Duration = Duration::from_hours(24);

/// Seals and opens. Its key stands in the project, so that a server that was started again still knows its own.
pub(crate) struct Seal(RequestStateCodec);

impl Seal {
    /// With the key of the project; made if there is none.
    pub(crate) fn of(project: &Project) -> Result<Self, Refusal> {
        let codec = RequestStateCodec::try_new(Key::of(project, "mcp")?.bytes()).map_err(|error| {
            let message = format!("the key of this project's MCP server is damaged: {error}");
            Refusal::new(Code::StorageError, message, "remove .querent/run/mcp.key; the next call makes a new one")
        })?;
        Ok(Self(codec))
    }

    /// The question that a call is about, for its next round. Only the same caller can open it, in a call of the same tool.
    pub(crate) fn seal(&self, question: &QuestionId, bound: &str) -> String {
        self.seal_for(LASTS, question, bound)
    }

    fn seal_for(&self, lasts: Duration, question: &QuestionId, bound: &str) -> String {
        let options = SealOptions::new().associated_data(bound.as_bytes()).ttl(lasts);
        self.0.seal_with(question.to_string().as_bytes(), &options)
    }

    /// What was sealed.
    pub(crate) fn open(&self, sealed: &str, bound: &str) -> Result<QuestionId, ErrorData> {
        let opened = self.0.open_with(sealed, bound.as_bytes()).map_err(|error| {
            let cure = match error {
                RequestStateError::Expired => "it has expired; call await_answer with the question's id",
                _ => "it is not what this server gave out; call the tool again without it",
            };
            ErrorData::invalid_params(format!("requestState: {cure}"), None)
        })?;
        let text = String::from_utf8(opened).unwrap_or_default();
        text.parse().map_err(|refusal: Refusal| ErrorData::invalid_params(refusal.message, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_opened_by_the_same_caller_also_after_a_restart_and_by_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        let (project, _) = Project::init(dir.path(), None, "feature").unwrap_or_else(|it| panic!("{it:?}"));
        let question: QuestionId = "CLR-42-001".parse().unwrap();
        let sealed = Seal::of(&project).unwrap_or_else(|it| panic!("{it:?}")).seal(&question, "engineer");

        let again = Seal::of(&project).unwrap_or_else(|it| panic!("{it:?}"));

        assert_eq!(again.open(&sealed, "engineer").unwrap(), question);
        assert!(again.open(&sealed, "architect").is_err());
        let tampered = sealed.replace(sealed.chars().nth(20).unwrap(), "_");
        assert!(again.open(&tampered, "engineer").unwrap_err().message.contains("requestState"));
        assert!(again.open("", "engineer").is_err());
    }

    #[test]
    fn what_has_expired_is_told_with_the_way_to_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let (project, _) = Project::init(dir.path(), None, "feature").unwrap_or_else(|it| panic!("{it:?}"));
        let seal = Seal::of(&project).unwrap_or_else(|it| panic!("{it:?}"));
        let expired = seal.seal_for(Duration::ZERO, &"CLR-42-001".parse().unwrap(), "engineer");

        // It lasts to the end of the millisecond in which it was sealed.
        let told = loop {
            if let Err(error) = seal.open(&expired, "engineer") {
                break error.message;
            }
        };

        assert_eq!(told, "requestState: it has expired; call await_answer with the question's id");
    }
}
