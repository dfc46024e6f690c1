//! Who calls over HTTP, and in whose name a call may speak.

use querent_core::{AgentName, Code, Party, Refusal, Role};
use serde_json::json;

/// Who calls, as the guard found out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Who {
    /// On loopback while no token exists: whoever is at this machine, as at its command line. It may say in whose name it
    /// speaks.
    Local,
    /// The bearer of a token.
    Bearer(Bearer),
}

/// Whoever has a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bearer {
    /// What the token is for.
    pub(crate) role: Role,
    /// Whose it is, where a person has it.
    pub(crate) name: Option<String>,
}

impl Who {
    /// In whose name a call speaks that names this party, or nobody. The bearer of a token speaks for itself alone.
    pub(crate) fn speaks(&self, named: Option<Party>) -> Result<Party, Refusal> {
        let Self::Bearer(bearer) = self else { return Ok(named.unwrap_or(Party::HUMAN)) };
        let own = match &bearer.role {
            Role::Human => Party::Human(bearer.name.clone()),
            Role::Agent(agent) => Party::Agent(agent.clone()),
            Role::Observer => {
                let hint = "use a token with the role human, or that of an agent";
                return Err(Refusal::new(Code::Unauthorized, "this token only reads", hint));
            }
        };
        match named {
            Some(other) if other != own && !(own.is_human() && other == Party::HUMAN) => {
                let message = format!("this token speaks for {own}, not for {other}");
                Err(Refusal::new(Code::Unauthorized, message, "leave the name out: the token says who calls")
                    .with(json!({ "caller": own, "named": other })))
            }
            _ => Ok(own),
        }
    }

    /// Whether a call may read. Reading is open to everybody whom the guard lets in.
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "the one place where a narrower right would stand"
    )]
    pub(crate) fn may_read(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Who calls, where that is known without being said; an observer says nothing.
    pub(crate) fn party(&self) -> Option<Party> {
        match self {
            Self::Local => None,
            Self::Bearer(_) => self.speaks(None).ok(),
        }
    }

    /// The agent whose token it is.
    pub(crate) fn agent(&self) -> Option<&AgentName> {
        match self {
            Self::Bearer(Bearer { role: Role::Agent(agent), .. }) => Some(agent),
            Self::Local | Self::Bearer(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer(role: Role, name: Option<&str>) -> Who {
        Who::Bearer(Bearer { role, name: name.map(str::to_owned) })
    }

    fn party(text: &str) -> Party {
        text.parse().unwrap()
    }

    #[test]
    fn at_this_machine_one_speaks_for_whom_one_names() {
        assert_eq!(Who::Local.speaks(None).unwrap(), Party::HUMAN);
        assert_eq!(Who::Local.speaks(Some(party("engineer"))).unwrap(), party("engineer"));
    }

    #[test]
    fn a_token_speaks_for_its_bearer_alone() {
        let alice = bearer(Role::Human, Some("alice"));
        let engineer = bearer(Role::Agent("engineer".parse().unwrap()), None);

        assert_eq!(alice.speaks(None).unwrap(), party("human:alice"));
        assert_eq!(alice.speaks(Some(party("human"))).unwrap(), party("human:alice"));
        assert_eq!(engineer.speaks(Some(party("engineer"))).unwrap(), party("engineer"));
        for (who, other) in
            [(&alice, "human:bob"), (&alice, "engineer"), (&engineer, "architect"), (&engineer, "human")]
        {
            assert_eq!(who.speaks(Some(party(other))).unwrap_err().code, Code::Unauthorized, "{other}");
        }
        assert_eq!(engineer.agent().map(AgentName::as_str), Some("engineer"));
    }

    #[test]
    fn an_observer_reads_and_does_nothing() {
        let observer = bearer(Role::Observer, Some("carol"));

        assert!(observer.may_read().is_ok());
        assert_eq!(observer.speaks(None).unwrap_err().message, "this token only reads");
    }
}
