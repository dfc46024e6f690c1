# Short names for what `cargo xtask` does. Optional: every recipe is one command.

# lists the recipes
default:
    @just --list

# everything that must hold before a commit
test:
    cargo xtask test

# the end-to-end suites
e2e *suites:
    cargo xtask e2e {{suites}}

# formats the code
fmt:
    cargo fmt --all

# sizes, error pages, commands with tests, links
tidy:
    cargo xtask tidy

# what CI runs
ci:
    .ci/run

# What it costs, as ratios measured in one run.
bench *options:
    cargo xtask bench {{options}}
