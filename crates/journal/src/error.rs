//! Why a journal cannot do what it should.

use std::io;
use std::path::{Path, PathBuf};

use querent_core::{Code, Refusal};
use serde_json::json;

/// What went wrong between a journal and its disk.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process held the lock for too long.
    #[error("the journal is held by {holder} and was not free within {waited}s")]
    LockTimeout {
        /// Who holds it, as far as the lock file says.
        holder: String,
        /// For how long it was waited.
        waited: u64,
    },
    /// A line cannot be read, and it is not the last.
    #[error("{}, line {line}: {why}", segment.display())]
    Damaged {
        /// The file.
        segment: PathBuf,
        /// The line in it; 1 for the first.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The disk said no.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Says what was tried on which file.
    pub(crate) fn io<'a>(what: &'static str, path: &'a Path) -> impl Fn(io::Error) -> Self + 'a {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }
}

impl Error {
    /// The same error once more, for another who waited for the same write.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::LockTimeout { holder, waited } => Self::LockTimeout { holder: holder.clone(), waited: *waited },
            Self::Damaged { segment, line, why } => {
                Self::Damaged { segment: segment.clone(), line: *line, why: why.clone() }
            }
            Self::Io { what, path, source } => {
                let source = source.raw_os_error().map_or_else(|| source.kind().into(), io::Error::from_raw_os_error);
                Self::Io { what, path: path.clone(), source }
            }
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::LockTimeout { holder, waited } => {
                Self::new(Code::LockTimeout, message, "try again; if it stays so, look at the process that holds it")
                    .with(json!({ "holder": holder, "waited_seconds": waited }))
            }
            Error::Damaged { segment, line, why } => {
                Self::new(Code::StorageError, message, "see what can be done: querent doctor")
                    .with(json!({ "segment": segment, "line": line, "why": why }))
            }
            Error::Io { path, source, .. } => {
                let hint = match source.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                        "make room on the disk and try again; nothing that was acknowledged is lost"
                    }
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                        "make the directory writable for you and try again; nothing is lost"
                    }
                    _ => "try again; if it stays so, check the project: querent doctor",
                };
                Self::new(Code::StorageError, message, hint).with(json!({ "path": path }))
            }
        }
    }
}
