//! A text that is being typed.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::clean;

/// A text and the place in it where somebody types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    text: String,
    /// In bytes, between two characters as people see them.
    at: usize,
}

impl Field {
    /// The whole of it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// What stands before the place where somebody types.
    pub(super) fn before(&self) -> &str {
        &self.text[..self.at]
    }

    /// Whether there is nothing to send.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Puts in what was typed or pasted, without what would disturb a terminal.
    pub(super) fn insert(&mut self, typed: &str) {
        let typed = clean(&typed.replace("\r\n", "\n").replace('\r', "\n"));
        self.text.insert_str(self.at, &typed);
        self.at += typed.len();
    }

    /// Takes away what stands before the cursor.
    pub(super) fn backspace(&mut self) {
        let end = self.at;
        self.left();
        self.text.replace_range(self.at..end, "");
    }

    /// Takes away what stands after it.
    pub(super) fn delete(&mut self) {
        let start = self.at;
        self.right();
        self.text.replace_range(start..self.at, "");
        self.at = start;
    }

    pub(super) fn left(&mut self) {
        self.at -= self.text[..self.at].graphemes(true).next_back().map_or(0, str::len);
    }

    pub(super) fn right(&mut self) {
        self.at += self.text[self.at..].graphemes(true).next().map_or(0, str::len);
    }

    pub(super) fn home(&mut self) {
        self.at = 0;
    }

    pub(super) fn end(&mut self) {
        self.at = self.text.len();
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_edited_by_what_people_see_as_characters() {
        // Given
        let mut field = Field::default();
        field.insert("nai\u{308}ve 日本");

        // When
        field.backspace();
        field.home();
        for _ in 0..3 {
            field.right();
        }
        field.backspace();
        field.insert("i");
        field.delete();
        field.end();
        field.insert("!");

        // Then
        assert_eq!((field.text(), field.before()), ("naie 日!", "naie 日!"));
    }

    #[test]
    fn what_is_pasted_keeps_its_lines_and_loses_its_escapes() {
        // Given
        let mut field = Field::default();

        // When
        field.insert("a\r\nb\u{1b}[31mc\rd");

        // Then
        assert_eq!(field.text(), "a\nbc\nd");
    }

    #[test]
    fn at_its_ends_nothing_is_taken_away() {
        let mut field = Field::default();
        field.backspace();
        field.delete();
        field.left();
        field.right();
        assert!(field.is_blank());
    }
}
