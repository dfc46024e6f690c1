//! Python packages, each set in a virtual environment of its own in the cache.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::cache::Cache;

/// A set of packages, pinned with all that they depend on.
pub(crate) struct Packages {
    /// The folder of the cache that they are installed in.
    pub(crate) folder: &'static str,
    /// The requirements, below the root of the project.
    pub(crate) file: &'static str,
}

impl Packages {
    /// The Python that has them.
    pub(crate) fn python(&self, cache: &Cache) -> PathBuf {
        cache.path().join(self.folder).join("bin/python")
    }

    /// Whether they are there, exactly as they are pinned.
    pub(crate) fn are_installed(&self, cache: &Cache) -> bool {
        let wanted = fs::read_to_string(crate::root().join(self.file)).ok();
        wanted.is_some() && fs::read_to_string(cache.path().join(self.folder).join("installed.txt")).ok() == wanted
    }

    /// Installs them, in place of whatever is there.
    pub(crate) fn install(&self, cache: &Cache) -> Command {
        let script = "python3 -m venv --clear \"$1\" && \"$1/bin/pip\" install --quiet --no-deps --requirement \"$0\" && \
                      cp \"$0\" \"$1/installed.txt\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(crate::root().join(self.file)).arg(cache.path().join(self.folder));
        command
    }
}
