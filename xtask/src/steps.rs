//! The checks that every change passes, one after the other, stopping at the first that fails.

use std::time::Instant;

use crate::{Failure, cargo, tidy};

/// A check, and what to do when it fails.
struct Step {
    name: &'static str,
    run: Run,
    cure: &'static str,
}

enum Run {
    Cargo { arguments: &'static [&'static str], environment: &'static [(&'static str, &'static str)] },
    Tidy,
}

const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        run: Run::Cargo { arguments: &["fmt", "--all", "--check"], environment: &[] },
        cure: "run `cargo fmt --all` (if rustfmt is missing: `rustup component add rustfmt`)",
    },
    Step {
        name: "clippy",
        run: Run::Cargo {
            arguments: &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--all-features",
                "--locked",
                "--",
                "-D",
                "warnings",
            ],
            environment: &[],
        },
        cure: "fix what is printed above (if clippy is missing: `rustup component add clippy`)",
    },
    Step { name: "tidy", run: Run::Tidy, cure: "each line above says what to change" },
    Step {
        name: "docs",
        run: Run::Cargo {
            arguments: &["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"],
            environment: &[("RUSTDOCFLAGS", "-D warnings")],
        },
        cure: "fix the documentation comments that are named above",
    },
    Step {
        name: "tests",
        run: Run::Cargo { arguments: &["test", "--workspace", "--locked"], environment: &[] },
        cure: "run the failing test alone with `cargo test -p <crate> <name>`",
    },
];

/// All checks.
pub(crate) fn test(rest: &[String]) -> Result<(), Failure> {
    refuse_more(rest)?;
    let began = Instant::now();
    for (place, step) in STEPS.iter().enumerate() {
        println!("[{}/{}] {}", place + 1, STEPS.len(), step.line());
        step.run()?;
    }
    println!("all {} checks passed in {} s", STEPS.len(), began.elapsed().as_secs());
    Ok(())
}

/// The one check of this name.
pub(crate) fn one(name: &str, rest: &[String]) -> Result<(), Failure> {
    refuse_more(rest)?;
    let step = STEPS.iter().find(|step| step.name == name);
    let step = step.ok_or_else(|| Failure(format!("there is no check `{name}`")))?;
    println!("{}", step.line());
    step.run()
}

fn refuse_more(rest: &[String]) -> Result<(), Failure> {
    match rest.first() {
        None => Ok(()),
        Some(extra) => Err(Failure(format!("`{extra}` is not understood; this command takes no arguments"))),
    }
}

impl Step {
    fn line(&self) -> String {
        match &self.run {
            Run::Cargo { arguments, environment } => {
                let set: Vec<String> = environment.iter().map(|(name, value)| format!("{name}='{value}' ")).collect();
                format!("{}: {}cargo {}", self.name, set.concat(), arguments.join(" "))
            }
            Run::Tidy => format!("{}: the sources keep the project's rules", self.name),
        }
    }

    fn run(&self) -> Result<(), Failure> {
        match &self.run {
            Run::Tidy => tidy::check(),
            Run::Cargo { arguments, environment } => {
                let status = cargo().args(*arguments).envs(environment.iter().copied()).status();
                match status {
                    Ok(status) if status.success() => Ok(()),
                    Ok(status) => Err(format!("it ended with {status}")),
                    Err(error) => Err(format!("cargo did not start: {error}")),
                }
            }
        }
        .map_err(|why| Failure(format!("the check `{}` failed: {why}; {}", self.name, self.cure)))
    }
}
