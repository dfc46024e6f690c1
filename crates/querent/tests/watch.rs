use crate::common::Project;

#[test]
fn without_a_terminal_it_says_what_to_do_instead() {
    let project = Project::new();

    let output = project.run(&["watch"]);

    assert_eq!((output.code, output.stdout.as_str()), (2, ""));
    assert!(output.stderr.contains("needs a terminal"), "{}", output.stderr);
    assert!(output.stderr.contains("hint: list what waits instead: querent questions --to human"), "{}", output.stderr);
    project.refused(&["watch"], "usage");
    project.refused(&["watch", "--by", "engineer"], "invalid_input");
}

/// In a real terminal, which is the test's: what the program writes is read as a terminal reads it.
#[cfg(target_os = "linux")]
mod terminal {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::num::NonZeroU16;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::{Duration, Instant};

    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
    use serde_json::Value;

    use crate::common::Project;

    /// How long something may take to be seen on a machine with much else to do.
    const PATIENCE: Duration = Duration::from_mins(1);

    /// The program in its terminal.
    struct Watched {
        child: Child,
        terminal: File,
        come: Receiver<Vec<u8>>,
        screen: vt100::Parser,
        written: Vec<u8>,
    }

    impl Watched {
        fn start(project: &Project, args: &[&str], (width, height): (u16, u16)) -> Self {
            let (terminal, inner) = pair((width, height));
            let querent = project.querent(args);
            // A session of its own, so that this is the only terminal that it knows.
            let mut command = Command::new("setsid");
            command.arg("-c").arg(querent.get_program()).args(querent.get_args());
            command.current_dir(project.path()).env("TERM", "xterm-256color").env("TZ", "UTC").env_remove("NO_COLOR");
            let end = || Stdio::from(inner.try_clone().unwrap());
            let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
            let (send, come) = channel();
            let mut reader = terminal.try_clone().unwrap();
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                // The terminal's end is an error to whoever reads it.
                while let Ok(count @ 1..) = reader.read(&mut bytes) {
                    if send.send(bytes[..count].to_vec()).is_err() {
                        return;
                    }
                }
            });
            let size = |count| NonZeroU16::new(count).unwrap();
            let screen = vt100::Parser::new(size(height), size(width), 0);
            Self { child, terminal, come, screen, written: Vec::new() }
        }

        /// Reads until the screen is as wanted.
        fn until(&mut self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
            let end = Instant::now() + PATIENCE;
            while !is_so(self.screen.screen()) {
                let left = end.saturating_duration_since(Instant::now());
                let bytes = self.come.recv_timeout(left);
                assert!(bytes.is_ok(), "{what} is not on the screen:\n{}", self.screen.screen().contents());
                let bytes = bytes.unwrap();
                self.screen.process(&bytes);
                self.written.extend(bytes);
            }
        }

        fn sees(&mut self, text: &str) {
            self.until(text, |screen| screen.contents().contains(text));
        }

        fn press(&mut self, keys: &str) {
            self.terminal.write_all(keys.as_bytes()).unwrap();
        }

        /// It ends by itself; the terminal is as it was.
        fn ends_well(mut self) {
            assert_eq!(self.child.wait().unwrap().code(), Some(0));
            self.until("the screen from before", |screen| !screen.alternate_screen() && !screen.hide_cursor());
            assert!(!self.screen.screen().bracketed_paste());
            let modes = tcgetattr(&self.terminal).unwrap().local_modes;
            assert!(modes.contains(LocalModes::ECHO | LocalModes::ICANON), "{modes:?}");
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    /// Both ends of a terminal of this size.
    fn pair((width, height): (u16, u16)) -> (File, OwnedFd) {
        let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&outer).unwrap();
        unlockpt(&outer).unwrap();
        tcsetwinsize(&outer, Winsize { ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&outer, Vec::new()).unwrap();
        let name = std::ffi::OsStr::from_bytes(name.as_bytes());
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        (outer.into(), rustix::fs::open(name, flags, Mode::empty()).unwrap())
    }

    #[test]
    fn a_question_appears_by_itself_and_two_keys_answer_it() {
        // Given
        let project = Project::new();
        let mut watched = Watched::start(&project, &["watch"], (80, 24));
        watched.sees("Nothing waits for you.");
        watched.sees("querent ask --item 42 --from engineer");

        // When
        let id = project.asks_human();
        let waiting = Project::start(&mut project.querent(&["await", &id, "--json"]));
        watched.sees("Where?");
        watched.press("2");
        watched.sees("(x) 2  The SQL database");
        assert_eq!(project.ok(&["show", &id])["question"]["status"], "open");
        watched.press("\r");

        // Then
        let reply: Value = serde_json::from_slice(&waiting.wait_with_output().unwrap().stdout).unwrap();
        assert_eq!(reply["data"]["answer"]["value"], "sql", "{reply}");
        assert_eq!((&reply["data"]["answer"]["via"], &reply["data"]["answer"]["by"]), (&"tui".into(), &"human".into()));
        watched.sees("Answered by human");
        let called = b"\x07\x1b]9;Querent: engineer asks about Store\x1b\\";
        assert!(watched.written.windows(called.len()).any(|bytes| bytes == called));
        watched.press("q");
        watched.ends_well();
    }

    #[test]
    fn what_is_answered_elsewhere_shows_who_answered_it() {
        // Given
        let project = Project::new();
        let id = project.asks_human();
        let mut watched = Watched::start(&project, &["watch", "--by", "human:bob", "--quiet"], (40, 15));
        watched.sees("Where?");

        // When
        project.ok(&["answer", &id, "--answer", "redis", "--by", "human:alice"]);

        // Then
        watched.sees("Answered by human:alice");
        watched.press("2\r");
        watched.sees("takes no answer");
        assert!(!watched.written.contains(&7), "a quiet inbox does not ring");
        assert_eq!(project.ok(&["show", &id])["question"]["answer"]["value"], "redis");
        watched.press("\x03");
        watched.ends_well();
    }

    #[test]
    fn what_was_sent_before_the_end_is_sent() {
        // Given
        let project = Project::new();
        let id = project.asks_human();
        let mut watched = Watched::start(&project, &["watch"], (80, 24));
        watched.sees("Where?");

        // When
        watched.press("2\rq");

        // Then
        watched.ends_well();
        assert_eq!(project.ok(&["show", &id])["question"]["answer"]["value"], "sql");
    }

    #[test]
    fn a_typed_answer_that_does_not_fit_is_refused_and_stays() {
        // Given
        let project = Project::new();
        let id = project.asks_human();
        let mut watched = Watched::start(&project, &["watch"], (80, 24));
        watched.sees("Where?");

        // When
        watched.press("iin a file\r");

        // Then
        watched.sees("in a file");
        watched.sees("redis");
        watched.press("i\x15sql\r");
        watched.sees("Answered by human");
        assert_eq!(project.ok(&["show", &id])["question"]["answer"]["value"], "sql");
        watched.press("q");
        watched.ends_well();
    }
}
