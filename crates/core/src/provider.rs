//! `[providers.NAME]`: how an agent is invoked. Data alone; `querent-agents` does it.

use serde::Deserialize;

use crate::moment::Span;
use crate::question::words;

/// How an agent is invoked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// By which means.
    pub kind: ProviderKind,
    /// How a program is called and read; without it, by the program's name.
    #[serde(default)]
    pub profile: Option<Profile>,
    /// The program and its arguments (`command`, `acp`).
    #[serde(default)]
    pub command: Vec<String>,
    /// The variables that are passed on, beside `PATH`, `HOME`, `LANG` and `TERM`.
    #[serde(default)]
    pub env: Vec<String>,
    /// How long a turn may take. Time in which a human is waited for does not count.
    #[serde(default = "ten_minutes")]
    pub timeout: Span,
    /// How many bytes a turn may print.
    #[serde(default = "sixty_four_mib")]
    pub max_output: u64,
    /// The file of replies (`scripted`), from the project's directory.
    #[serde(default)]
    pub script: Option<String>,
    /// The model (`anthropic`, `openai`).
    #[serde(default)]
    pub model: Option<String>,
    /// Where the API is reached (`anthropic`, `openai`); without it, at the vendor's own address.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The variable that holds the key (`anthropic`, `openai`); without it, the vendor's own.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// The most tokens of a reply (`anthropic`, `openai`).
    #[serde(default)]
    pub max_tokens: Option<u32>,
}

fn ten_minutes() -> Span {
    Span::minutes(10)
}

fn sixty_four_mib() -> u64 {
    64 << 20
}

words!(
    /// By which means an agent is invoked.
    ProviderKind {
        /// A program that is started for each turn.
        Command = "command",
        /// A program that speaks the Agent Client Protocol.
        Acp = "acp",
        /// Anthropic's Messages API.
        Anthropic = "anthropic",
        /// The Responses API of `OpenAI`.
        Openai = "openai",
        /// Replies from a file, for demonstrations and tests.
        Scripted = "scripted",
    }
);

words!(
    /// How a program is called and what its output means.
    Profile {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// opencode.
        Opencode = "opencode",
        /// Gemini CLI.
        Gemini = "gemini",
        /// Any other: the prompt on standard input, text or JSON lines on standard output.
        Generic = "generic",
    }
);
