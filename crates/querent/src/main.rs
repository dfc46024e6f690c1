//! The binary `querent`.

mod cli;
mod clients;
mod http;
mod mcp;

fn main() -> std::process::ExitCode {
    cli::main()
}
