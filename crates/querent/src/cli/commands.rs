//! The commands, a file each. They read what was typed, call the hub and show its reply; they hold no decisions.

pub(super) mod answer;
pub(super) mod ask;
pub(super) mod await_answer;
pub(super) mod completions;
pub(super) mod demo;
pub(super) mod doctor;
pub(super) mod escalate;
pub(super) mod events;
pub(super) mod follow_up;
pub(super) mod hook;
mod hook_finish;
mod hook_start;
pub(super) mod init;
pub(super) mod item;
mod item_add;
mod item_end;
mod item_list;
mod item_move;
mod item_show;
pub(super) mod questions;
pub(super) mod ready;
pub(super) mod resolve;
pub(super) mod show;
pub(super) mod state;
pub(super) mod status;
pub(super) mod withdraw;
