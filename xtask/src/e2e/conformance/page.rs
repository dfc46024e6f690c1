//! The page of the reference that says what is not run and what does not pass, and why.

use std::fs;

const PAGE: &str = "docs/reference/mcp-conformance.md";

/// Its two tables.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The line, the scenario and the reason.
    scenarios: Vec<[String; 3]>,
    /// The scenario, its check and the reason.
    checks: Vec<[String; 3]>,
}

impl Page {
    pub(super) fn read() -> Result<Self, String> {
        let path = crate::root().join(PAGE);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut page = Self::default();
        let mut rows: Option<&mut Vec<[String; 3]>> = None;
        for line in text.lines() {
            rows = match line.trim() {
                "## Scenarios that do not apply" => Some(&mut page.scenarios),
                "## Checks that do not apply" => Some(&mut page.checks),
                heading if heading.starts_with("## ") => None,
                row => {
                    if let (Some(rows), Some(row)) = (rows.as_deref_mut(), row.strip_prefix('|')) {
                        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
                        let is_entry = cells.iter().any(|cell| cell.contains('`'));
                        match cells[..] {
                            [first, second, why] if is_entry && !why.is_empty() => {
                                rows.push([first, second, why].map(|cell| cell.trim_matches('`').to_owned()));
                            }
                            _ if is_entry => return Err(format!("{PAGE}: this row has no three cells: {line}")),
                            _ => {}
                        }
                    }
                    rows
                }
            };
        }
        Ok(page)
    }

    /// Why a scenario of a line is not run.
    pub(super) fn excuses(&self, line: &str, scenario: &str) -> Option<&str> {
        let excuse = self.scenarios.iter().find(|[of, name, _]| of == line && name == scenario);
        excuse.map(|[_, _, why]| why.as_str())
    }

    /// The scenarios of a line that are not run.
    pub(super) fn excused<'a>(&'a self, line: &'a str) -> impl Iterator<Item = &'a str> {
        self.scenarios.iter().filter(move |[of, _, _]| of == line).map(|[_, name, _]| name.as_str())
    }

    /// Whether a check of a scenario may be skipped, or warn.
    pub(super) fn spares(&self, scenario: &str, check: &str) -> bool {
        self.checks.iter().any(|[of, name, _]| of == scenario && name == check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Page\n\n| `not` | `this` | table |\n\n## Scenarios that do not apply\n\n\
        | line | scenario | why |\n|---|---|---|\n| current | `skills` | there are none |\n\n\
        ## Checks that do not apply\n\n| `caching` | `ttl` | reason |\n\n## More\n\n| `a` | `b` | c |\n";

    #[test]
    fn the_tables_are_read_with_their_reasons() {
        let page = Page::parse(TEXT).unwrap();

        assert_eq!(page.excuses("current", "skills"), Some("there are none"));
        assert_eq!(page.excuses("older", "skills"), None);
        assert_eq!(page.excused("current").collect::<Vec<_>>(), ["skills"]);
        assert!(page.spares("caching", "ttl"));
        assert!(!page.spares("a", "b"));
    }

    #[test]
    fn a_row_without_a_reason_is_not_taken() {
        assert!(Page::parse("## Checks that do not apply\n| `caching` | `ttl` | |").is_err());
        assert!(Page::parse("## Checks that do not apply\n| `caching` | `ttl` |").is_err());
    }

    #[test]
    fn the_page_of_the_reference_can_be_read() {
        assert!(Page::read().unwrap().excused("current").count() > 0);
    }
}
