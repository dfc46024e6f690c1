//! Replies that are ready at the same moment leave one right after the other. To wake a client that sleeps takes longer than to send it
//! something; so the first reply wakes it, and the others find it awake.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection that lets all others who are ready prepare what they send, and then sends.
pub(super) struct Burst<S, F> {
    stream: S,
    /// Whether there may be others.
    is_crowded: F,
    /// Whether it has let them.
    is_due: bool,
}

impl<S, F: Fn() -> bool> Burst<S, F> {
    pub(super) fn new(stream: S, is_crowded: F) -> Self {
        Self { stream, is_crowded, is_due: false }
    }

    /// Whether what is ready goes now; else whoever sends is asked again when all others had their turn.
    fn poll_due(&mut self, context: &Context<'_>) -> Poll<()> {
        if self.is_due || !(self.is_crowded)() {
            return Poll::Ready(());
        }
        self.is_due = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin, F: Unpin> AsyncRead for Burst<S, F> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buf)
    }
}

impl<S: AsyncWrite + Unpin, F: Fn() -> bool + Unpin> AsyncWrite for Burst<S, F> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_due(context));
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_due(context));
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // All is sent: what comes next is another reply, or another part of a long one.
        self.is_due = false;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::{Arc, Mutex};
    use std::task::Waker;

    use tokio::io::{AsyncWriteExt, sink};

    use super::*;

    /// A stream that notes when something is sent on it.
    struct Noted(Arc<Mutex<Vec<String>>>, &'static str);

    impl Noted {
        fn note(&self, what: &str) {
            self.0.lock().unwrap().push(format!("{} {what}", self.1));
        }
    }

    impl AsyncWrite for Noted {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.note("sent");
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn all_who_are_ready_are_prepared_before_anybody_sends() {
        let noted = Arc::<Mutex<Vec<String>>>::default();
        let reply = |name| {
            let mut burst = Burst::new(Noted(Arc::clone(&noted), name), || true);
            async move {
                burst.stream.note("prepared");
                burst.write_all(b"reply").await.unwrap();
                burst.flush().await.unwrap();
            }
        };

        let (one, two) = (tokio::spawn(reply("one")), tokio::spawn(reply("two")));
        one.await.unwrap();
        two.await.unwrap();

        assert_eq!(*noted.lock().unwrap(), ["one prepared", "two prepared", "one sent", "two sent"]);
    }

    #[test]
    fn a_reply_waits_once_however_often_it_writes_and_alone_not_at_all() {
        let mut context = Context::from_waker(Waker::noop());
        let is_crowded = Cell::new(true);
        let mut burst = Burst::new(sink(), || is_crowded.get());
        let mut writes = |burst: &mut Burst<_, _>, times| -> Vec<bool> {
            let sent =
                (0..times).map(|_| Pin::new(&mut *burst).poll_write(&mut context, b"piece").is_ready()).collect();
            assert!(Pin::new(burst).poll_flush(&mut context).is_ready());
            sent
        };

        assert_eq!(writes(&mut burst, 3), [false, true, true]);
        assert_eq!(writes(&mut burst, 2), [false, true], "the next reply");
        is_crowded.set(false);
        assert_eq!(writes(&mut burst, 1), [true], "nobody else is there");
    }
}
