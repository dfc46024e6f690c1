//! Edits of JSON that somebody else wrote. Bytes are put in and taken out; no other byte changes, comments included.
//!
//! What was put in is taken out to the byte, without a record of it: the white space around it says what was there. An
//! object or list that an edit made has its brackets on lines of their own, or inner spaces on one line; one that was
//! there and empty never gets both, so the two are told apart.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::json_text::{Container, Ink, comma, indent};
use super::tree::{Tree, Unfit};

/// A step from a value to one inside it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Key(&'a str),
    At(usize),
}

/// Which JSON a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// JSON and nothing else.
    Strict,
    /// JSON with comments.
    Comments,
    /// JSON with comments and commas after the last member.
    Loose,
}

/// A text in JSON, and the edits on it.
pub(super) struct Json {
    text: String,
    dialect: Dialect,
    /// Whether an edit took away the last thing that an edit had made.
    is_gone: bool,
}

impl Json {
    /// Reads a file's text; a file that is not there, or has nothing in it, is an object without members.
    pub(super) fn read(text: Option<&str>, dialect: Dialect) -> Result<Self, Unfit> {
        let json = Self { text: text.unwrap_or_default().to_owned(), dialect, is_gone: text.is_none() };
        match json.root()? {
            Some(Value::Object(_)) | None => Ok(json),
            Some(_) => {
                let cure = "make the whole file an object, `{ … }`; nothing was changed";
                Err(Unfit::form("it is JSON, but no object", cure))
            }
        }
    }

    /// The text now; nothing if there should be no file.
    pub(super) fn into_text(self) -> Option<String> {
        (!self.is_gone).then_some(self.text)
    }

    /// Looks at a value.
    pub(super) fn look<T>(&self, path: &[Step<'_>], at: impl FnOnce(&Value<'_>) -> T) -> Result<Option<T>, Unfit> {
        Ok(self.root()?.as_ref().and_then(|root| find(root, path)).map(at))
    }

    /// Makes the value at a path say what `tree` says. Of an object, only the keys that `tree` has are touched.
    pub(super) fn put(&mut self, path: &[Step<'_>], tree: &Tree) -> Result<(), Unfit> {
        let Some((is_same, is_object)) = self.look(path, |it| (says(it, tree), it.as_object().is_some()))? else {
            return self.insert_at(path, tree);
        };
        match tree {
            _ if is_same => Ok(()),
            Tree::Table(members) if is_object => {
                let mut inner = path.to_vec();
                for (key, value) in members {
                    inner.push(Step::Key(key));
                    self.put(&inner, value)?;
                    inner.pop();
                }
                Ok(())
            }
            _ => self.replace(path, tree),
        }
    }

    /// Adds an element to the list at a path, which is made if it is not there.
    pub(super) fn push(&mut self, path: &[Step<'_>], tree: Tree) -> Result<(), Unfit> {
        match self.look(path, |it| it.as_array().is_some())? {
            Some(true) => self.insert(path, None, &tree),
            Some(false) => Err(wrong(path, "a list, `[ … ]`")),
            None => self.insert_at(path, &Tree::List(vec![tree])),
        }
    }

    /// Takes a value away, and with it what was made to hold it.
    pub(super) fn remove(&mut self, path: &[Step<'_>]) -> Result<(), Unfit> {
        let Some((last, holder)) = path.split_last() else {
            self.remove_root()?;
            return Ok(());
        };
        let place = self.look(holder, |it| place(it, *last).map(|index| (Container::of(it), index)))?.flatten();
        let Some((container, index)) = place else { return Ok(()) };
        if container.children.len() == 1 && container.is_made(&self.text) {
            return self.remove(holder);
        }
        for range in container.without(&self.text, index).into_iter().rev() {
            self.text.replace_range(range, "");
        }
        Ok(())
    }

    fn root(&self) -> Result<Option<Value<'_>>, Unfit> {
        let options = ParseOptions {
            allow_comments: self.dialect != Dialect::Strict,
            allow_trailing_commas: self.dialect == Dialect::Loose,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(&self.text, &CollectOptions::default(), &options);
        parsed.map(|parsed| parsed.value).map_err(|error| {
            let place = format!("line {}, column {}", error.line_display(), error.column_display());
            let what = format!("it is not valid JSON ({} at {place})", error.kind());
            Unfit::form(what, "correct that place, or move the file away; nothing was changed")
        })
    }

    /// Puts a new value in, with whatever must be made to hold it.
    fn insert_at(&mut self, path: &[Step<'_>], tree: &Tree) -> Result<(), Unfit> {
        let Some((Step::Key(key), holder)) = path.split_last() else { return Ok(()) };
        match self.look(holder, |it| it.as_object().is_some())? {
            Some(true) => self.insert(holder, Some(key), tree),
            Some(false) => Err(wrong(holder, "an object, `{ … }`")),
            None if holder.is_empty() => {
                self.make_root(&Tree::table([(*key, tree.clone())]));
                Ok(())
            }
            None => self.insert_at(holder, &Tree::table([(*key, tree.clone())])),
        }
    }

    /// Puts a member or an element behind the others.
    fn insert(&mut self, holder: &[Step<'_>], key: Option<&str>, tree: &Tree) -> Result<(), Unfit> {
        let Some(container) = self.look(holder, Container::of)? else { return Ok(()) };
        let ink = Ink::of(&self.text);
        let inner = &self.text[container.open..container.close];
        let is_open = inner.contains('\n') || inner.trim().is_empty();
        let depth = container.inner_indent(&self.text, &ink);
        let child = ink.member(key, tree, is_open.then_some(depth.as_str()));
        let lead = if is_open { format!("{}{depth}", ink.end) } else { " ".to_owned() };
        let point = container.open + inner.trim_end().len();
        match container.children.last() {
            None if inner.trim().is_empty() => {
                // Behind the opening bracket, so that the white space stays; a line of its own tells it from ours.
                let tail = if inner.contains('\n') { ink.end } else { "" };
                self.text.insert_str(container.open, &format!("{lead}{child}{tail}"));
            }
            None => self.text.insert_str(point, &format!("{lead}{child}")),
            Some(last) => {
                let own_comma = comma(&self.text, last.end);
                self.text.insert_str(point, &format!("{lead}{child}{}", own_comma.map_or("", |_| ",")));
                if own_comma.is_none() {
                    self.text.insert(last.end, ',');
                }
            }
        }
        Ok(())
    }

    fn replace(&mut self, path: &[Step<'_>], tree: &Tree) -> Result<(), Unfit> {
        let Some(range) = self.look(path, |it| it.start()..it.end())? else { return Ok(()) };
        let ink = Ink::of(&self.text);
        let is_open = self.text[range.clone()].contains('\n') || !matches!(tree, Tree::List(_) | Tree::Table(_));
        let depth = indent(&self.text, range.start).to_owned();
        self.text.replace_range(range, &ink.value(tree, is_open.then_some(depth.as_str())));
        Ok(())
    }

    /// The outermost object of a file that is not there, or that has nothing but white space and comments.
    fn make_root(&mut self, tree: &Tree) {
        let ink = Ink::of(&self.text);
        let root = ink.value(tree, Some(""));
        let new = if self.is_gone { [&root, ink.end].concat() } else { [ink.end, &root].concat() };
        self.text.push_str(&new);
        self.is_gone = false;
    }

    fn remove_root(&mut self) -> Result<(), Unfit> {
        let Some(range) = self.look(&[], |it| it.start()..it.end())? else { return Ok(()) };
        let (before, after) = (&self.text[..range.start], &self.text[range.end..]);
        self.is_gone = before.is_empty() && after.trim().is_empty();
        let before = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).unwrap_or(before);
        self.text = [before, after].concat();
        Ok(())
    }
}

/// The value at a path. Of keys that are there twice the last one counts, as it does for the clients.
fn find<'a, 'b>(root: &'b Value<'a>, path: &[Step<'_>]) -> Option<&'b Value<'a>> {
    path.iter().try_fold(root, |value, step| {
        let index = place(value, *step)?;
        match value {
            Value::Object(object) => object.properties.get(index).map(|member| &member.value),
            Value::Array(array) => array.elements.get(index),
            _ => None,
        }
    })
}

/// Which child of a value a step leads to.
fn place(value: &Value<'_>, step: Step<'_>) -> Option<usize> {
    match (value, step) {
        (Value::Object(object), Step::Key(key)) => {
            object.properties.iter().rposition(|member| member.name.as_str() == key)
        }
        (Value::Array(array), Step::At(index)) => (index < array.elements.len()).then_some(index),
        _ => None,
    }
}

/// Whether a value says at least what `tree` says.
fn says(value: &Value<'_>, tree: &Tree) -> bool {
    match (value, tree) {
        (Value::StringLit(it), Tree::Text(text)) => it.value == text.as_str(),
        (Value::BooleanLit(it), Tree::Flag(flag)) => it.value == *flag,
        (Value::NumberLit(it), Tree::Number(number)) => it.value.parse() == Ok(*number),
        (Value::Array(it), Tree::List(list)) => {
            it.elements.len() == list.len() && it.elements.iter().zip(list).all(|(value, tree)| says(value, tree))
        }
        (Value::Object(_), Tree::Table(members)) => {
            members.iter().all(|(key, tree)| find(value, &[Step::Key(key)]).is_some_and(|value| says(value, tree)))
        }
        _ => false,
    }
}

fn wrong(path: &[Step<'_>], wanted: &str) -> Unfit {
    let names = path.iter().map(|step| match step {
        Step::Key(key) => (*key).to_owned(),
        Step::At(index) => index.to_string(),
    });
    let name = names.collect::<Vec<_>>().join(".");
    Unfit::form(format!("`{name}` is not {wanted}"), format!("make `{name}` {wanted}; nothing was changed"))
}
