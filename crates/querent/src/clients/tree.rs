//! What connect writes, before it is JSON or TOML.

/// A value, with its keys in the order in which they are written.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Text(String),
    Flag(bool),
    Number(u32),
    List(Vec<Tree>),
    Table(Vec<(String, Tree)>),
}

impl Tree {
    /// A text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// An object or table.
    pub(super) fn table<'a>(members: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        Self::Table(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// A list of texts.
    pub(super) fn texts(texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }
}

/// Why a file cannot take, or give back, what connect writes.
#[derive(Debug)]
pub(super) struct Unfit {
    /// What is wrong, without the file's name.
    pub(super) what: String,
    /// What to do about it.
    pub(super) cure: String,
    /// Whether it is somebody else's entry that stands in the way, and not the file's form.
    pub(super) taken: bool,
}

impl Unfit {
    /// A file that does not have the form that the client wants.
    pub(super) fn form(what: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { what: what.into(), cure: cure.into(), taken: false }
    }

    /// An entry that is not connect's.
    pub(super) fn taken(what: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { what: what.into(), cure: cure.into(), taken: true }
    }
}

/// A file's text after an edit; nothing if no file is left.
pub(super) type Edited = Result<Option<String>, Unfit>;

/// The line ends of a text.
pub(super) fn line_end(text: &str) -> &'static str {
    let is_crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
    if is_crlf { "\r\n" } else { "\n" }
}
