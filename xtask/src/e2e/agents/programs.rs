//! The agents: how each is told where its model is, and how it is started without a person before it.

use std::fs;
use std::path::Path;

use serde_json::json;

/// A real agent.
pub(super) struct Program {
    /// Its name: that of the program, and of the client for `querent connect`.
    pub(super) name: &'static str,
    /// What stands before the prompt.
    pub(super) arguments: &'static [&'static str],
    /// The kind of provider that it is for `querent run`, and the command of that.
    pub(super) provider: (&'static str, &'static [&'static str]),
    /// Its variables, given the address of the model.
    pub(super) environment: fn(&str) -> Vec<(&'static str, String)>,
    /// Writes the user's own settings, given the home, the project and the address of the model.
    pub(super) settle: fn(&Path, &Path, &str) -> Result<(), String>,
}

/// Claude Code.
pub(super) const CLAUDE: Program = Program {
    name: "claude",
    arguments: &["-p"],
    provider: ("command", &["claude"]),
    environment: |url| {
        let set = |name, value: &str| (name, value.to_owned());
        vec![
            set("ANTHROPIC_BASE_URL", url),
            set("ANTHROPIC_API_KEY", "dummy"),
            set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            set("DISABLE_AUTOUPDATER", "1"),
            set("DISABLE_ERROR_REPORTING", "1"),
            set("DISABLE_TELEMETRY", "1"),
        ]
    },
    settle: |_, _, _| Ok(()),
};

/// Codex.
pub(super) const CODEX: Program = Program {
    name: "codex",
    arguments: &["exec", "--skip-git-repo-check"],
    provider: ("command", &["codex"]),
    environment: |_| vec![("STUB_KEY", "dummy".to_owned())],
    settle: |home, project, url| {
        // It reads the settings of a project only if the user trusts it.
        let project = json!(project.to_string_lossy());
        let settings = format!(
            "model = \"stub\"\nmodel_provider = \"stub\"\ncheck_for_update_on_startup = false\n\n\
             [model_providers.stub]\nname = \"stub\"\nbase_url = \"{url}/v1\"\nenv_key = \"STUB_KEY\"\n\
             wire_api = \"responses\"\nrequest_max_retries = 0\nstream_max_retries = 0\n\n\
             [analytics]\nenabled = false\n\n[features]\nplugins = false\napps = false\n\n[projects.{project}]\ntrust_level = \"trusted\"\n"
        );
        write(&home.join(".codex/config.toml"), &settings)
    },
};

/// opencode.
pub(super) const OPENCODE: Program = Program {
    name: "opencode",
    arguments: &["run"],
    provider: ("acp", &["opencode", "acp"]),
    environment: |_| {
        let off = [
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "npm_config_offline",
        ];
        off.into_iter().map(|name| (name, "true".to_owned())).collect()
    },
    settle: |home, _, url| {
        let limit = json!({"context": 100_000, "output": 1_000});
        let provider = json!({"npm": "@ai-sdk/openai-compatible", "name": "Stub",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "dummy"},
            "models": {"stub": {"name": "Stub", "tool_call": true, "limit": limit}}});
        let settings = json!({"autoupdate": false, "share": "disabled", "model": "stub/stub",
            "small_model": "stub/stub", "enabled_providers": ["stub"], "provider": {"stub": provider}});
        write(&home.join(".config/opencode/opencode.json"), &settings.to_string())
    },
};

/// Gemini CLI.
pub(super) const GEMINI: Program = Program {
    name: "gemini",
    arguments: &["-m", "gemini-2.5-flash", "-p"],
    provider: ("acp", &["gemini", "-m", "gemini-2.5-flash", "--acp"]),
    environment: |url| {
        let set = |name, value: &str| (name, value.to_owned());
        // It reads the settings of a project only if the user trusts it; its flag `--skip-trust` comes too late for that.
        vec![
            set("GOOGLE_GEMINI_BASE_URL", url),
            set("GEMINI_API_KEY", "dummy"),
            set("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ]
    },
    settle: |home, _, _| {
        let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
            "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}});
        write(&home.join(".gemini/settings.json"), &settings.to_string())
    },
};

fn write(file: &Path, text: &str) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", file.display());
    file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(file, text)).map_err(failed)
}
