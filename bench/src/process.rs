//! Whole processes: how long they take and how much memory they need.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};

use crate::Outcome;
use crate::measure::{median, rate};

/// The release binary beside this program.
pub(crate) fn querent() -> Outcome<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("querent");
    if path.exists() { Ok(path) } else { Err("build it first: cargo build --release -p querent".into()) }
}

/// The version of that binary.
pub(crate) fn version() -> &'static str {
    concat!("querent ", env!("CARGO_PKG_VERSION"))
}

/// Seconds that one run takes, from start to end.
pub(crate) fn seconds(program: &Path, arguments: &[&str], dir: &Path) -> Outcome<f64> {
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let seconds = start.elapsed().as_secs_f64();
    if status.success() {
        Ok(seconds)
    } else {
        Err(format!("{} {arguments:?} ended with {status}", program.display()).into())
    }
}

/// The median ratio of two things that take seconds, measured in alternation. Also their own medians.
pub(crate) fn alternate(
    rounds: usize,
    mut ours: impl FnMut() -> Outcome<f64>,
    mut theirs: impl FnMut() -> Outcome<f64>,
) -> Outcome<(f64, f64, f64)> {
    let (mut ratios, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (our, their) = (ours()?, theirs()?);
        ratios.push(our / their);
        a.push(our);
        b.push(their);
    }
    Ok((median(ratios), median(a), median(b)))
}

/// The rate of `count` processes on one project, each on an item of its own, all started at once.
pub(crate) fn rate_of_processes(dir: &Path, count: usize, each: usize) -> Outcome<f64> {
    let program = std::env::current_exe()?;
    let mut children = Vec::new();
    for number in 1..=count {
        let mut child = Command::new(&program)
            .args(["client", &dir.to_string_lossy(), &number.to_string(), &each.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut words = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        words.next().ok_or("a client failed")??;
        children.push((child, words));
    }
    let start = Instant::now();
    for (child, _) in &mut children {
        child.stdin.as_mut().ok_or("no input")?.write_all(b"go\n")?;
    }
    for (_, words) in &mut children {
        words.next().ok_or("a client failed")??;
    }
    let rate = rate(count * each, start);
    for (mut child, _) in children {
        child.wait()?;
    }
    Ok(rate)
}

/// The most memory that a run needs, in bytes: asked of a process whose only child it is.
pub(crate) fn rss(program: &Path, arguments: &[&str], dir: &Path) -> Outcome<u64> {
    let output =
        Command::new(std::env::current_exe()?).arg("rss").arg(program).args(arguments).current_dir(dir).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

pub(crate) fn print_rss(program: &str, arguments: &[&str]) -> Outcome<()> {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("{program} ended with {status}").into());
    }
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)?;
    writeln!(std::io::stdout(), "{}", usage.max_rss() * 1024)?;
    Ok(())
}

/// Where all clients of one kind are: one thread does for them, and none of them has to be woken by another.
pub(crate) fn one_thread() -> Outcome<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}
