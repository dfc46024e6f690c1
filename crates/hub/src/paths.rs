//! Files of a project, as people and agents name them.

use std::fs;
use std::path::{Component, Path, PathBuf};

use querent_core::{Code, ProjectPath, Refusal};

use crate::project::Project;

impl Project {
    /// The place in the project that is meant by `given`: a path from `from` if that is inside the project, else from its root;
    /// an absolute one too. Links are followed, so that one file has one name; what leads out of the project is refused.
    pub fn path(&self, from: &Path, given: &str) -> Result<ProjectPath, Refusal> {
        let root = canonical(self.root())?;
        let from = fs::canonicalize(from).ok().filter(|from| from.starts_with(&root)).unwrap_or_else(|| root.clone());
        let refused = |why: &str| {
            let message = format!("the path `{}` {why}", given.escape_debug());
            Refusal::invalid("path", message, "name a file, a directory or a glob inside the project")
        };
        if given.is_empty() {
            return Err(refused("is empty"));
        }
        let mut place = from;
        let mut names = Path::new(given).components().peekable();
        while let Some(name) = names.next_if(|name| !is_pattern(name)) {
            match name {
                Component::RootDir | Component::Prefix(_) => place = PathBuf::from("/"),
                Component::CurDir => {}
                Component::ParentDir => {
                    place.pop();
                }
                Component::Normal(name) => {
                    let next = place.join(name);
                    place = match fs::symlink_metadata(&next) {
                        Ok(it) if it.is_symlink() => {
                            fs::canonicalize(&next).map_err(|_| refused("goes through a link to nowhere"))?
                        }
                        _ => next,
                    };
                }
            }
        }
        let inside = place.strip_prefix(&root).map_err(|_| refused("leads out of the project"))?;
        let rest: PathBuf = names.collect();
        let whole = inside.join(rest);
        let text = whole.to_str().ok_or_else(|| refused("is not Unicode"))?;
        if text.is_empty() { ".".parse() } else { text.parse() }
    }
}

fn is_pattern(name: &Component<'_>) -> bool {
    matches!(name, Component::Normal(name) if name.to_string_lossy().contains(['*', '?']))
}

fn canonical(root: &Path) -> Result<PathBuf, Refusal> {
    fs::canonicalize(root).map_err(|error| {
        let message = format!("the project's directory `{}` cannot be read: {error}", root.display());
        Refusal::new(Code::StorageError, message, "check the directory and its rights")
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_has_one_name_and_what_leads_out_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("shop");
        fs::create_dir_all(root.join("src/auth")).unwrap();
        fs::create_dir_all(dir.path().join("other")).unwrap();
        let (project, _) = Project::init(&root, None, "feature").unwrap();
        symlink("src", root.join("code")).unwrap();
        symlink("../other", root.join("out")).unwrap();
        symlink("nothing-there", root.join("dangling")).unwrap();
        let absolute = root.join("src/a.rs").display().to_string();

        for (from, given, path) in [
            ("", "src/a.rs", "src/a.rs"),
            ("src/auth", "../a.rs", "src/a.rs"),
            ("src", "auth/", "src/auth"),
            ("src", ".", "src"),
            ("", ".", "."),
            ("", "code/auth/x.rs", "src/auth/x.rs"),
            ("", "code/**/*.rs", "src/**/*.rs"),
            ("", "not/there/yet.rs", "not/there/yet.rs"),
            ("", "src/../src/./a.rs", "src/a.rs"),
            ("", &absolute, "src/a.rs"),
            ("../other", "src/a.rs", "src/a.rs"),
        ] {
            assert_eq!(project.path(&root.join(from), given).unwrap().as_str(), path, "{given} from {from}");
        }
        for given in ["", "..", "../other/x", "/etc/passwd", "out/x", "out", "dangling", "src/*/../../../x", "a\u{7}b"]
        {
            let refusal = project.path(&root, given).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidInput, "{given}");
            assert!(refusal.message.contains("path"), "{}", refusal.message);
        }
    }
}
