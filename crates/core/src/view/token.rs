//! Tokens as people see them: never with what they are known by.

use serde::{Deserialize, Serialize};

use crate::access::{Role, Token};
use crate::id::TokenId;
use crate::moment::Moment;

/// A token without its secret and its hash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenView {
    /// `TOK-<NNN>`.
    pub id: TokenId,
    /// Whose it is.
    pub name: Option<String>,
    /// What its bearer may do.
    pub role: Role,
    /// When it was made.
    pub created_at: Moment,
    /// Until when it is good.
    pub expires_at: Option<Moment>,
    /// When it was taken back.
    pub revoked_at: Option<Moment>,
}

impl TokenView {
    /// What is shown of this one.
    pub fn of(token: &Token) -> Self {
        let Token { id, name, role, created_at, expires_at, revoked_at, .. } = token.clone();
        Self { id, name, role, created_at, expires_at, revoked_at }
    }
}
