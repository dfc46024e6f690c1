//! The binary `querent`.

mod cli;
mod clients;

fn main() -> std::process::ExitCode {
    cli::main()
}
