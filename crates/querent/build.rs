//! Tells the linker what a small binary can do without: functions that are the same as another, and the tables by which a
//! panic would walk up the stack. Ours end the process where they are, and there are no names left to tell the way by.

use std::path::Path;

/// Leaves the tables out, and what only they point to.
const WITHOUT_TABLES: &str = "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.gcc_except_table*) } } INSERT AFTER .text;\n";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    // Where Rust links with its own linker, which can do it; a debug build would only be slower for it.
    if of("TARGET") != "x86_64-unknown-linux-gnu" || of("PROFILE") != "release" {
        return Ok(());
    }
    let script = Path::new(&of("OUT_DIR")).join("without-tables.ld");
    std::fs::write(&script, WITHOUT_TABLES)?;
    println!("cargo::rustc-link-arg-bins=-Wl,--icf=all,--no-eh-frame-hdr,-T,{}", script.display());
    Ok(())
}
