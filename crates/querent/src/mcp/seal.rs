//! What a client carries for us between two rounds of a call, sealed so that nobody can change it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use querent_core::{Code, QuestionId, Refusal};
use rmcp::ErrorData;
use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};

/// How long a form may lie on a person's desk.
const LASTS: Duration = Duration::from_hours(24);
const KEY: &str = "mcp.key";

/// Seals and opens. Its key stands in the project, so that a server that was started again still knows its own.
pub(crate) struct Seal(RequestStateCodec);

impl Seal {
    /// With the key of the project whose `.querent/` this is; made if there is none.
    pub(crate) fn of(querent: &Path) -> Result<Self, Refusal> {
        let key = key(&querent.join("run")).map_err(|error| {
            let message = format!("the key of this project's MCP server cannot be read or made: {error}");
            Refusal::new(Code::StorageError, message, "check that .querent/run can be written")
        })?;
        let codec = RequestStateCodec::try_new(key).map_err(|error| {
            let hint = format!("remove .querent/run/{KEY}; the next call makes a new one");
            Refusal::new(Code::StorageError, format!("the key of this project's MCP server is damaged: {error}"), hint)
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

/// The key in the file, or a new one. Of several who make one at once, the first one's is kept.
fn key(run: &Path) -> io::Result<Vec<u8>> {
    let path = run.join(KEY);
    match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    fs::create_dir_all(run)?;
    let mut key = [0_u8; 32];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let made = tempfile(run, &key)?;
    let linked = fs::hard_link(&made, &path);
    fs::remove_file(&made)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::read(&path),
    }
}

/// A file of our own with the key, which only its owner reads.
fn tempfile(run: &Path, key: &[u8]) -> io::Result<std::path::PathBuf> {
    let path = run.join(format!("{KEY}.{}", std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path)?;
    file.write_all(key)?;
    file.sync_all()?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_opened_by_the_same_caller_also_after_a_restart_and_by_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        let question: QuestionId = "CLR-42-001".parse().unwrap();
        let sealed = Seal::of(dir.path()).unwrap_or_else(|it| panic!("{it:?}")).seal(&question, "engineer");

        let again = Seal::of(dir.path()).unwrap_or_else(|it| panic!("{it:?}"));

        assert_eq!(again.open(&sealed, "engineer").unwrap(), question);
        assert!(again.open(&sealed, "architect").is_err());
        let tampered = sealed.replace(sealed.chars().nth(20).unwrap(), "_");
        assert!(again.open(&tampered, "engineer").unwrap_err().message.contains("requestState"));
        assert!(again.open("", "engineer").is_err());
    }

    #[test]
    fn what_has_expired_is_told_with_the_way_to_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let seal = Seal::of(dir.path()).unwrap_or_else(|it| panic!("{it:?}"));
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
