//! Rust sources: sizes, nothing unfinished, no test that does not run.
//!
//! Works on tokens and not on parsed items, so that code inside macros (`proptest!`, `macro_rules!`) is seen too.

use std::path::Path;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::Finding;

const MOST_LINES: usize = 500;
const MOST_FUNCTION_LINES: usize = 70;
const UNFINISHED: &[&str] = &["todo", "unimplemented", "dbg"];

pub(super) fn check(path: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > MOST_LINES {
        findings.push(Finding::new(
            path,
            MOST_LINES + 1,
            format!("the file has {lines} lines; split it below {MOST_LINES}"),
        ));
    }
    findings.extend(ignored_examples(path, text));
    match text.parse::<TokenStream>() {
        Ok(tokens) => Walk { path, in_crates: path.starts_with("crates"), findings: &mut findings }.stream(tokens),
        Err(error) => findings.push(Finding::new(path, error.span().start().line, "this is not Rust")),
    }
    findings
}

/// Documentation examples that are not compiled.
fn ignored_examples<'a>(path: &'a Path, text: &'a str) -> impl Iterator<Item = Finding> + 'a {
    let fences = text.lines().enumerate().filter(|(_, line)| {
        let comment = line.trim_start().strip_prefix("///").or_else(|| line.trim_start().strip_prefix("//!"));
        comment
            .and_then(|it| it.trim().strip_prefix("```"))
            .is_some_and(|it| it.split(',').any(|word| word.trim() == "ignore"))
    });
    fences
        .map(|(place, _)| Finding::new(path, place + 1, "this example is ignored; make it compile, or mark it `text`"))
}

struct Walk<'a> {
    path: &'a Path,
    in_crates: bool,
    findings: &'a mut Vec<Finding>,
}

impl Walk<'_> {
    fn stream(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (place, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "fn" => self.function(&tokens[place..]),
                TokenTree::Ident(word) => self.unfinished(&word.to_string(), &tokens[place..]),
                TokenTree::Punct(sign) if sign.as_char() == '#' => self.attribute(tokens.get(place + 1)),
                TokenTree::Group(group) => self.stream(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// `tokens` begins with `fn`. A type like `fn(u8)` has no name and is none of ours.
    fn function(&mut self, tokens: &[TokenTree]) {
        let Some(TokenTree::Ident(name)) = tokens.get(1) else { return };
        let Some(body) = body(tokens) else { return };
        let first = tokens[0].span().start().line;
        let lines = body.span_close().end().line + 1 - first;
        if lines > MOST_FUNCTION_LINES {
            let what = format!("the function `{name}` has {lines} lines; split it below {MOST_FUNCTION_LINES}");
            self.findings.push(Finding::new(self.path, first, what));
        }
    }

    /// `tokens` begins with `word`.
    fn unfinished(&mut self, word: &str, tokens: &[TokenTree]) {
        let is_macro = matches!(tokens.get(1), Some(TokenTree::Punct(sign)) if sign.as_char() == '!')
            && matches!(tokens.get(2), Some(TokenTree::Group(_)));
        if self.in_crates && is_macro && UNFINISHED.contains(&word) {
            let line = tokens[0].span().start().line;
            self.findings.push(Finding::new(self.path, line, format!("`{word}!` is left from unfinished work")));
        }
    }

    fn attribute(&mut self, token: Option<&TokenTree>) {
        let Some(TokenTree::Group(group)) = token else { return };
        let mut words = group.stream().into_iter().filter_map(|token| match token {
            TokenTree::Ident(word) => Some(word.to_string()),
            _ => None,
        });
        let ignores = match words.next().as_deref() {
            Some("ignore") => true,
            Some("cfg_attr") => mentions_ignore(group.stream()),
            _ => false,
        };
        if ignores {
            let line = group.span_open().start().line;
            self.findings.push(Finding::new(self.path, line, "this test is ignored; let it run or delete it"));
        }
    }
}

/// The braces that follow a function's signature; none where it is only declared.
fn body(tokens: &[TokenTree]) -> Option<&Group> {
    tokens.iter().skip(2).find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Some(group)),
        TokenTree::Punct(sign) if sign.as_char() == ';' => Some(None),
        _ => None,
    })?
}

fn mentions_ignore(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "ignore",
        TokenTree::Group(group) => mentions_ignore(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        check(Path::new(path), text).into_iter().map(|finding| (finding.line, finding.what)).collect()
    }

    /// A function whose whole length is `lines`.
    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    work();\n".repeat(lines - 2))
    }

    #[test]
    fn a_file_may_have_500_lines_and_not_one_more() {
        assert_eq!(found("a.rs", &"// x\n".repeat(500)), []);
        let findings = found("a.rs", &"// x\n".repeat(501));
        assert_eq!(findings.len(), 1);
        assert!(findings[0].1.contains("501 lines"), "{findings:?}");
    }

    #[test]
    fn a_function_may_have_70_lines_and_not_one_more() {
        assert_eq!(found("a.rs", &function(70)), []);
        let findings = found("a.rs", &format!("struct A;\n{}", function(71)));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].0, 2);
        assert!(findings[0].1.contains("`long` has 71 lines"), "{findings:?}");
    }

    #[test]
    fn a_long_function_is_found_in_an_impl_and_inside_a_macro() {
        assert_eq!(found("a.rs", &format!("impl A {{\n{}}}\n", function(80))).len(), 1);
        assert_eq!(found("a.rs", &format!("proptest! {{\n{}}}\n", function(80))).len(), 1);
    }

    #[test]
    fn a_declaration_and_a_function_type_have_no_length() {
        let text = format!("trait A {{ fn declared(&self); }}\ntype B = fn(u8);\nmod c {{\n{}}}\n", "\n".repeat(90));
        assert_eq!(found("a.rs", &text), []);
    }

    #[test]
    fn unfinished_work_is_found_in_the_crates_and_not_in_words() {
        let text = "fn a() {\n    todo!();\n    assert!(dbg!(true));\n    unimplemented!(\"x\");\n}\n";
        let lines: Vec<usize> = found("crates/core/src/a.rs", text).into_iter().map(|it| it.0).collect();
        assert_eq!(lines, [2, 3, 4]);
        assert_eq!(found("crates/core/src/a.rs", "// todo!()\nconst A: &str = \"dbg!()\";\n"), []);
    }

    #[test]
    fn an_ignored_test_is_found_also_where_it_is_conditional() {
        for attribute in ["#[ignore]", "#[ignore = \"slow\"]", "#[cfg_attr(windows, ignore)]"] {
            let findings = found("crates/a/tests/a.rs", &format!("#[test]\n{attribute}\nfn a() {{}}\n"));
            assert_eq!(findings.len(), 1, "{attribute}");
            assert_eq!(findings[0].0, 2);
        }
    }

    #[test]
    fn an_ignored_example_is_found() {
        assert_eq!(found("a.rs", "/// ```ignore\n/// x\n/// ```\nfn a() {}\n").len(), 1);
        assert_eq!(found("a.rs", "/// ```\n/// x();\n/// ```\nfn a() {}\n"), []);
    }

    #[test]
    fn what_is_not_rust_is_said() {
        assert_eq!(found("a.rs", "fn a() {\n"), [(1, "this is not Rust".to_owned())]);
    }
}
