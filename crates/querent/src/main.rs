//! The binary `querent`.

mod claude;
mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
