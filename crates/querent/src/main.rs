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

fn main() -> std::process::ExitCode {
    cli::main()
}
