//! Tokens and login links: secrets are made here, shown once, and kept nowhere.

use std::ops::Deref;
use std::sync::Arc;

use querent_core::reply::TokenReply;
use querent_core::view::TokenView;
use querent_core::{
    Access, Code, OperationId, Party, Refusal, Role, Shared, SharedAction, SharedCommand, Span, State, Token, TokenId,
    Via,
};

use crate::handle::Handle;
use crate::secrets::{fresh, hash};

/// What a token begins with, so that it is recognised wherever it turns up by mistake.
const MARK: &str = "qrt_";

/// Who may come in, shared with whoever else looks at it.
pub struct Roster(Arc<State>);

impl Deref for Roster {
    type Target = Access;

    fn deref(&self) -> &Access {
        &self.0.access
    }
}

impl Handle {
    /// Makes a token. The secret is returned this once; only its hash is recorded.
    pub fn create_token(
        &self,
        by: Party,
        role: Role,
        name: Option<String>,
        expires_in: Option<Span>,
        operation: Option<OperationId>,
    ) -> Result<(TokenView, String), Refusal> {
        let secret = format!("{MARK}{}", fresh()?);
        let action = SharedAction::CreateToken { name, role, hash: hash(&secret)?, expires_in };
        let made = self.execute_shared(&SharedCommand { by, via: Via::Cli, action }, operation).read::<TokenReply>()?;
        made.token.map(|token| (token, secret)).ok_or_else(lost)
    }

    /// A code that lets its bearer log in once, in the next quarter of an hour.
    pub fn offer_login(&self, by: Party, token: TokenId) -> Result<String, Refusal> {
        let code = fresh()?;
        let action = SharedAction::OfferLogin { token, hash: hash(&code)? };
        self.execute_shared(&SharedCommand { by, via: Via::Cli, action }, None).read::<TokenReply>()?;
        Ok(code)
    }

    /// Uses a login code up; the token that it stands for.
    pub fn use_login(&self, code: &str) -> Result<Token, Refusal> {
        let hash = hash(code)?;
        let offered = self.access_now()?;
        let by_code = |token: &&Token| token.link.as_ref().is_some_and(|link| link.hash == hash);
        let token = offered.tokens.values().find(by_code).cloned();
        let action = SharedAction::UseLogin { hash };
        self.execute_shared(&SharedCommand { by: Party::HUMAN, via: Via::Web, action }, None).read::<()>()?;
        token.ok_or_else(lost)
    }

    /// The token that this secret is, if it is good now.
    pub fn bearer(&self, secret: &str) -> Result<Option<Token>, Refusal> {
        let hash = hash(secret)?;
        let good = |roster: &Roster| roster.bearer(&hash, self.now()).cloned();
        // One that nobody knows may have been made this moment, by another process.
        match good(&self.access()?) {
            Some(token) => Ok(Some(token)),
            None => Ok(good(&self.access_now()?)),
        }
    }

    /// Who may come in. What other processes did in the last tenth of a second may be missing.
    pub fn access(&self) -> Result<Roster, Refusal> {
        Ok(Roster(self.inner.journal.read_lately()?.shared(Shared::Access)?))
    }

    /// Who may come in, whatever other processes did.
    pub fn access_now(&self) -> Result<Roster, Refusal> {
        Ok(Roster(self.inner.journal.read()?.shared(Shared::Access)?))
    }
}

fn lost() -> Refusal {
    Refusal::new(Code::Unauthorized, "the token was taken away meanwhile", "ask for a new one")
}
