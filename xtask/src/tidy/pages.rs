//! Every refusal code has its page, every page has its code, and both say the same exit status.

use std::path::{Path, PathBuf};

use querent_core::Code;

use super::{File, Finding};

const FOLDER: &str = "docs/errors";
const INDEX: &str = "docs/errors/README.md";

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let index = files.iter().find(|file| file.path == Path::new(INDEX)).map_or("", |file| file.text.as_str());
    let mut findings: Vec<Finding> = Code::ALL.iter().flat_map(|code| of_code(*code, files, index)).collect();
    let pages = files.iter().filter(|file| file.path.parent() == Some(Path::new(FOLDER)));
    for page in pages.filter(|file| file.path != Path::new(INDEX)) {
        let name = page.path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        if Code::parse(name).is_none() {
            findings.push(Finding::new(
                &page.path,
                1,
                format!("there is no refusal code `{name}`; delete or rename the page"),
            ));
        }
    }
    findings
}

fn of_code(code: Code, files: &[File], index: &str) -> Vec<Finding> {
    let path = PathBuf::from(format!("{FOLDER}/{code}.md"));
    let mut findings = Vec::new();
    if !index.contains(&format!("]({code}.md)")) {
        findings.push(Finding::new(Path::new(INDEX), 1, format!("the index does not link to `{code}.md`")));
    }
    let Some(page) = files.iter().find(|file| file.path == path) else {
        findings.push(Finding::new(
            &path,
            1,
            format!("the refusal code `{code}` has no page; write its cause and its cure"),
        ));
        return findings;
    };
    let lines: Vec<&str> = page.text.lines().map(str::trim_end).collect();
    let wanted = [
        format!("# {code}"),
        format!("Exit status: {}", code.exit_status()),
        "## Cause".to_owned(),
        "## Cure".to_owned(),
    ];
    for line in wanted.iter().filter(|line| !lines.contains(&line.as_str())) {
        findings.push(Finding::new(&path, 1, format!("the page lacks the line `{line}`")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.into(), text: text.to_owned() }
    }

    fn complete() -> Vec<File> {
        let pages = Code::ALL.iter().map(|code| {
            let text = format!("# {code}\n\nExit status: {}\n\n## Cause\n\nx\n\n## Cure\n\ny\n", code.exit_status());
            file(&format!("docs/errors/{code}.md"), &text)
        });
        let links: Vec<String> = Code::ALL.iter().map(|code| format!("[{code}]({code}.md)\n")).collect();
        pages.chain([file(INDEX, &links.concat())]).collect()
    }

    #[test]
    fn a_page_for_every_code_is_enough() {
        assert_eq!(check(&complete()), []);
    }

    #[test]
    fn a_code_without_a_page_is_found() {
        let mut files = complete();
        files.retain(|file| !file.path.ends_with("usage.md"));
        let findings = check(&files);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].what.contains("`usage` has no page"), "{findings:?}");
    }

    #[test]
    fn a_page_without_a_code_is_found() {
        let mut files = complete();
        files.push(file("docs/errors/mystery.md", "# mystery\n"));
        assert_eq!(check(&files).len(), 1);
    }

    #[test]
    fn a_page_that_lacks_its_cure_or_tells_another_exit_status_is_found() {
        let mut files = complete();
        let page = files.iter_mut().find(|file| file.path.ends_with("usage.md")).unwrap();
        page.text = page.text.replace("## Cure", "## Fix").replace("Exit status: 2", "Exit status: 1");
        assert_eq!(check(&files).len(), 2);
    }

    #[test]
    fn a_page_that_the_index_forgets_is_found() {
        let mut files = complete();
        let index = files.iter_mut().find(|file| file.path == Path::new(INDEX)).unwrap();
        index.text = index.text.replace("](usage.md)", "]()");
        assert_eq!(check(&files).len(), 1);
    }
}
