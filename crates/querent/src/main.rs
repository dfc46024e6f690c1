//! The binary `querent`.

mod claude;
mod cli;
mod mcp;

fn main() -> std::process::ExitCode {
    cli::main()
}
