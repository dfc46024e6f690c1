//! The pictures in `docs/images/`: an example project, as the pages show it in Chromium.

use std::fs;

use super::project::Project;
use super::{browser, build, clock, meet};
use crate::Failure;
use crate::cache::Cache;

/// How large a picture may be, in bytes.
const LARGEST: u64 = 120_000;

/// Makes them anew.
pub(crate) fn run(rest: &[String]) -> Result<(), Failure> {
    if let Some(extra) = rest.first() {
        return Err(Failure(format!("`{extra}` is not understood; this command takes no arguments")));
    }
    let binary = build(&["build", "--release", "--package", "querent"])?;
    let cache = Cache::of_user().map_err(Failure)?;
    for suite in [&browser::SUITE, &clock::SUITE] {
        meet(suite.needs, &cache).map_err(Failure)?;
    }
    let images = crate::root().join("docs/images");
    let failed = |error: std::io::Error| Failure(format!("{}: {error}", images.display()));
    fs::create_dir_all(&images).map_err(failed)?;
    let project = Project::empty(&binary).map_err(Failure)?;
    project.ok(&["init", "--name", "shop"]).map_err(Failure)?;
    let arguments = [binary.as_os_str(), project.folder().as_os_str(), images.as_os_str()];
    browser::drive("screenshots.mjs", &arguments).map_err(Failure)?;
    for entry in fs::read_dir(&images).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (name, size) = (entry.file_name(), entry.metadata().map_err(failed)?.len());
        println!("{:>7} {}", size, name.display());
        if size > LARGEST {
            return Err(Failure(format!("{} has more than {LARGEST} bytes; show less in it", name.display())));
        }
    }
    Ok(())
}
