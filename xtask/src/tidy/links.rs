//! Relative links of Markdown pages lead somewhere.

use std::path::{Component, Path, PathBuf};

use super::Finding;

pub(super) fn check(page: &Path, text: &str, paths: &[&Path]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut fenced = false;
    for (place, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for target in targets(line).filter(|target| !exists(page, target, paths)) {
            findings.push(Finding::new(page, place + 1, format!("the link leads nowhere: {target}")));
        }
    }
    findings
}

/// The relative targets of `[text](target)` in a line, without their anchors.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let after = line.split("](").skip(1);
    let whole = after.filter_map(|rest| rest.split([')', ' ']).next());
    let relative = whole.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    relative.filter_map(|target| target.split('#').next()).filter(|target| !target.is_empty())
}

fn exists(page: &Path, target: &str, paths: &[&Path]) -> bool {
    let Some(path) = resolved(page, target) else { return false };
    paths.iter().any(|known| known.starts_with(&path))
}

/// The path from the root that `target` means on `page`; none if it leaves the project.
fn resolved(page: &Path, target: &str) -> Option<PathBuf> {
    let mut path = page.parent().map(Path::to_owned).unwrap_or_default();
    for part in Path::new(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir if path.pop() => {}
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let paths = [Path::new("README.md"), Path::new("docs/glossary.md"), Path::new("docs/errors/usage.md")];
        let findings = check(Path::new("docs/guide.md"), text, &paths);
        findings.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_link_to_a_file_or_a_folder_of_the_project_holds() {
        let text = "[a](glossary.md) and [b](errors/usage.md#cause)\n[c](../README.md) [d](errors/) [e](#here)\n\
                    [f](https://querent.example/x.md)\n";
        assert_eq!(lines(text), Vec::<usize>::new());
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        assert_eq!(lines("fine\n[a](gone.md) [b](glossary.md)\n[c](../../out.md)\n[d](/glossary.md)\n"), [2, 3, 4]);
    }

    #[test]
    fn an_example_in_a_fence_is_no_link() {
        assert_eq!(lines("```\n[a](gone.md)\n```\n"), Vec::<usize>::new());
    }
}
