//! A disk that is full or read-only: a clear error, and nothing that was acknowledged is lost.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use querent_core::Code;
use serde_json::Value;
use tempfile::TempDir;

use super::project::{Project, hold, list, same, words};
use super::{Case, Need, Suite};

pub(super) const SUITE: Suite = Suite {
    name: "disk",
    about: "a full and a read-only file system",
    needs: &[Need {
        what: "leave to mount a small tmpfs (root on Linux)",
        is_met: |_| SmallDisk::mount("64k").is_ok(),
        install: None,
        cure: "run it as root on Linux: `cargo xtask e2e disk`",
    }],
    cases: &[
        Case { name: "the disk is full: storage_error, and everything goes on when there is room", run: full },
        Case { name: "the disk is read-only: storage_error, and everything is there afterwards", run: read_only },
    ],
};

/// A file system of a few pages in memory, unmounted when it is dropped.
struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    fn mount(size: &str) -> Result<Self, String> {
        let folder = TempDir::with_prefix("querent-disk-").map_err(|error| error.to_string())?;
        let disk = Self { folder };
        disk.call("mount", &["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).map(|()| disk)
    }

    fn remount(&self, option: &str) -> Result<(), String> {
        self.call("mount", &["-o", &format!("remount,{option}")])
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn call(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let output = Command::new(program).args(arguments).arg(self.path()).output();
        let output = output.map_err(|error| format!("{program}: {error}"))?;
        hold(output.status.success(), || format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The folder stays if this fails; there is nobody left to tell.
        let _ = self.call("umount", &[]);
    }
}

/// What a run of asks came to: the topics by whether they were acknowledged.
#[derive(Default)]
struct Asked {
    acknowledged: BTreeSet<String>,
    refused: BTreeSet<String>,
}

impl Asked {
    /// Asks once about `topic`, with enough text to fill a small disk soon.
    fn ask(&mut self, project: &Project, topic: &str) -> Result<bool, String> {
        let context = "What is known so far. ".repeat(80);
        let arguments = [
            "ask",
            "--item",
            "42",
            "--from",
            "engineer",
            "--to",
            "architect",
            "--no-blocking",
            "--topic",
            topic,
            "--question",
            "What now?",
            "--context",
            &context,
            "--operation-id",
            topic,
        ];
        let reply = project.reply(&arguments)?;
        match reply.error() {
            Err(_) => {
                self.refused.remove(topic);
                self.acknowledged.insert(topic.to_owned());
                Ok(true)
            }
            Ok(error) => {
                same(&error, "/code", Code::StorageError.as_str())?;
                self.refused.insert(topic.to_owned());
                Ok(false)
            }
        }
    }

    /// Everything acknowledged is stored once, under dense ids, and the project is sound.
    fn check(&self, project: &Project) -> Result<(), String> {
        let data = project.ok(&["questions", "--item", "42", "--status", "all"])?;
        let questions = list(&data, "/questions")?;
        let topics: Vec<&str> = questions.iter().map(|it| words(it, "/topic")).collect::<Result<_, _>>()?;
        let once: BTreeSet<&str> = topics.iter().copied().collect();
        hold(once.len() == topics.len(), || format!("a question is there twice: {topics:?}"))?;
        let lost: Vec<&String> = self.acknowledged.iter().filter(|it| !once.contains(it.as_str())).collect();
        hold(lost.is_empty(), || format!("acknowledged and lost: {lost:?}"))?;
        let mut ids: Vec<&str> = questions.iter().map(|it| words(it, "/id")).collect::<Result<_, _>>()?;
        ids.sort_unstable();
        let dense = ids.iter().zip(1..).all(|(id, number)| *id == format!("CLR-42-{number:03}"));
        hold(dense, || format!("the ids have gaps: {ids:?}"))?;
        same(&project.ok(&["doctor"])?, "/healthy", true)
    }
}

fn full(binary: &Path) -> Result<(), String> {
    const MOST: usize = 500;
    let disk = SmallDisk::mount("256k")?;
    let project = Project::at(binary, disk.path());
    project.begin()?;
    let mut asked = Asked::default();
    let mut number = 0;
    while asked.refused.len() < 5 && number < MOST {
        number += 1;
        asked.ask(&project, &format!("topic-{number}"))?;
    }
    hold(!asked.acknowledged.is_empty(), || "not even one question fits on the disk".to_owned())?;
    hold(asked.refused.len() == 5, || format!("the disk took {MOST} questions and was never full"))?;
    disk.remount("size=8m")?;
    hold(asked.ask(&project, "after")?, || "there is room again, and the next command was refused".to_owned())?;
    asked.check(&project)?;
    // What was refused may be sent again under its own id, and then exists once.
    for topic in asked.refused.clone() {
        hold(asked.ask(&project, &topic)?, || format!("{topic} is refused although there is room"))?;
    }
    let data = project.ok(&["questions", "--item", "42", "--status", "all"])?;
    same(&data, "/count", Value::from(asked.acknowledged.len()))?;
    asked.check(&project)
}

fn read_only(binary: &Path) -> Result<(), String> {
    let disk = SmallDisk::mount("8m")?;
    let project = Project::at(binary, disk.path());
    project.begin()?;
    let mut asked = Asked::default();
    for number in 1..=3 {
        hold(asked.ask(&project, &format!("topic-{number}"))?, || "a sound disk refuses".to_owned())?;
    }
    disk.remount("ro")?;
    hold(!asked.ask(&project, "topic-4")?, || "a read-only disk took a question".to_owned())?;
    project.refused(&["answer", "CLR-42-001", "--answer", "x", "--by", "architect"], Code::StorageError)?;
    disk.remount("rw")?;
    asked.check(&project)?;
    hold(asked.ask(&project, "topic-4")?, || {
        "the disk is writable again, and the next command was refused".to_owned()
    })?;
    asked.check(&project)
}
