//! Tells the linker what a small binary can do without: functions that are the same as another; the tables by which a panic would
//! walk up the stack, for ours end the process where they are, and there are no names left to tell the way by; and the table of
//! its own addresses. With that the system could put the program anywhere, and would write into half a megabyte of its pages
//! every time that one is started. Stack, heap and libraries are wherever the system wants, as with programs written in Go.

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
    println!("cargo::rustc-link-arg-bins=-Wl,--no-pie,--icf=all,--no-eh-frame-hdr,-T,{}", script.display());
    Ok(())
}
