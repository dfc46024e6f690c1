//! `querent run`: a team at work in a git repository, with agents that ask, fail, misbehave and are killed.

mod abuse;
mod clarification;
mod demo;
mod killed;
mod runner;
mod scene;
mod stopped;
#[cfg(unix)]
mod terminal;
mod told;
mod waves;

use std::path::Path;

use super::agents::{self, colleague, resumed};
use super::{Case, Need, Suite};

pub(super) use runner::Runner;
pub(super) use scene::Scene;

pub(super) const SUITE: Suite = Suite {
    name: "team",
    about: "`querent run` takes items through their workflows",
    needs: &[
        agents::NEED,
        Need {
            what: "Linux's /proc",
            is_met: |_| Path::new("/proc/self/status").exists(),
            install: None,
            cure: "run it on Linux: it measures memory there and looks for processes that were left",
        },
    ],
    cases: &[
        Case { name: "an agent asks, the other is called, and it goes on with the answer", run: clarification::happy },
        Case { name: "a program that asks is told the answer when it is called again", run: clarification::in_context },
        Case { name: "five rounds are used up: a human decides, and the run goes on", run: clarification::rounds },
        Case { name: "an agent that fails is called twice, and then a human", run: clarification::fails },
        Case { name: "Claude Code asks, Codex is called and answers", run: colleague::claude_asks_codex },
        Case { name: "Codex asks, Claude Code is called and answers", run: colleague::codex_asks_claude },
        Case {
            name: "opencode asks, Gemini CLI is called and answers, both by the Agent Client Protocol",
            run: colleague::opencode_asks_gemini,
        },
        Case {
            name: "Gemini CLI asks, opencode is called and answers, both by the Agent Client Protocol",
            run: colleague::gemini_asks_opencode,
        },
        Case {
            name: "Claude Code asks a human and ends; it goes on in its session with the answer",
            run: resumed::claude,
        },
        Case { name: "Codex asks a human and ends; it goes on in its session with the answer", run: resumed::codex },
        Case { name: "waves: one runner, and three sessions for each item", run: waves::run },
        Case { name: "a program that hangs: ended in time, and the item blocked", run: abuse::hangs },
        Case { name: "a program that ignores the request to end: ended all the same", run: abuse::ignores },
        Case { name: "a program that floods its output: ended, and the item blocked", run: abuse::floods },
        Case { name: "a program that may print a gigabyte: nothing of it is held", run: abuse::floods_as_it_may },
        Case { name: "a program that prints broken JSON: the work goes on", run: abuse::babbles },
        Case { name: "a program that is killed: the item says so", run: abuse::dies },
        Case { name: "a program that leaves children: they end with it", run: abuse::leaves_children },
        Case { name: "secrets of the environment are in no record and in no output", run: abuse::tells_secrets },
        #[cfg(unix)]
        Case { name: "on a terminal: a live line for each item, and none is left at Ctrl-C", run: terminal::live },
        #[cfg(unix)]
        Case { name: "on a terminal with --json: JSON lines and nothing else", run: terminal::json },
        Case { name: "without a terminal: plain lines, or JSON lines", run: told::run },
        Case { name: "the demo is answered in the inbox, and goes on to its digest", run: demo::answered },
        Case { name: "the fast demo waits for nobody, and its inbox stays", run: demo::fast },
        Case { name: "told to stop: it ends well, and the next run goes on", run: stopped::terminated },
        Case { name: "interrupted: it ends well, and the next run goes on", run: stopped::interrupted },
        Case { name: "two runners on one project: every turn once", run: stopped::doubled },
        Case { name: "killed every second for a minute: 500 items end once each", run: killed::run },
    ],
};
