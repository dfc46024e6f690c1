//! The connections: each has its own time for a request's head, and all of them end in order when the server stops.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use querent_hub::Handle;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use super::burst::Burst;
use super::front::Front;

/// How long the head of a request may take to arrive; a client that says nothing between two requests has as long.
const HEAD: Duration = Duration::from_mins(1);
/// How long those who are being served may take when the server stops.
const GRACE: Duration = Duration::from_secs(10);
/// How long it waits when the system has no handles left.
const BREATH: Duration = Duration::from_millis(50);

/// Serves until `stopped`; then whoever is being served is served to the end, within ten seconds.
pub(crate) async fn serve(listener: TcpListener, front: Front, stopped: impl Future<Output = ()>) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(64 << 10);
    let graceful = GracefulShutdown::new();
    tokio::pin!(stopped);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stopped => break,
        };
        let Ok((stream, peer)) = accepted else {
            sleep(BREATH).await;
            continue;
        };
        let connection = builder.serve_connection(io(stream, front.hub()), service(front.clone(), peer));
        let connection = graceful.watch(connection);
        // A client that breaks off is none of our errors.
        tokio::spawn(async move { drop(connection.await) });
    }
    drop(listener);
    let _ = timeout(GRACE, graceful.shutdown()).await;
}

/// A reply is written in pieces; without this the last one waits for the client's acknowledgement of the first.
fn io(stream: TcpStream, hub: Handle) -> TokioIo<Burst<TcpStream, impl Fn() -> bool>> {
    let _ = stream.set_nodelay(true);
    TokioIo::new(Burst::new(stream, move || hub.is_crowded()))
}

fn service(
    front: Front,
    peer: SocketAddr,
) -> impl hyper::service::Service<Request<Incoming>, Response = Response, Error = std::convert::Infallible, Future: Send>
{
    hyper::service::service_fn(move |request: Request<Incoming>| {
        let front = front.clone();
        async move { Ok(front.answer(peer, request.map(Body::new)).await) }
    })
}
