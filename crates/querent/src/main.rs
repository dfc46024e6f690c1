//! The binary `querent`.

mod cli;
mod mcp;

fn main() -> std::process::ExitCode {
    cli::main()
}
