//! The binary `querent`.

mod asking;
mod claude;
mod cli;
mod clients;
mod http;
mod mcp;
mod paging;
mod schema;
mod text;
mod tui;
mod web;

// Nobody listens to what libraries say for those who debug them: these are here to turn it off, and nothing of it is built.
use {log as _, tracing as _};

/// A call allocates hundreds of small things, on whichever thread it is; the system's own allocator takes twice as long for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
