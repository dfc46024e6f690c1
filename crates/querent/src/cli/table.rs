//! Aligned tables for people.

use unicode_width::UnicodeWidthStr;

use super::output::{Page, Paint};
use crate::text::clean_line;

/// The widest that a column of free text gets.
const WIDEST: usize = 60;

/// Rows under a header. Columns are as wide as their widest cell; free text has what the terminal leaves.
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

/// The narrowest that it gets on a narrow terminal.
const NARROWEST: usize = 16;

/// One cell, cleaned and on one line. What people and agents wrote at length is cut ([`Cell::free`]); names are not.
pub(crate) struct Cell {
    text: String,
    paint: Paint,
    free: bool,
}

impl Cell {
    /// A cell in a colour.
    pub(crate) fn painted(text: impl AsRef<str>, paint: Paint) -> Self {
        Self { text: clean_line(text.as_ref()), paint, free: false }
    }

    /// A cell of free text, for the last column: cut where it would flood the line.
    pub(crate) fn free(text: &str) -> Self {
        Self { text: clean_line(text), paint: Paint::Plain, free: true }
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::painted(text, Paint::Plain)
    }
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new<const N: usize>(header: [&str; N]) -> Self {
        Self { rows: vec![header.map(|name| Cell::painted(name, Paint::Bold)).into()] }
    }

    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.into());
    }

    /// Writes the table.
    pub(crate) fn write(mut self, page: &mut Page) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |rows: &[Vec<Cell>], column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0)
        };
        let before: usize = (0..columns.saturating_sub(1)).map(|column| width(&self.rows, column) + 2).sum();
        let left = page.width().map_or(WIDEST, |width| width.saturating_sub(before).clamp(NARROWEST, WIDEST));
        for cell in self.rows.iter_mut().flatten().filter(|cell| cell.free) {
            cell.text = shortened(std::mem::take(&mut cell.text), left);
        }
        let widths: Vec<usize> = (0..columns).map(|column| width(&self.rows, column)).collect();
        for row in &self.rows {
            // Nothing is padded on the right: a line has no trailing spaces.
            let last = row.iter().rposition(|cell| !cell.text.is_empty()).unwrap_or(0);
            for (column, cell) in row.iter().enumerate().take(last + 1) {
                page.paint(cell.paint, &cell.text);
                if column < last {
                    page.text(&" ".repeat(widths[column] - cell.width() + 2));
                }
            }
            page.text("\n");
        }
    }
}

fn shortened(text: String, widest: usize) -> String {
    if text.width() <= widest {
        return text;
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + 2 > widest {
            break;
        }
        short.push(c);
    }
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::output::Paper;

    fn written(table: Table, width: Option<usize>) -> String {
        let mut page = Page::new(Paper { colour: false, width, height: None });
        table.write(&mut page);
        page.into_text()
    }

    #[test]
    fn columns_line_up_also_under_wide_characters() {
        let mut table = Table::new(["ID", "TITLE", "AGE"]);
        table.row(["1".into(), "日本".into(), "2m".into()]);
        table.row(["login-page".into(), "a".into(), "".into()]);

        assert_eq!(written(table, None), "ID          TITLE  AGE\n1           日本   2m\nlogin-page  a\n");
    }

    #[test]
    fn a_cell_can_neither_break_its_line_nor_flood_it() {
        let mut table = Table::new(["TOPIC", "AGE"]);
        table.row([Cell::free(&format!("two\nlines \u{1b}[2J{}", "x".repeat(300))), "2m".into()]);

        let text = written(table, None);

        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| line.width() <= WIDEST + "  AGE".len()), "{text}");
        assert!(text.contains("two lines xxx") && text.contains('…'));
    }

    #[test]
    fn free_text_has_what_a_terminal_leaves_but_stays_readable() {
        let table = || {
            let mut table = Table::new(["ID", "TOPIC"]);
            table.row(["CLR-42-001".into(), Cell::free(&"words and 日本 ".repeat(20))]);
            table
        };
        let widest = |width| written(table(), Some(width)).lines().map(UnicodeWidthStr::width).max().unwrap();

        assert!((36..=40).contains(&widest(40)), "{}", widest(40));
        assert!((24..=28).contains(&widest(5)), "{}", widest(5));
        assert!(widest(500) <= "CLR-42-001  ".len() + WIDEST);
    }
}
