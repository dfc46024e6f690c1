//! Aligned tables for people.

use unicode_width::UnicodeWidthStr;

use super::output::{Page, Paint};
use super::text::clean_line;

/// The widest that a column of free text gets.
const WIDEST: usize = 60;

/// Rows under a header. Columns are as wide as their widest cell.
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

/// One cell, cleaned and on one line. What people and agents wrote at length is cut ([`Cell::free`]); names are not.
pub(crate) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// A cell in a colour.
    pub(crate) fn painted(text: impl AsRef<str>, paint: Paint) -> Self {
        Self { text: clean_line(text.as_ref()), paint }
    }

    /// A cell of free text, cut where it would flood the line.
    pub(crate) fn free(text: &str) -> Self {
        Self { text: shortened(clean_line(text)), paint: Paint::Plain }
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
    pub(crate) fn write(&self, page: &mut Page) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max();
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
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

fn shortened(text: String) -> String {
    if text.width() <= WIDEST {
        return text;
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + 2 > WIDEST {
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

    fn written(table: &Table) -> String {
        let mut page = Page::new(false);
        table.write(&mut page);
        page.into_text()
    }

    #[test]
    fn columns_line_up_also_under_wide_characters() {
        let mut table = Table::new(["ID", "TITLE", "AGE"]);
        table.row(["1".into(), "日本".into(), "2m".into()]);
        table.row(["login-page".into(), "a".into(), "".into()]);

        assert_eq!(written(&table), "ID          TITLE  AGE\n1           日本   2m\nlogin-page  a\n");
    }

    #[test]
    fn a_cell_can_neither_break_its_line_nor_flood_it() {
        let mut table = Table::new(["TOPIC", "AGE"]);
        table.row([Cell::free(&format!("two\nlines \u{1b}[2J{}", "x".repeat(300))), "2m".into()]);

        let text = written(&table);

        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| line.width() <= WIDEST + "  AGE".len()), "{text}");
        assert!(text.contains("two lines xxx") && text.contains('…'));
    }
}
