//! Signs of life, a small file each under `run/`.

use std::io;
use std::path::PathBuf;

use querent_core::{ComponentName, Fingerprint};

use super::disk::Open;
use super::layout::Layout;
use crate::Error;
use crate::beat::{Beat, Pulse, Stored};

pub(super) fn write(layout: &Layout, beat: &Beat) -> Result<(), Error> {
    let path = file(layout, beat.pulse, &beat.name);
    let text = serde_json::to_vec(&Stored { at: beat.at, name: beat.name.clone() }).unwrap_or_default();
    let write = || {
        let file = layout.disk().open(&path, Open::Create)?;
        file.write_all_at(&text, 0)
    };
    let written = write().or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => layout.disk().create_dir_all(&layout.beats(beat.pulse)).and_then(|()| write()),
        _ => Err(error),
    });
    written.map_err(Error::io("write", &path))
}

/// All of one sort. What cannot be read says nothing.
pub(super) fn read(layout: &Layout, pulse: Pulse) -> Result<Vec<Beat>, Error> {
    let dir = layout.beats(pulse);
    let names = match layout.disk().names(&dir) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", &dir)(error)),
    };
    let stored = names
        .into_iter()
        .filter_map(|name| serde_json::from_slice::<Stored>(&layout.disk().read(&dir.join(name)).ok()?).ok());
    let mut beats: Vec<Beat> = stored.map(|Stored { at, name }| Beat { pulse, name, at }).collect();
    beats.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(beats)
}

pub(super) fn remove(layout: &Layout, pulse: Pulse, name: &ComponentName) -> Result<(), Error> {
    let path = file(layout, pulse, name);
    match layout.disk().remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
        _ => Ok(()),
    }
}

/// A name that people can read and that any file system takes; what makes it the only one comes last.
fn file(layout: &Layout, pulse: Pulse, name: &ComponentName) -> PathBuf {
    let plain = name.as_str().chars().take(64).map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
    let whole = Fingerprint::of(name.as_str().as_bytes());
    layout.beats(pulse).join(format!("{}-{whole}", plain.collect::<String>()))
}
