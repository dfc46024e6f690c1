//! A process group: a program with all that it starts.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::oneshot;

/// A group of its own, led by a child of ours. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Group {
    /// Gone as soon as its number may be somebody else's.
    leader: Arc<Mutex<Option<Pid>>>,
}

/// How the leader ended, once it has and the rest of its group is killed.
pub(crate) type Ended = oneshot::Receiver<io::Result<ExitStatus>>;

impl Group {
    /// Watches the group that this child leads.
    pub(crate) fn watch(child: Child) -> io::Result<(Self, Ended)> {
        let group = Self { leader: Arc::new(Mutex::new(Some(Pid::from_child(&child)))) };
        let leader = Arc::clone(&group.leader);
        let (tell, ended) = oneshot::channel();
        thread::Builder::new().name("turn".to_owned()).spawn(move || {
            // Nobody listens any more if the turn was given up.
            let _ = tell.send(fetch(child, &leader));
        })?;
        Ok((group, ended))
    }

    /// Sends a signal to all of them, if any is left.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(leader) = *self.leader.lock().unwrap_or_else(PoisonError::into_inner) {
            // Fails only if they have ended.
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Waits for the leader, kills those that it leaves behind, and only then fetches it: until then nobody else gets its number.
fn fetch(mut child: Child, leader: &Mutex<Option<Pid>>) -> io::Result<ExitStatus> {
    let wanted = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while waitid(WaitId::Pid(Pid::from_child(&child)), wanted).is_err_and(|error| error == Errno::INTR) {}
    if let Some(leader) = leader.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // Fails only if none is left.
        let _ = kill_process_group(leader, Signal::KILL);
    }
    child.wait()
}
