//! Tells the linker to fold functions that are the same: the binary is smaller by it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    // Where Rust links with its own linker, which can do it; a debug build would only be slower for it.
    if of("TARGET") == "x86_64-unknown-linux-gnu" && of("PROFILE") == "release" {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}
