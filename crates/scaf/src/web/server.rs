//! Accepts connections and serves them, within limits: so many at a time, heads of so many bytes, within so
//! many seconds.

use super::routes::{Shared, answer};
use super::write_timeout::WriteTimeout;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io::Result;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;

/// Connections at a time. One costs a descriptor and some 20 KB.
pub const MOST_CONNECTIONS: usize = 1_200;
/// Bytes of a request.
const MOST_BYTES: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
/// How long a request may be under way, and how long a connection may be silent between two.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take nothing of what it is sent.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);
/// Time to wait where no connection can be accepted, for want of descriptors.
const PAUSE: Duration = Duration::from_millis(200);

/// Where we listen.
#[derive(Debug)]
pub enum Listener {
    /// A port of this machine.
    Tcp(TcpListener),
    /// A socket in a folder.
    Unix(UnixListener),
}

/// Serves until the program ends.
pub async fn serve(listener: Listener, shared: Arc<Shared>) {
    let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let accepted = accept(&listener).await;
        let Ok(io) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // One too many is closed at once.
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else { continue };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            connection(io, shared).await;
            drop(permit);
        });
    }
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

async fn accept(listener: &Listener) -> Result<Box<dyn Io>> {
    Ok(match listener {
        Listener::Tcp(listener) => {
            let (io, _) = listener.accept().await?;
            io.set_nodelay(true)?;
            Box::new(io)
        }
        Listener::Unix(listener) => Box::new(listener.accept().await?.0),
    })
}

async fn connection(io: Box<dyn Io>, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(&shared, request).await) }
    });
    // An error of a connection concerns only the client, which sees it.
    _ = Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MOST_BYTES)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(WriteTimeout::new(io, WRITE_TIMEOUT)), service)
        .await;
}
