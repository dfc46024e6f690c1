//! A running `querent serve`; ended with the test.

use std::io::{BufRead, BufReader};
use std::process::Child;

use super::Project;

/// What the tests' webhooks are signed with, and the token of their bots.
pub(crate) const SECRET: &str = "a-secret-of-the-tests";

pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn start(project: &Project) -> Self {
        let mut command = project.querent(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = Project::start(command.env("TEST_SECRET", SECRET));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { child, address }
    }

    /// At once, in the middle of whatever it does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
