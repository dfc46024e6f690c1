//! The binary `querent`.

mod cli;
mod http;
mod mcp;

fn main() -> std::process::ExitCode {
    cli::main()
}
