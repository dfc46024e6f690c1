//! The binary `querent`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
