//! A program that does the cycle by itself and tells how it went. `bench/peers/README.md` describes its lines.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::subject::{About, Sample, Subject, answers_in};
use crate::Outcome;

/// A driver, which has said that it is ready.
pub(crate) struct Driver {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    about: About,
    /// Its first line.
    pub(crate) ready: Value,
    /// What it found again of what it did.
    found: Option<usize>,
    /// Where a project is, if it is one of ours.
    project: Option<PathBuf>,
}

impl Driver {
    /// Starts it; its directory is its last argument already.
    pub(crate) fn start(key: &'static str, command: &mut Command, project: Option<PathBuf>) -> Outcome<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take().ok_or("no output")?);
        let about = About { key, name: key.to_owned(), version: String::new(), durable: true, setting: String::new() };
        let output = BufReader::new(output);
        let mut driver = Self { child, input, output, about, ready: Value::Null, found: Some(0), project };
        let ready = driver.line()?;
        let text = |name: &str| ready[name].as_str().unwrap_or_default().to_owned();
        driver.about = About {
            key,
            name: text("name"),
            version: text("version"),
            durable: ready["durable"] == true,
            setting: text("setting"),
        };
        driver.ready = ready;
        Ok(driver)
    }

    /// What it says of so many cycles.
    pub(crate) fn cycles(&mut self, clients: usize, cycles: usize) -> Outcome<Value> {
        let wish = json!({ "clients": clients, "cycles": cycles });
        writeln!(self.input.as_mut().ok_or("no input")?, "{wish}")?;
        self.line()
    }

    fn line(&mut self) -> Outcome<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(format!("{} ended without a word", self.about.key).into());
        }
        let said: Value = serde_json::from_str(&line)?;
        match said["error"].as_str() {
            Some(error) => Err(format!("{}: {error}", self.about.key).into()),
            None => Ok(said),
        }
    }
}

impl Subject for Driver {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn run(&mut self, clients: usize, cycles: usize) -> Outcome<Sample> {
        let said = self.cycles(clients, cycles)?;
        let number = |name: &str| said[name].as_u64().and_then(|it| usize::try_from(it).ok());
        self.found = self.found.zip(number("found")).map(|(sum, found)| sum + found);
        let latencies = said["latencies_us"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        let seconds = said["seconds"].as_f64().ok_or("it does not say how long it took")?;
        Ok(Sample { cycles: number("cycles").unwrap_or_default(), seconds, latencies })
    }

    fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    fn end(mut self: Box<Self>) -> Outcome<Option<usize>> {
        if let Some(project) = self.project.take() {
            self.child.kill()?;
            self.child.wait()?;
            return answers_in(&project).map(Some);
        }
        self.input = None;
        self.child.wait()?;
        Ok(self.found.filter(|_| self.about.durable))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It ends its servers when its input ends. Whoever is gone already has done so.
        self.input = None;
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &str) -> Outcome<Driver> {
        Driver::start("peer", Command::new("sh").args(["-c", lines]), None)
    }

    #[test]
    fn a_driver_tells_who_it_is_and_how_it_went() {
        let ready = r#"{"ready":true,"name":"Peer","version":"peer 1","durable":true,"setting":"as it comes"}"#;
        let done = r#"{"cycles":2,"seconds":0.5,"latencies_us":[10,20],"found":2}"#;
        let mut driver = told(&format!("echo '{ready}'; read wish; echo '{done}'; cat")).unwrap();

        let sample = driver.run(1, 2).unwrap();

        assert_eq!((driver.about().name.as_str(), sample.rate()), ("Peer", 4.0));
        assert_eq!(Box::new(driver).end().unwrap(), Some(2));
    }

    #[test]
    fn a_driver_that_cannot_start_says_why() {
        let error = told(r#"echo '{"error":"no server"}'"#).err().unwrap();
        assert_eq!(error.to_string(), "peer: no server");
    }
}
