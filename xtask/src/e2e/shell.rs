//! The whole life of a question from a shell: every step is a process of its own, as agents and people start them.

use std::path::Path;

use querent_core::Code;
use serde_json::{Value, json};

use super::project::{Project, hold, list, same, words};
use super::{Case, Suite};

pub(super) const SUITE: Suite = Suite {
    name: "shell",
    about: "the life of a question, in real processes",
    needs: &[],
    cases: &[
        Case { name: "an agent asks an agent: rounds, answer, resolution", run: agent_to_agent },
        Case { name: "rounds run out: the question goes to a human and the item waits", run: rounds_run_out },
        Case { name: "an agent asks a human: the item waits and goes on where it was", run: agent_to_human },
        Case { name: "whoever waits is woken by an answer from another process", run: await_is_woken },
        Case { name: "nobody is woken without an answer: the wait ends in time", run: await_ends },
        Case { name: "the same operation twice: one effect, the same bytes", run: replay },
        Case { name: "many processes ask at once: every question is there, ids are dense", run: at_once },
        Case { name: "an item ends: what is open is withdrawn and kept", run: item_ends },
        Case { name: "a step is finished: the item goes on", run: item_goes_on },
        Case { name: "mistakes: a code, a sentence, a hint, an exit status, and no side effect", run: mistakes },
        Case { name: "the log and the doctor", run: log_and_doctor },
        Case { name: "the demo runs in a place of its own and touches nothing that exists", run: demo },
        Case { name: "people read a conversation without colour codes", run: conversation },
    ],
};

const TO_ARCHITECT: &[&str] = &[
    "ask",
    "--item",
    "42",
    "--from",
    "engineer",
    "--to",
    "architect",
    "--topic",
    "Sessions",
    "--question",
    "Where do they live?",
];
const TO_HUMAN: &[&str] = &[
    "ask",
    "--item",
    "42",
    "--from",
    "engineer",
    "--to",
    "human",
    "--topic",
    "Tokens",
    "--question",
    "JWT or cookies?",
    "--option",
    "jwt=JSON Web Token",
    "--option",
    "cookie=Session cookie",
];

fn ask(project: &Project, arguments: &[&str]) -> Result<String, String> {
    Ok(words(&project.ok(arguments)?, "/question_id")?.to_owned())
}

fn session(project: &Project, agent: &str) -> Result<Value, String> {
    let state = project.ok(&["state"])?;
    let found = list(&state, "/sessions")?.iter().find(|it| it["agent"] == agent).cloned();
    found.ok_or_else(|| format!("no session of {agent} in {state}"))
}

fn agent_to_agent(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    let started = project.ok(&["hook", "start", "--agent", "engineer", "--item", "42"])?;
    same(&started, "/session/status", "working")?;
    let asked = project.ok(TO_ARCHITECT)?;
    same(&asked, "/question_id", "CLR-42-001")?;
    same(&asked, "/status", "open")?;
    same(&asked, "/to", "architect")?;
    same(&asked, "/round", 1)?;
    same(&asked, "/max_rounds", 5)?;
    same(&asked, "/answer", Value::Null)?;
    let waiting = session(&project, "engineer")?;
    same(&waiting, "/status", "blocked-clarification")?;
    same(&waiting, "/waiting_on", "architect")?;
    same(&waiting, "/clarification_id", "CLR-42-001")?;
    same(&session(&project, "architect")?, "/status", "clarifying")?;
    same(&project.ok(&["ready"])?, "/items/0/blocked", true)?;
    project.refused(&["answer", "CLR-42-001", "--answer", "x", "--by", "reviewer"], Code::NotAddressee)?;
    let answered = project.ok(&["answer", "CLR-42-001", "--answer", "In the store.", "--by", "architect"])?;
    same(&answered, "/status", "answered")?;
    same(&answered, "/answer/provenance", "agent")?;
    same(&session(&project, "engineer")?, "/status", "working")?;
    project.refused(&["follow-up", "CLR-42-001", "--from", "reviewer", "--question", "x"], Code::NotAsker)?;
    let again = project.ok(&["follow-up", "CLR-42-001", "--from", "engineer", "--question", "Which store?"])?;
    same(&again, "/round", 2)?;
    same(&again, "/status", "open")?;
    project.ok(&["answer", "CLR-42-001", "--answer", "Redis.", "--by", "architect"])?;
    same(
        &project.ok(&["resolve", "CLR-42-001", "--by", "engineer", "--note", "Redis it is."])?,
        "/status",
        "resolved",
    )?;
    let shown = project.ok(&["show", "CLR-42-001"])?;
    let thread = list(&shown, "/question/thread")?;
    let types: Vec<&Value> = thread.iter().map(|entry| &entry["type"]).collect();
    hold(types == ["question", "answer", "question", "answer", "resolution"], || format!("the thread is {types:?}"))?;
    let rounds: Vec<&Value> = thread.iter().map(|entry| &entry["round"]).collect();
    hold(rounds[..4] == [1, 1, 2, 2], || format!("the rounds are {rounds:?}"))
}

fn rounds_run_out(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    let id = ask(&project, TO_ARCHITECT)?;
    for round in 1..=5 {
        project.ok(&["answer", &id, "--answer", &format!("Answer {round}."), "--by", "architect"])?;
        if round < 5 {
            let question = format!("And {round}?");
            same(
                &project.ok(&["follow-up", &id, "--from", "engineer", "--question", &question])?,
                "/round",
                round + 1,
            )?;
        }
    }
    let error =
        project.refused(&["follow-up", &id, "--from", "engineer", "--question", "Still?"], Code::MaxRoundsExceeded)?;
    same(&error, "/details/status", "escalated")?;
    same(&error, "/details/item_stage", "awaiting_input")?;
    let item = project.ok(&["item", "show", "42"])?;
    same(&item, "/item/stage", "awaiting_input")?;
    same(&item, "/item/resume_stage", "requirements")?;
    let answered = project.ok(&["answer", &id, "--answer", "Decided.", "--by", "human:alice"])?;
    same(&answered, "/status", "resolved")?;
    same(&answered, "/resumed", true)?;
    same(&answered, "/item_stage", "requirements")
}

fn agent_to_human(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    let asked = project.ok(TO_HUMAN)?;
    let id = words(&asked, "/question_id")?;
    same(&asked, "/item_stage", "awaiting_input")?;
    same(&asked, "/resume_stage", "requirements")?;
    let refused = project.refused(&["hook", "start", "--agent", "engineer", "--item", "42"], Code::ItemNotRunnable)?;
    same(&refused, "/details/question_id", id)?;
    project.refused(TO_HUMAN, Code::QuestionConflictOpen)?;
    let aside: Vec<&str> = TO_HUMAN.iter().copied().chain(["--no-blocking"]).collect();
    same(&project.ok(&aside)?, "/status", "open")?;
    project.refused(&["answer", id, "--answer", "jwt", "--by", "architect"], Code::HumanOnly)?;
    let accepted = project.refused(&["answer", id, "--answer", "magic"], Code::QuestionInvalidAnswer)?;
    hold(words(&accepted, "/hint")?.contains("cookie"), || format!("the hint names no option: {accepted}"))?;
    let status = project.ok(&["status"])?;
    same(&status, "/items/0/open_question_id", id)?;
    same(&status, "/items/0/open_question_count", 1)?;
    let answered = project.ok(&["answer", id, "--answer", "session COOKIE", "--by", "human:alice"])?;
    same(&answered, "/status", "resolved")?;
    same(&answered, "/resumed", true)?;
    same(&answered, "/item_stage", "requirements")?;
    same(&answered, "/answer/value", "cookie")?;
    same(&answered, "/answer/by", "human:alice")?;
    same(&answered, "/answer/provenance", "human")?;
    project.refused(&["answer", id, "--answer", "jwt"], Code::QuestionAlreadyAnswered)?;
    project.ok(&["hook", "start", "--agent", "engineer", "--item", "42"]).map(drop)
}

fn await_is_woken(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    let id = ask(&project, TO_ARCHITECT)?;
    let mut waiting = project.begin_reply(&["await", &id, "--timeout", "2m"])?;
    same(&project.ok(&["questions", "--to", "architect"])?, "/count", 1)?;
    hold(waiting.is_waiting()?, || "await returned although nobody had answered".to_owned())?;
    project.ok(&["answer", &id, "--answer", "In the store.", "--by", "architect"])?;
    let woken = waiting.reply()?.data()?;
    same(&woken, "/status", "answered")?;
    same(&woken, "/answer/text", "In the store.")
}

fn await_ends(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    let id = ask(&project, TO_ARCHITECT)?;
    let ended = project.ok(&["await", &id, "--timeout", "1s"])?;
    same(&ended, "/timed_out", true)?;
    same(&ended, "/question_id", id.as_str())?;
    same(&ended, "/status", "open")
}

fn replay(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    let operation: Vec<&str> = TO_ARCHITECT.iter().copied().chain(["--operation-id", "op-1"]).collect();
    let (first, second) = (project.reply(&operation)?, project.reply(&operation)?);
    hold(first.text == second.text, || format!("two replies to one operation: {} and {}", first.text, second.text))?;
    same(&project.ok(&["questions"])?, "/count", 1)?;
    let other: Vec<&str> = TO_HUMAN.iter().copied().chain(["--operation-id", "op-1"]).collect();
    project.refused(&other, Code::OperationConflict).map(drop)
}

fn at_once(binary: &Path) -> Result<(), String> {
    // Several rounds: a lock that does not always exclude is seldom seen in one.
    const ROUNDS: usize = 10;
    const PROCESSES: usize = 16;
    let project = Project::new(binary)?;
    let call: Vec<&str> = TO_ARCHITECT.iter().copied().chain(["--no-blocking"]).collect();
    let mut ids = Vec::new();
    for _ in 0..ROUNDS {
        let running: Vec<_> = (0..PROCESSES).map(|_| project.begin_reply(&call)).collect::<Result<_, _>>()?;
        for call in running {
            ids.push(words(&call.reply()?.data()?, "/question_id")?.to_owned());
        }
    }
    ids.sort();
    let wanted: Vec<String> = (1..=ROUNDS * PROCESSES).map(|number| format!("CLR-42-{number:03}")).collect();
    hold(ids == wanted, || format!("the acknowledged ids are {ids:?}"))?;
    same(&project.ok(&["questions", "--item", "42"])?, "/count", ROUNDS * PROCESSES)?;
    same(&project.ok(&["doctor"])?, "/healthy", true)
}

fn item_ends(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    let id = ask(&project, TO_ARCHITECT)?;
    same(&project.ok(&["item", "end", "42", "--as", "merged"])?, "/item/stage", "merged")?;
    same(&project.ok(&["show", &id])?, "/question/status", "withdrawn")?;
    same(&project.ok(&["questions"])?, "/count", 0)?;
    same(&project.ok(&["questions", "--status", "withdrawn"])?, "/count", 1)?;
    project.refused(&["answer", &id, "--answer", "late"], Code::QuestionAnswerNotAllowedInTerminalState)?;
    project.refused(TO_ARCHITECT, Code::ItemNotRunnable).map(drop)
}

fn item_goes_on(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    let finish = |agent: &str| project.ok(&["hook", "finish", "--agent", agent, "--item", "42"]);
    project.ok(&["hook", "start", "--agent", "product-manager", "--item", "42"])?;
    same(&finish("product-manager")?, "/item/stage", "architecture")?;
    same(&finish("engineer")?, "/item/stage", "architecture")?;
    same(&finish("architect")?, "/item/stage", "implement")?;
    same(&finish("engineer")?, "/item/stage", "review")?;
    same(&finish("reviewer")?, "/item/stage", "ready_to_merge")?;
    same(&project.ok(&["item", "move", "42", "--to", "implement"])?, "/item/stage", "implement")
}

fn mistakes(binary: &Path) -> Result<(), String> {
    let nowhere = Project::empty(binary)?;
    nowhere.refused(&["questions"], Code::NoProject)?;
    let left = std::fs::read_dir(nowhere.folder()).map_err(|error| error.to_string())?.count();
    hold(left == 0, || "a refused call left a file behind".to_owned())?;
    let project = Project::new(binary)?;
    project.refused(&["questions", "--statsu", "open"], Code::Usage)?;
    let near = project.refused(&["hook", "start", "--agent", "enginer", "--item", "42"], Code::UnknownAgent)?;
    hold(words(&near, "/hint")?.contains("engineer"), || format!("the hint names no near agent: {near}"))?;
    project.refused(&["item", "show", "43"], Code::ItemNotFound)?;
    project.refused(&["show", "CLR-42-009"], Code::QuestionNotFound)?;
    project.refused(&["show", "CLR-42-9"], Code::InvalidInput)?;
    project.refused(&["item", "add", "42", "--title", "Again"], Code::Conflict)?;
    let scope = ["ask", "--item", "42", "--from", "architect", "--to", "engineer", "--topic", "t", "--question", "q"];
    let scope = project.refused(&scope, Code::ScopeViolation)?;
    same(&scope, "/details/allowed", json!(["product-manager", "human"]))?;
    let config = project.folder().join(".querent/config.toml");
    std::fs::write(&config, "[project]\nname = \"shop\"\nautonmy = \"smart\"\n").map_err(|error| error.to_string())?;
    let broken = project.refused(&["questions"], Code::InvalidConfig)?;
    let said = format!("{} {}", words(&broken, "/message")?, words(&broken, "/hint")?);
    hold(said.contains("config.toml") && said.contains("autonomy") && said.contains('3'), || {
        format!("not clear: {said}")
    })
}

fn log_and_doctor(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    ask(&project, TO_HUMAN)?;
    let output = project.plain(&["events", "--json"])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let lines = lines.map_err(|error| format!("a line of the log is no JSON: {error}: {text}"))?;
    let types: Vec<&Value> = lines.iter().map(|line| &line["type"]).collect();
    hold(types == ["item_opened", "question_asked", "item_paused"], || format!("the log is {types:?}"))?;
    let dense = lines.iter().zip(1..).all(|(line, seq)| line["seq"] == seq);
    hold(dense && lines.iter().all(|line| line["stream"] == "42"), || format!("seq or stream is wrong: {text}"))?;
    same(&project.ok(&["doctor"])?, "/healthy", true)
}

fn conversation(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    let id = ask(&project, TO_ARCHITECT)?;
    project.ok(&["answer", &id, "--answer", "In the store.", "--by", "architect"])?;
    let output = project.plain(&["show", &id])?;
    let text = String::from_utf8_lossy(&output.stdout);
    let wanted = [
        "[Round 1] engineer -> architect (",
        "  Q: Where do they live?",
        "[Round 1] architect -> engineer (",
        "  A: In the store.",
    ];
    for line in wanted {
        hold(text.contains(line), || format!("`{line}` is not in:\n{text}"))?;
    }
    hold(!text.contains('\u{1b}'), || "there are colour codes without a terminal".to_owned())
}

fn demo(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    let before = project.plain(&["events", "--json"])?.stdout;
    project.refused(&["demo", "--dir", "."], Code::Conflict)?;
    let output = project.plain(&["demo", "--fast", "--dir", "demo"])?;
    hold(output.status.success(), || format!("the demo ended with {}", output.status))?;
    let shown = Project::at(binary, &project.folder().join("demo"));
    same(&shown.ok(&["doctor"])?, "/healthy", true)?;
    let asked = shown.ok(&["questions", "--status", "all"])?;
    hold(!list(&asked, "/questions")?.is_empty(), || "the demo asked nothing".to_owned())?;
    hold(project.plain(&["events", "--json"])?.stdout == before, || "the demo changed the project around it".to_owned())
}
