//! The person whom the agents ask: whoever sits at the terminal, else nobody, else the demo.

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use querent_core::event::Event;
use querent_core::{Action, Category, Command, Party, Question, QuestionId, Record, Refusal, Via};
use querent_hub::Handle;
use serde_json::{Value, json};

use crate::cli::commands::run::Aside;
use crate::cli::output::{Page, Paint};
use crate::text::clean_line;

/// Whom the demo answers as. Everything that it decides for people stands in the journal under this name.
pub(super) fn stand_in() -> Party {
    Party::Human(Some("demo".to_owned()))
}

/// Who answers, and where.
#[derive(Clone)]
pub(super) struct Person {
    hub: Handle,
    /// Whether somebody sits at this terminal.
    is_here: bool,
    /// Where the inbox is, if it is served.
    inbox: Option<String>,
    /// How long the demo waits before it gives a permission that nobody gives.
    grace: Duration,
    /// How long people have where there is a fallback.
    patience: Duration,
    /// What somebody may answer, oldest first.
    asked: Arc<Mutex<Vec<QuestionId>>>,
}

impl Person {
    pub(super) fn new(hub: Handle, is_here: bool, inbox: Option<String>, grace: Duration, patience: Duration) -> Self {
        Self { hub, is_here, inbox, grace, patience, asked: Arc::default() }
    }

    /// Reads answers from standard input until it ends, and counts the lines.
    pub(super) fn listen(&self, typed: Arc<AtomicUsize>) {
        if !self.is_here {
            return;
        }
        let person = self.clone();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                typed.fetch_add(1, Ordering::Relaxed);
                if let Some(said) = person.hear(line.trim()) {
                    typed.fetch_add(1, Ordering::Relaxed);
                    let mut out = std::io::stdout().lock();
                    let _ = writeln!(out, "{said}").and_then(|()| out.flush());
                }
            }
        });
    }

    /// Takes note of what is asked, tells how it is answered, and sees to it that it is.
    pub(super) fn aside(self) -> Aside {
        Box::new(move |record: &Record, page: &mut Page| {
            let (Event::QuestionAsked(_) | Event::QuestionEscalated(_)) = &record.event else { return };
            let Some(Ok(question)) = record.event.question().map(|id| self.hub.question(id)) else { return };
            if !(question.blocking && question.to.is_human()) {
                return;
            }
            let silent = question.category == Category::PermissionOverride;
            self.invite(page, &question, silent);
            self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question.id.clone());
            if silent {
                let person = self.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(person.grace).await;
                    let answer = move || person.answer(&question.id, stand_in(), "allow");
                    // Whoever was faster has the word.
                    let _ = tokio::task::spawn_blocking(answer).await;
                });
            }
        })
    }

    /// Says what can be answered, where, and what happens if nobody does.
    fn invite(&self, page: &mut Page, question: &Question, silent: bool) {
        let fallback = question.fallback.as_ref().map(|it| it.answer.clone());
        for (place, choice) in question.options.iter().enumerate() {
            let taken = if fallback == Some(json!(choice.id)) { "   <- if nobody answers" } else { "" };
            page.line(format!("     {}  {}{taken}", place + 1, clean_line(&choice.label)));
        }
        let inbox = self.inbox.as_deref().map(|url| format!("in the inbox ({url})"));
        let here = self.is_here.then(|| "here: type its number and press Enter".to_owned());
        let place: Vec<String> = inbox.into_iter().chain(here).collect();
        if !place.is_empty() {
            page.paint(Paint::Bold, &format!("     {} is for you. Answer {}\n", question.id, place.join(", or ")));
        }
        let seconds = if silent { self.grace } else { self.patience }.as_secs();
        let within = if seconds == 0 { "at once".to_owned() } else { format!("in {seconds}s") };
        let otherwise = if silent {
            format!("Silence never gives permission. Without an answer the demo gives one for you {within}.")
        } else {
            format!("Without an answer its fallback is taken {within}.")
        };
        if silent || question.fallback.is_some() {
            page.paint(Paint::Dim, &format!("     {otherwise}\n"));
        }
    }

    /// Answers the oldest question that is still open. Says what is wrong with it.
    fn hear(&self, line: &str) -> Option<String> {
        if line.is_empty() {
            return None;
        }
        let open = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.retain(|id| self.hub.question(id).is_ok_and(|it| !it.status.is_final()));
            asked.first().cloned()
        };
        let Some(question) = open.and_then(|id| self.hub.question(&id).ok()) else {
            return Some("Nothing waits for you now.".to_owned());
        };
        let numbered = line.parse::<usize>().ok().and_then(|number| question.options.get(number.checked_sub(1)?));
        let answer = numbered.map_or(line, |choice| choice.id.as_str());
        self.answer(&question.id, Party::HUMAN, answer).err().map(|refusal| refusal.message)
    }

    fn answer(&self, id: &QuestionId, by: Party, answer: &str) -> Result<(), Refusal> {
        let action = Action::Answer { question: id.clone(), answer: json!(answer), note: None };
        let command = Command { item: id.item.clone(), by, via: Via::Cli, action };
        self.hub.execute(&command, None).read::<Value>().map(drop)
    }
}
