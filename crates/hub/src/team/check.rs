//! What a provider needs, checked when the config is read: nobody should find out in the middle of a run.

use querent_core::{Config, ProviderConfig, ProviderKind, Refusal, nearest};

use crate::config::File;

/// The refusal that names the first provider that cannot work, or the first agent whose provider is not there.
pub(crate) fn check(file: &File<'_>, config: &Config) -> Result<(), Refusal> {
    for (name, provider) in &config.providers {
        if let Err((message, hint)) = works(provider) {
            let place = file.text.find(&format!("[providers.{name}]")).unwrap_or(0);
            return Err(file.wrong(place, &format!("the provider `{name}` {message}"), hint, None));
        }
    }
    for (agent, it) in &config.agents {
        let Some(name) = it.provider.as_ref().filter(|name| !config.providers.contains_key(*name)) else { continue };
        let near = nearest::of(name, config.providers.keys().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("add it: [providers.{name}] with kind = \"command\" and command = [\"claude\", \"-p\"]"),
        };
        let place = file.text.find(&format!("[agents.{agent}]")).unwrap_or(0);
        let place = file.text[place..].find(&format!("\"{name}\"")).map_or(place, |found| place + found);
        let message = format!("{agent} has the provider `{name}`, and there is none of that name");
        return Err(file.wrong(place, &message, hint, near));
    }
    Ok(())
}

fn works(provider: &ProviderConfig) -> Result<(), (&'static str, &'static str)> {
    match provider.kind {
        ProviderKind::Command | ProviderKind::Acp if provider.command.is_empty() => {
            Err(("names no program", "say how it is started: command = [\"claude\", \"-p\"]"))
        }
        ProviderKind::Scripted if provider.script.is_none() => {
            Err(("names no script", "say where its replies stand: script = \"scripts/architect.yaml\""))
        }
        ProviderKind::Anthropic | ProviderKind::Openai if provider.model.is_none() => {
            Err(("names no model", "say which: model = \"…\""))
        }
        _ if provider.timeout.as_millis() == 0 => Err(("has a timeout of no length", "write it like 10m")),
        _ => Ok(()),
    }
}
