//! Programs from npm: a folder in `xtask/e2e/` names them with their versions, and locks what they depend on.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::cache::Cache;

/// Packages that are installed together.
pub(super) struct Packages {
    /// The folder, in `xtask/e2e/` and in the cache.
    pub(super) folder: &'static str,
    /// The lock file in it.
    pub(super) lock: &'static str,
}

/// What is written beside the packages when all of them are there.
const DONE: &str = "installed.json";

impl Packages {
    /// Whether exactly these are installed.
    pub(super) fn are_installed(&self, cache: &Cache) -> bool {
        fs::read_to_string(self.place(cache).join(DONE)).is_ok_and(|lock| lock == self.lock)
    }

    /// Installs them. `npm ci` would be stricter, but asks for the packages of every other platform as well; the lock
    /// with its digests holds for `npm install` too.
    pub(super) fn install(&self, cache: &Cache) -> Command {
        let script = format!(
            "rm -f \"$1/{DONE}\" && mkdir -p \"$1\" && cp \"$0/package.json\" \"$0/package-lock.json\" \"$1\" && \
             cd \"$1\" && npm install --no-audit --no-fund --loglevel=error && cp \"$0/package-lock.json\" {DONE}"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(crate::root().join("xtask/e2e").join(self.folder)).arg(self.place(cache));
        command
    }

    /// Where a program of these is, if it is called `name`.
    pub(super) fn program(&self, cache: &Cache, name: &str) -> PathBuf {
        self.programs(cache).join(name)
    }

    /// The value of `PATH` with which their programs find each other, and `first` before them.
    pub(super) fn path(&self, cache: &Cache, first: PathBuf) -> Result<OsString, String> {
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let folders = [first, self.programs(cache)].into_iter().chain(std::env::split_paths(&rest));
        std::env::join_paths(folders).map_err(|error| error.to_string())
    }

    fn programs(&self, cache: &Cache) -> PathBuf {
        self.place(cache).join("node_modules/.bin")
    }

    fn place(&self, cache: &Cache) -> PathBuf {
        cache.path().join(self.folder)
    }
}
