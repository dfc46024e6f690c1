//! The inbox in a terminal. `app` is what happens, pure; `draw` is how it looks; `run` brings both together with the terminal, the
//! hub and the clock.

mod app;
#[cfg(test)]
mod app_tests;
mod detail;
mod draw;
#[cfg(test)]
mod draw_tests;
mod field;
mod message;
mod run;
#[cfg(test)]
mod samples;
mod wrap;

pub(crate) use app::App;
pub(crate) use draw::Look;
pub(crate) use run::run;
