//! The inbox in a real terminal: keys come in, the log is followed, and what the app wants is done.

use std::io::{self, Stdout, Write};
use std::time::Duration;

use futures_util::FutureExt;
use querent_core::{Action, Code, Command, Party, Refusal, Via};
use querent_hub::Handle;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::sleep;

use super::app::App;
use super::draw::{Look, draw};
use super::message::{Answered, Drawn, Effect, Found, Key, Message};

/// How many questions the list holds.
const MOST: usize = 200;
/// How often ages and countdowns are drawn anew.
const TICK: Duration = Duration::from_secs(1);
/// How long it waits after an error before it follows the log again.
const AGAIN: Duration = Duration::from_secs(2);

type Sender = UnboundedSender<Message>;

/// Runs the inbox until somebody quits, or `stopped` comes. The terminal is as it was before, however it ends.
pub(crate) async fn run(
    hub: Handle,
    by: Party,
    mut app: App,
    look: Look,
    stopped: impl Future<Output = ()>,
) -> Result<(), Refusal> {
    let mut screen = Screen::open().map_err(|error| broken(&error))?;
    let (send, mut messages) = unbounded_channel();
    let keys = send.clone();
    // It ends with the process: nothing wakes it from reading a key that does not come.
    std::thread::spawn(move || read_keys(&keys));
    tokio::spawn(follow(hub.clone(), send.clone()));
    let clock = hub.clone();
    tokio::spawn(async move { clock.keep_time().await });
    let mut desk = Desk { hub, by, send, sending: Vec::new() };
    tokio::pin!(stopped);
    loop {
        let drawn = screen.draw(&app, &look).map_err(|error| broken(&error))?;
        app.update(Message::Drawn(drawn));
        let message = tokio::select! {
            message = next(&mut messages, &desk.hub) => message,
            () = &mut stopped => Message::Closed,
        };
        // What has come meanwhile is taken in before the next drawing.
        let come = std::iter::once(message).chain(std::iter::from_fn(|| messages.try_recv().ok()));
        let effects: Vec<Effect> = come.flat_map(|message| app.update(message)).collect();
        for effect in effects {
            if effect == Effect::Quit {
                return desk.close().await;
            }
            desk.carry_out(effect, &mut screen).map_err(|error| broken(&error))?;
        }
    }
}

/// The next message, or the next second.
async fn next(messages: &mut UnboundedReceiver<Message>, hub: &Handle) -> Message {
    tokio::select! {
        message = messages.recv() => message.unwrap_or(Message::Closed),
        () = sleep(TICK) => Message::Tick(hub.now()),
    }
}

/// Reads the inbox whenever something happened, in any process.
async fn follow(hub: Handle, send: Sender) {
    loop {
        if let Err(refusal) = follow_once(&hub, &send).await {
            let _ = send.send(Message::Failed(refusal));
        }
        sleep(AGAIN).await;
    }
}

async fn follow_once(hub: &Handle, send: &Sender) -> Result<(), Refusal> {
    let mut news = hub.follow(None)?;
    loop {
        let reader = hub.clone();
        // A reader that panicked has said so; the next news are read again.
        if let Ok(found) = spawn_blocking(move || find(&reader)).await {
            let _ = send.send(Message::Found(Box::new(found?)));
        }
        news.next().await?;
        // Many events at once are one look at the inbox.
        while let Some(more) = news.next().now_or_never() {
            more?;
        }
    }
}

fn find(hub: &Handle) -> Result<Found, Refusal> {
    let inbox = hub.inbox(MOST)?;
    let example = if inbox.total == 0 { crate::asking::example(hub)? } else { String::new() };
    Ok(Found { inbox, example, now: hub.now() })
}

/// Does what the app wants.
struct Desk {
    hub: Handle,
    by: Party,
    send: Sender,
    sending: Vec<JoinHandle<()>>,
}

impl Desk {
    fn carry_out(&mut self, effect: Effect, screen: &mut Screen) -> io::Result<()> {
        let (hub, send) = (self.hub.clone(), self.send.clone());
        match effect {
            Effect::Quit => {}
            Effect::Ring(text) => return screen.ring(&text),
            Effect::Look(id) => {
                spawn_blocking(move || match hub.inbox_entry(&id) {
                    Ok(entry) => send.send(Message::Looked(Box::new(entry))),
                    Err(refusal) => send.send(Message::Failed(refusal)),
                });
            }
            Effect::Answer { question, answer, note } => {
                let action = Action::Answer { question: question.clone(), answer, note };
                let command = Command { item: question.item.clone(), by: self.by.clone(), via: Via::Tui, action };
                self.sending.retain(|sending| !sending.is_finished());
                self.sending.push(spawn_blocking(move || {
                    let refusal = hub.execute(&command, None).read::<Value>().err();
                    let entry = hub.inbox_entry(&question).ok();
                    let _ = send.send(Message::Answered(Box::new(Answered { question, refusal, entry })));
                }));
            }
        }
        Ok(())
    }

    /// What somebody sent before they quit is sent.
    async fn close(self) -> Result<(), Refusal> {
        for sending in self.sending {
            // One that panicked has said so.
            let _ = sending.await;
        }
        Ok(())
    }
}

/// The terminal while it is ours.
struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    _restored: Restored,
}

impl Screen {
    fn open() -> io::Result<Self> {
        // A release ends at a panic without dropping anything.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            hook(panic);
        }));
        let restored = Restored;
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok(Self { terminal, _restored: restored })
    }

    fn draw(&mut self, app: &App, look: &Look) -> io::Result<Drawn> {
        let mut drawn = Drawn::default();
        self.terminal.draw(|frame| drawn = draw(app, look, frame))?;
        Ok(drawn)
    }

    /// The bell, and a notice of the desktop where the terminal shows one. The text is clean.
    fn ring(&mut self, text: &str) -> io::Result<()> {
        let out = self.terminal.backend_mut();
        write!(out, "\u{7}\u{1b}]9;{text}\u{1b}\\")?;
        Write::flush(out)
    }
}

/// Gives the terminal back when it is dropped.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        restore();
    }
}

/// A terminal that is gone needs nothing back.
fn restore() {
    let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// Hands keys on, as they are pressed.
fn read_keys(send: &Sender) {
    while let Ok(event) = event::read() {
        let message = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => key_of(key).map(Message::Key),
            Event::Paste(text) => Some(Message::Paste(text)),
            Event::Resize(..) => Some(Message::Resized),
            _ => None,
        };
        if message.is_some_and(|message| send.send(message).is_err()) {
            return;
        }
    }
    let _ = send.send(Message::Closed);
}

fn key_of(event: KeyEvent) -> Option<Key> {
    let (ctrl, alt) = (event.modifiers.contains(KeyModifiers::CONTROL), event.modifiers.contains(KeyModifiers::ALT));
    let plain = !ctrl && !alt;
    Some(match event.code {
        KeyCode::Char('c') if ctrl => Key::Interrupt,
        KeyCode::Char('j') if ctrl => Key::NewLine,
        KeyCode::Char('u') if ctrl => Key::Erase,
        KeyCode::Char('a') if ctrl => Key::Home,
        KeyCode::Char('e') if ctrl => Key::End,
        // AltGr is both, and writes letters.
        KeyCode::Char(letter) if plain || (ctrl && alt) => Key::Char(letter),
        KeyCode::Enter if plain && event.modifiers.is_empty() => Key::Enter,
        KeyCode::Enter => Key::NewLine,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}

fn broken(error: &io::Error) -> Refusal {
    let message = format!("the terminal cannot be used: {error}");
    Refusal::new(Code::StorageError, message, "list what waits instead: querent questions --to human")
}
