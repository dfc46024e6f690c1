//! The command line, driven as users drive it: the real binary in a directory of its own. A file a command.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod assume;
mod assumptions;
mod assumptions_review;
mod common;

mod answer;
mod ask;
mod await_answer;
mod completions;
mod concurrency;
mod context;
mod demo;
mod digest;
mod doctor;
mod escalate;
mod events;
mod follow_up;
mod guide;
mod hook;
mod hook_finish;
mod hook_start;
mod init;
mod item;
mod item_add;
mod item_end;
mod item_list;
mod item_move;
mod item_show;
mod learned;
mod learned_revoke;
mod learned_show;
mod mistakes;
mod questions;
mod ready;
mod resolve;
mod show;
mod state;
mod status;
mod strict;
mod trigger;
mod trigger_install;
mod trigger_list;
mod whole_life;
mod withdraw;
