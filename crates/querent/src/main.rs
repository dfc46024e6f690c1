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

/// A call allocates hundreds of small things, on whichever thread it is; the system's own allocator takes twice as long for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
