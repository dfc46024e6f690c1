//! `querent serve` under load: killed, doubled, told to stop. What it acknowledged is there once, whatever happens to it.

mod team;

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::Value;

use self::team::{Caller, Done, Scene, follow, question};
use super::http::Client;
use super::project::{Project, hold, same};
use super::{Case, Suite};

pub(super) const SUITE: Suite = Suite {
    name: "load",
    about: "the HTTP server under load: killed, doubled, told to stop",
    needs: &[],
    cases: &[
        Case { name: "killed twenty times in the middle of its work: everything there once", run: killed },
        Case { name: "two servers on one project: everything there once, and both tell all of it", run: doubled },
        Case { name: "told to stop: whatever is carried out is replied to, and it ends well", run: told_to_stop },
    ],
};

/// How many call at once, each on an item of its own.
const CALLERS: usize = 8;
/// How often the server is killed, and after how many rounds of calls.
const KILLS: usize = 20;
const ROUNDS: usize = 12;

fn killed(binary: &Path) -> Result<(), String> {
    let project = with_items(binary)?;
    let mut server = Server::start(&project, free_port()?)?;
    let scene = Scene::new(vec![server.port]);
    let (done, told) = under_load(&scene, |acknowledged| {
        for _ in 0..KILLS {
            wait_for(acknowledged, ROUNDS)?;
            let door = scene.door.write().unwrap_or_else(PoisonError::into_inner);
            server.kill()?;
            server = Server::start(&project, server.port)?;
            drop(door);
        }
        wait_for(acknowledged, ROUNDS)
    })?;
    let again: usize = done.iter().map(|done| done.again).sum();
    hold(again >= KILLS, || format!("only {again} calls met a server that was killed"))?;
    check(&project, vec![server], &done, &told)
}

fn doubled(binary: &Path) -> Result<(), String> {
    let project = with_items(binary)?;
    let servers = vec![Server::start(&project, free_port()?)?, Server::start(&project, free_port()?)?];
    let scene = Scene::new(servers.iter().map(|server| server.port).collect());
    let (done, told) = under_load(&scene, |acknowledged| wait_for(acknowledged, KILLS * ROUNDS))?;
    check(&project, servers, &done, &told)
}

fn told_to_stop(binary: &Path) -> Result<(), String> {
    let project = with_items(binary)?;
    let server = Server::start(&project, free_port()?)?;
    let (sender, acknowledged) = channel();
    let port = server.port;
    let callers: Vec<_> = (1..=CALLERS)
        .map(|item| {
            let sender = sender.clone();
            // Asks until the server is gone, and counts the replies.
            thread::spawn(move || -> Result<usize, String> {
                let (mut client, mut asked) = (Client::new(port), 0);
                while let Ok(reply) = client.call("POST", "/api/v1/questions", "", &question(item, asked).to_string()) {
                    reply.data()?;
                    asked += 1;
                    let _ = sender.send(());
                }
                Ok(asked)
            })
        })
        .collect();
    let waited = wait_for(&acknowledged, KILLS * ROUNDS);
    let stopped = server.stop();
    let mut asked = 0;
    for caller in callers {
        asked += caller.join().map_err(|_| "a caller panicked")??;
    }
    waited.and(stopped)?;
    let recorded = recorded(&lines(&project)?, "question_asked")?;
    hold(recorded == asked, || format!("{recorded} questions were recorded, and {asked} replied to"))?;
    same(&project.ok(&["doctor"])?, "/healthy", true)
}

/// A project with an item for each that calls.
fn with_items(binary: &Path) -> Result<Project, String> {
    let project = Project::new(binary)?;
    for number in 1..=CALLERS {
        project.ok(&["item", "add", &number.to_string(), "--title", "Sessions", "--workflow", "bug"])?;
    }
    Ok(project)
}

/// What was acknowledged, and what each server told, while `during` was done.
fn under_load(
    scene: &Scene,
    during: impl FnOnce(&Receiver<()>) -> Result<(), String>,
) -> Result<(Vec<Done>, Vec<Vec<String>>), String> {
    thread::scope(|scope| {
        let (sender, acknowledged) = channel();
        let callers: Vec<_> = (1..=CALLERS)
            .map(|number| {
                let (caller, sender) = (Caller::new(number, scene), sender.clone());
                scope.spawn(move || caller.work(&sender))
            })
            .collect();
        drop(sender);
        let followers: Vec<_> = scene.ports.iter().map(|port| scope.spawn(|| follow(*port, scene))).collect();
        let outcome = during(&acknowledged);
        scene.over.store(true, Ordering::Release);
        let done = callers.into_iter().map(|it| it.join().map_err(|_| "a caller panicked")?).collect::<Vec<_>>();
        // The last event, for those who follow.
        let end = r#"{"id": "end", "title": "The end"}"#;
        let ended = Client::new(scene.ports[0]).call("POST", "/api/v1/items", "", end);
        ended.map_err(|error| error.to_string())?.data()?;
        let told = followers.into_iter().map(|it| it.join().map_err(|_| "a follower panicked")?).collect::<Vec<_>>();
        let done = done.into_iter().collect::<Result<_, String>>();
        // What a caller met says more than that the others waited for it.
        let done = done?;
        outcome?;
        Ok((done, told.into_iter().collect::<Result<_, String>>()?))
    })
}

fn wait_for(acknowledged: &Receiver<()>, rounds: usize) -> Result<(), String> {
    (0..rounds).try_for_each(|_| acknowledged.recv().map_err(|_| "nobody calls any more".to_owned()))
}

/// Exactly one of everything that was acknowledged, for every server, in the journal and for those who followed.
fn check(project: &Project, servers: Vec<Server>, done: &[Done], told: &[Vec<String>]) -> Result<(), String> {
    for server in &servers {
        let mut client = Client::new(server.port);
        for (id, answer) in done.iter().flat_map(|done| &done.asked) {
            let reply = client.call("GET", &format!("/api/v1/questions/{id}"), "", "");
            let data = reply.map_err(|error| error.to_string())?.data()?;
            same(&data, "/question/id", id.as_str())?;
            let found = data.pointer("/question/answer/value").and_then(Value::as_str);
            hold(found == answer.as_deref(), || format!("{id} should have the answer {answer:?}: {data}"))?;
        }
    }
    servers.into_iter().try_for_each(Server::stop)?;
    let lines = lines(project)?;
    let asked: usize = done.iter().map(|done| done.asked.len()).sum();
    let answered: usize = done.iter().map(Done::answers).sum();
    for (kind, acknowledged) in [("question_asked", asked), ("question_answered", answered)] {
        let recorded = recorded(&lines, kind)?;
        hold(recorded == acknowledged, || format!("{recorded} times {kind}, {acknowledged} acknowledged"))?;
    }
    for told in told {
        let differs = told.iter().zip(&lines).find(|(told, line)| told != line);
        hold(differs.is_none(), || format!("a stream told something else than the journal has: {differs:?}"))?;
        hold(told.len() <= lines.len(), || "a stream told more than the journal has".to_owned())?;
    }
    same(&project.ok(&["doctor"])?, "/healthy", true)
}

/// The journal, a line an event.
fn lines(project: &Project) -> Result<Vec<String>, String> {
    let output = project.plain(&["events"])?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

fn recorded(lines: &[String], kind: &str) -> Result<usize, String> {
    let mut count = 0;
    for line in lines {
        let event: Value = serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
        count += usize::from(event["type"] == kind);
    }
    Ok(count)
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

/// A server, which is ended with the case.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts it; it listens when this returns.
    fn start(project: &Project, port: u16) -> Result<Self, String> {
        let mut command = project.command(&["serve", "--listen", &format!("127.0.0.1:{port}")]);
        let child = command.stderr(Stdio::inherit()).spawn().map_err(|error| error.to_string())?;
        // Made first, so that it ends also when it does not listen.
        let mut server = Self { child, port };
        let mut line = String::new();
        let read = server.child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        hold(line.starts_with("listening on "), || format!("the server does not listen: {line:?} ({read:?})"))?;
        Ok(server)
    }

    /// Ends it as a crash does.
    fn kill(&mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map(drop).map_err(|error| error.to_string())
    }

    /// Tells it to stop, as a service manager does; it ends well.
    fn stop(mut self) -> Result<(), String> {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        hold(told.is_ok_and(|told| told.success()), || "the server could not be told to stop".to_owned())?;
        let status = self.child.wait().map_err(|error| error.to_string())?;
        hold(status.success(), || format!("told to stop, the server ended with {status}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
