//! A program of one turn: told its prompt, heard within bounds, and ended with all that it started.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal as Kill;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};

use super::profile::{Exit, Reader};
use crate::normalise::{LONGEST_LINE, shortened};
use crate::program::{Complaints, Ended, GO, Group, Line, Lines, Pipes, Secrets, Start, Started};
use crate::run::{Failure, FailureKind, Run, RunEnd};
use crate::signal::Signal;

/// How long a program has to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// The longest message of a failure, in Unicode scalars.
const LONGEST_MESSAGE: usize = 5_000;
/// How much is read at once.
const AT_ONCE: usize = 64 << 10;

/// A program that is to be started for one turn.
#[derive(Debug)]
pub(super) struct Launch {
    /// The program.
    pub(super) start: Start,
    /// What it is told.
    pub(super) prompt: String,
    /// How many bytes it may print.
    pub(super) most: u64,
    /// What no message may hold.
    pub(super) secrets: Secrets,
    /// What is taken out of all that it says.
    pub(super) hidden: Secrets,
}

impl Launch {
    /// Starts it; it begins when the run is let go.
    pub(super) fn start(self, reader: Box<dyn Reader>) -> Result<Run, Failure> {
        let Started { process, group, ended, pipes } = self.start.start()?;
        let turn = Turn {
            name: self.start.name,
            group,
            ended,
            left: self.most,
            most: self.most,
            lines: Lines::default(),
            complaints: Complaints::new(self.secrets.clone()),
            hidden: self.hidden,
            reader,
        };
        let (secrets, prompt) = (self.secrets, self.prompt);
        Ok(Run::new(Some(process), |end| async move {
            let ended = turn.drive(end, pipes, prompt).await;
            // Masked before it is cut, so that no part of a secret is left.
            let shown = |message: &str| shortened(&secrets.mask(message), LONGEST_MESSAGE);
            ended.map_err(|failure| Failure::new(failure.kind, shown(&failure.message)))
        }))
    }
}

/// A program under way.
struct Turn {
    name: String,
    group: Group,
    ended: Ended,
    left: u64,
    most: u64,
    lines: Lines,
    complaints: Complaints,
    hidden: Secrets,
    reader: Box<dyn Reader>,
}

impl Turn {
    async fn drive(mut self, end: RunEnd, pipes: Pipes, prompt: String) -> Result<(), Failure> {
        let RunEnd { gate, signals, mut cancelled } = end;
        let Pipes { stdin, mut stdout, mut stderr } = pipes;
        let may_begin = tokio::select! {
            biased;
            () = stop(&mut cancelled) => false,
            opened = gate => opened.is_ok(),
        };
        if !may_begin {
            self.group.signal(Kill::KILL);
            let _ = (&mut self.ended).await;
            return Err(stopped(&self.name));
        }
        let talked = tokio::select! {
            biased;
            () = stop(&mut cancelled) => None,
            talked = self.talk(stdin, &mut stdout, &mut stderr, &prompt, &signals) => Some(talked),
        };
        match talked {
            None => {
                self.end(&mut stdout, &mut stderr).await;
                Err(stopped(&self.name))
            }
            Some(Err(failure)) => {
                self.group.signal(Kill::KILL);
                let _ = (&mut self.ended).await;
                Err(failure)
            }
            Some(Ok(status)) => self.finish(status, &signals, &mut cancelled).await,
        }
    }

    /// Tells it its prompt and hears it until it ends.
    async fn talk(
        &mut self,
        stdin: ChildStdin,
        stdout: &mut ChildStdout,
        stderr: &mut ChildStderr,
        prompt: &str,
        signals: &mpsc::Sender<Signal>,
    ) -> Result<io::Result<ExitStatus>, Failure> {
        let mut tell = std::pin::pin!(tell(stdin, prompt));
        let (mut is_told, mut out_open, mut err_open) = (false, true, true);
        let (mut out, mut err) = (vec![0; AT_ONCE], vec![0; AT_ONCE]);
        let status = loop {
            tokio::select! {
                () = &mut tell, if !is_told => is_told = true,
                count = stdout.read(&mut out), if out_open => {
                    let count = count.unwrap_or(0);
                    out_open = count > 0;
                    self.hear(out.get(..count).unwrap_or_default(), signals).await?;
                }
                count = stderr.read(&mut err), if err_open => {
                    let count = count.unwrap_or(0);
                    err_open = count > 0;
                    self.complains(err.get(..count).unwrap_or_default())?;
                }
                status = &mut self.ended => break status,
            }
        };
        // What is in the pipes was said in time. Who got away and holds them open is not waited for.
        while let Some(count) = ready(&*stdout, &mut out) {
            self.hear(out.get(..count).unwrap_or_default(), signals).await?;
        }
        while let Some(count) = ready(&*stderr, &mut err) {
            self.complains(err.get(..count).unwrap_or_default())?;
        }
        Ok(status.unwrap_or_else(|_| Err(io::Error::other("nobody waited for it"))))
    }

    async fn hear(&mut self, bytes: &[u8], signals: &mpsc::Sender<Signal>) -> Result<(), Failure> {
        self.count(bytes)?;
        for line in self.lines.push(bytes) {
            let said = self.read(line);
            send(signals, said).await;
        }
        Ok(())
    }

    fn complains(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.count(bytes)?;
        self.complaints.push(bytes);
        Ok(())
    }

    fn count(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(count).ok_or_else(|| {
            let message = format!("{} printed more than {} bytes and was ended", self.name, self.most);
            Failure::new(FailureKind::TooMuch, message)
        })?;
        Ok(())
    }

    fn read(&mut self, line: Line) -> Vec<Signal> {
        match line {
            Line::Text(line) => self.reader.line(&self.hidden.mask(&line)),
            Line::TooLong => {
                vec![Signal::Ignored(format!("a line of more than {LONGEST_LINE} bytes was left out"))]
            }
        }
    }

    /// Ends it: first it is asked to, then it is made to.
    async fn end(&mut self, stdout: &mut ChildStdout, stderr: &mut ChildStderr) {
        self.group.signal(Kill::TERM);
        if tokio::time::timeout(GRACE, until(&mut self.ended, stdout, stderr)).await.is_err() {
            self.group.signal(Kill::KILL);
            let _ = (&mut self.ended).await;
        }
    }

    async fn finish(
        mut self,
        status: io::Result<ExitStatus>,
        signals: &mpsc::Sender<Signal>,
        cancelled: &mut watch::Receiver<bool>,
    ) -> Result<(), Failure> {
        let status = status.ok();
        let mut said = self.lines.rest().map(|line| self.read(line)).unwrap_or_default();
        let exit = Exit {
            program: self.name.clone(),
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            complaints: self.complaints.text(),
        };
        let finished = self.reader.finish(&exit);
        let ended = finished.map(|last| said.extend(last));
        tokio::select! {
            biased;
            () = stop(cancelled) => Err(stopped(&self.name)),
            () = send(signals, said) => ended,
        }
    }
}

fn stopped(name: &str) -> Failure {
    Failure::new(FailureKind::Cancelled, format!("{name} was stopped"))
}

/// Waits until the turn is to stop. One whose holder is gone is to stop as well.
async fn stop(cancelled: &mut watch::Receiver<bool>) {
    let _ = cancelled.wait_for(|stop| *stop).await;
}

async fn send(signals: &mpsc::Sender<Signal>, said: Vec<Signal>) {
    for signal in said {
        // Whoever wants to know only the end has let the rest go.
        let _ = signals.send(signal).await;
    }
}

/// Opens the gate and tells the program its prompt. It need not listen.
async fn tell(mut stdin: ChildStdin, prompt: &str) {
    if stdin.write_all(format!("{GO}\n").as_bytes()).await.is_ok() {
        let _ = stdin.write_all(prompt.as_bytes()).await;
    }
}

/// Waits for the end; what is still said is not heard, but does not hold it up.
async fn until(ended: &mut Ended, stdout: &mut ChildStdout, stderr: &mut ChildStderr) {
    let (mut out_open, mut err_open) = (true, true);
    let (mut out, mut err) = (vec![0; AT_ONCE], vec![0; AT_ONCE]);
    loop {
        tokio::select! {
            _ = &mut *ended => return,
            count = stdout.read(&mut out), if out_open => out_open = count.is_ok_and(|count| count > 0),
            count = stderr.read(&mut err), if err_open => err_open = count.is_ok_and(|count| count > 0),
        }
    }
}

/// How many bytes can be had from a pipe at once; none if there are no more for now, or ever.
fn ready(pipe: impl AsFd, buffer: &mut [u8]) -> Option<usize> {
    // The runtime may not have noticed yet what the system knows already.
    rustix::io::read(pipe, buffer).ok().filter(|count| *count > 0)
}
