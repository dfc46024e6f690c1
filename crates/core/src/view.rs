//! What people and programs see. One view feeds every surface.

mod board;
mod delivery;
mod digest;
mod inbox;
mod learned;
mod locks;
mod queue;
mod report;
mod session;
mod thread;
mod token;
mod waits;

pub use board::{ItemView, ReadyView, ready};
pub use delivery::DeliveryView;
pub use digest::{CategoryCount, Digest, DigestBuilder, PairCount, Percentiles, TimeToAnswer, TopicCount};
pub use inbox::{Filter, QuestionView, StatusFilter};
pub use learned::LearnedView;
pub use locks::{LockView, LocksView, OwnerView, locks};
pub use queue::{Waiting, queue};
pub use report::{nothing_settled, rate, report, times};
pub use session::{ParkedView, SessionView, sessions};
pub use thread::thread;
pub use token::TokenView;
pub use waits::{WaitEdge, WaitNode, Waits, waits};
