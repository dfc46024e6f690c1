//! Secrets: what the system's randomness makes, what they are known by, and the keys of a project.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use querent_core::{Code, Refusal, SecretHash};
use sha2::{Digest, Sha256};

use crate::project::Project;

/// A key of the project, by which it knows what it gave out itself. It stands in `.querent/run/`, so a server that was started
/// again still knows its own; only the project's owner can read it.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of this name; made if there is none.
    pub fn of(project: &Project, name: &str) -> Result<Self, Refusal> {
        let path = project.dir().join("run").join(format!("{name}.key"));
        let shown = path.display();
        let bytes = read_or_make(&path).map_err(|error| {
            let message = format!("the key {shown} cannot be read or made: {error}");
            Refusal::new(Code::StorageError, message, "check that .querent/run can be written")
        })?;
        let bytes = bytes.try_into().map_err(|_| {
            let hint = "remove it; the next call makes a new one, and what was signed with it is void";
            Refusal::new(Code::StorageError, format!("the key {shown} is damaged"), hint)
        })?;
        Ok(Self(bytes))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The signature of a text: base64, safe in a URL. `purpose` keeps one use of the key apart from another.
    pub fn sign(&self, purpose: &str, text: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.mac(purpose, text).finalize().into_bytes())
    }

    /// Whether it is the signature of the text; takes the same time whatever the answer is.
    pub fn signed(&self, purpose: &str, text: &str, signature: &str) -> bool {
        let given = URL_SAFE_NO_PAD.decode(signature);
        given.is_ok_and(|given| self.mac(purpose, text).verify_slice(&given).is_ok())
    }

    fn mac(&self, purpose: &str, text: &str) -> Hmac<Sha256> {
        // A key that is shorter than a block is filled up with zeros, by definition.
        let mut block = [0_u8; 64];
        block[..32].copy_from_slice(&self.0);
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
        for part in [purpose, "\0", text] {
            mac.update(part.as_bytes());
        }
        mac
    }
}

/// A fresh secret: 256 random bits as text that is safe in a URL.
pub(crate) fn fresh() -> Result<String, Refusal> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        let message = format!("the system gives no random bytes: {error}");
        Refusal::new(Code::StorageError, message, "try again in a moment")
    })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// What a secret is known by.
pub(crate) fn hash(secret: &str) -> Result<SecretHash, Refusal> {
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(secret.as_bytes()) {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits.parse()
}

/// The key in the file, or a new one. Of several who make one at once, the first one's is kept.
fn read_or_make(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    if let Some(run) = path.parent() {
        fs::create_dir_all(run)?;
    }
    let mut key = [0_u8; 32];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let made = private_file(path, &key)?;
    let linked = fs::hard_link(&made, path);
    fs::remove_file(&made)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::read(path),
    }
}

/// A file of our own with the key, which only its owner reads.
fn private_file(path: &Path, key: &[u8]) -> io::Result<PathBuf> {
    let path = path.with_extension(format!("key.{}", std::process::id()));
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
    fn what_was_signed_is_known_again_for_the_same_purpose_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let (project, _) = Project::init(dir.path(), None, "feature").unwrap();
        let signature = Key::of(&project, "web").unwrap().sign("cookie", "TOK-001");

        let again = Key::of(&project, "web").unwrap();

        assert!(again.signed("cookie", "TOK-001", &signature));
        assert!(!again.signed("csrf", "TOK-001", &signature));
        assert!(!again.signed("cookie", "TOK-002", &signature));
        assert!(!again.signed("cookie", "TOK-001", &signature[1..]));
        assert!(!again.signed("cookie", "TOK-001", ""));
        assert!(!Key::of(&project, "other").unwrap().signed("cookie", "TOK-001", &signature));
    }

    #[test]
    fn a_damaged_key_says_how_to_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let (project, _) = Project::init(dir.path(), None, "feature").unwrap();
        fs::create_dir_all(project.dir().join("run")).unwrap();
        fs::write(project.dir().join("run/web.key"), "short").unwrap();

        let refusal = Key::of(&project, "web").err().unwrap();

        assert!(refusal.message.ends_with("run/web.key is damaged"), "{}", refusal.message);
        assert!(refusal.hint.contains("remove it"));
    }
}
