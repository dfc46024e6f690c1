//! A run on a terminal of the test's own: what it writes is read as a terminal reads it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use super::abuse::WAITS;
use super::clarification::{ANSWERS, ASKS, RESOLVES};
use super::scene::Scene;
use super::told;
use crate::e2e::process::end_group;
use crate::e2e::project::{Project, hold, same};

/// How long a run may take. It needs seconds; a machine may be busy.
const LIMIT: Duration = Duration::from_mins(2);
const WIDTH: u16 = 100;
const HEIGHT: u16 = 40;

pub(super) fn live(binary: &Path) -> Result<(), String> {
    // Given: the engineer works for ever.
    let scene = Scene::shell(binary, "exec sleep 3600\n", "", WAITS)?;
    for (item, workflow) in [("41", "build"), ("42", "plan"), ("43", "build"), ("44", "build")] {
        scene.add(item, workflow)?;
    }
    // When
    let mut terminal = Terminal::start(&scene.project, &["run", "--parallel", "2"])?;
    // Then: what it does, for how long, and whom it waits for.
    let wanted = [
        "41         implement      engineer works on implement, ",
        "42         awaiting_input architect waits for human (CLR-42-001), ",
        "43         implement      engineer works on implement, ",
        "44         implement      engineer is next",
    ];
    let texts = |screen: &vt100::Screen| live_lines(screen).iter().map(|line| span(line).0).collect::<Vec<_>>();
    terminal.until("a line for each item", |screen| texts(screen) == wanted)?;
    let seconds = |screen: &vt100::Screen| live_lines(screen).iter().map(|line| span(line).1).collect::<Vec<_>>();
    let before = seconds(terminal.screen.screen());
    terminal.until("time that passes", |screen| {
        let now = seconds(screen);
        texts(screen) == wanted && (0..3).all(|line| now[line] > before[line])
    })?;
    let above = terminal.text();
    let times = |text: &str| above.lines().filter(|line| *line == text).count();
    hold(times("42         waits for a human: CLR-42-001") == 1, || {
        format!("it is not told above the lines:\n{above}")
    })?;
    // When
    terminal.press("\u{3}")?;
    let status = terminal.end()?;
    // Then
    hold(status.success(), || format!("it ended with {status}"))?;
    terminal.is_as_before()?;
    let left = terminal.text();
    hold(live_lines(terminal.screen.screen()).is_empty(), || format!("lines are left:\n{left}"))?;
    hold(left.contains("Stopped. The next `querent run` goes on where it was."), || {
        format!("it does not say so:\n{left}")
    })?;
    hold(left.contains("41         engineer was stopped"), || format!("the end of the turn is not told:\n{left}"))?;
    same(&scene.item("41")?, "/stage", "implement")?;
    same(&scene.item("42")?, "/stage", "awaiting_input")?;
    scene.nothing_runs()
}

pub(super) fn json(binary: &Path) -> Result<(), String> {
    let scene = Scene::scripted(binary, &[ASKS, ANSWERS, RESOLVES].concat())?;
    scene.add("42", "build")?;
    let mut terminal = Terminal::start(&scene.project, &["run", "--json"])?;
    let status = terminal.end()?;
    hold(status.success(), || format!("it ended with {status}"))?;
    terminal.is_as_before()?;
    told::are_records(&String::from_utf8_lossy(&terminal.written))
}

/// The lines at the bottom, one for each item that is under way: what is told above them has no stage in its second column.
fn live_lines(screen: &vt100::Screen) -> Vec<String> {
    let is_live = |line: &String| {
        let mut words = line.split_whitespace().skip(1);
        words.next().is_some_and(|word| ["implement", "design", "awaiting_input"].contains(&word))
            && !line.contains("->")
    };
    screen.contents().lines().map(str::to_owned).filter(is_live).collect()
}

/// A line without the seconds at its end, and these.
fn span(line: &str) -> (String, u64) {
    let found = line.rsplit_once(", ").and_then(|(text, end)| Some((text, end.strip_suffix('s')?.parse().ok()?)));
    found.map_or_else(|| (line.to_owned(), 0), |(text, seconds)| (format!("{text}, "), seconds))
}

/// The program in its terminal.
struct Terminal {
    child: Child,
    outer: File,
    /// What it was like before the program was there.
    before: Termios,
    come: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    written: Vec<u8>,
    deadline: Instant,
    has_ended: bool,
}

impl Terminal {
    fn start(project: &Project, arguments: &[&str]) -> Result<Self, String> {
        let (outer, inner) = pair().map_err(|error| format!("no terminal: {error}"))?;
        let before = tcgetattr(&outer).map_err(|error| error.to_string())?;
        let querent = project.command(arguments);
        // A session of its own, so that this is the only terminal that it knows, and Ctrl-C reaches it.
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(querent.get_program()).args(querent.get_args());
        command.current_dir(project.folder()).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        command.env_remove("QUERENT_ITEM").env_remove("QUERENT_AGENT");
        let end = || inner.try_clone().map(Stdio::from).map_err(|error| error.to_string());
        let child = command.stdin(end()?).stdout(end()?).stderr(end()?).spawn();
        let child = child.map_err(|error| format!("setsid: {error}"))?;
        let mut reader = outer.try_clone().map_err(|error| error.to_string())?;
        let (send, come) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The terminal's end is an error to whoever reads it.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let size = |count| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
        let screen = vt100::Parser::new(size(HEIGHT), size(WIDTH), 0);
        let deadline = Instant::now() + LIMIT;
        Ok(Self { child, outer, before, come, screen, written: Vec::new(), deadline, has_ended: false })
    }

    /// Reads until the screen is as wanted.
    fn until(&mut self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) -> Result<(), String> {
        while !is_so(self.screen.screen()) {
            hold(self.read()?, || format!("it ended before {what} on the screen:\n{}", self.text()))?;
        }
        Ok(())
    }

    /// What is on the screen.
    fn text(&self) -> String {
        self.screen.screen().contents()
    }

    fn press(&mut self, keys: &str) -> Result<(), String> {
        self.outer.write_all(keys.as_bytes()).map_err(|error| error.to_string())
    }

    /// Reads all that comes until it ends.
    fn end(&mut self) -> Result<ExitStatus, String> {
        while self.read()? {}
        let status = self.child.wait().map_err(|error| error.to_string())?;
        self.has_ended = true;
        Ok(status)
    }

    /// Takes in what comes next; says whether anything did.
    fn read(&mut self) -> Result<bool, String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match self.come.recv_timeout(left) {
            Ok(bytes) => {
                self.screen.process(&bytes);
                self.written.extend(bytes);
                Ok(true)
            }
            Err(RecvTimeoutError::Disconnected) => Ok(false),
            Err(RecvTimeoutError::Timeout) => Err(format!("it takes more than {LIMIT:?}:\n{}", self.text())),
        }
    }

    /// The terminal is as it was: its modes, its screen, and the cursor at the beginning of a line.
    fn is_as_before(&self) -> Result<(), String> {
        let now = tcgetattr(&self.outer).map_err(|error| error.to_string())?;
        let modes = |it: &Termios| (it.input_modes, it.output_modes, it.local_modes);
        hold(modes(&now) == modes(&self.before), || format!("its modes are {:?}, and not {:?}", now, self.before))?;
        let screen = self.screen.screen();
        let is_plain = !screen.alternate_screen() && !screen.hide_cursor() && screen.cursor_position().1 == 0;
        hold(is_plain, || format!("the screen is left as it is not to be:\n{}", self.text()))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.has_ended {
            end_group(self.child.id());
            let _ = self.child.wait();
        }
    }
}

/// Both ends of a terminal.
fn pair() -> rustix::io::Result<(File, OwnedFd)> {
    let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&outer)?;
    unlockpt(&outer)?;
    tcsetwinsize(&outer, Winsize { ws_row: HEIGHT, ws_col: WIDTH, ws_xpixel: 0, ws_ypixel: 0 })?;
    let name = ptsname(&outer, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok((outer.into(), rustix::fs::open(OsStr::from_bytes(name.as_bytes()), flags, Mode::empty())?))
}
