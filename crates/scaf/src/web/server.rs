//! Accepts connections and serves them, within limits: so many at a time, heads of so many bytes, within so
//! many seconds. On TCP, those without the token have limits of their own ([`super::strangers`]).

use super::routes::{Shared, answer};
use super::strangers::{Stranger, Strangers};
use super::write_timeout::WriteTimeout;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io::Result;
use std::net::IpAddr;
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
    let strangers = Arc::new(Strangers::default());
    loop {
        let accepted = accept(&listener).await;
        let Ok((io, from)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // One too many is closed at once.
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else { continue };
        let (shared, strangers) = (Arc::clone(&shared), Arc::clone(&strangers));
        let stranger = from.map(|from| strangers.come(from));
        tokio::spawn(async move {
            match stranger {
                Some((stranger, closed)) => tokio::select! {
                    () = connection(io, shared, Some(stranger)) => {}
                    // An error says that the token was shown.
                    Ok(()) = closed => {}
                },
                None => connection(io, shared, None).await,
            }
            drop(permit);
        });
        // It is heard before the next one comes, so that one with the token doesn't have to give way.
        tokio::task::yield_now().await;
    }
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// A connection, and the address from which it comes unless a socket's permissions say who may connect.
async fn accept(listener: &Listener) -> Result<(Box<dyn Io>, Option<IpAddr>)> {
    Ok(match listener {
        Listener::Tcp(listener) => {
            let (io, from) = listener.accept().await?;
            io.set_nodelay(true)?;
            (Box::new(io), Some(from.ip()))
        }
        Listener::Unix(listener) => (Box::new(listener.accept().await?.0), None),
    })
}

async fn connection(io: Box<dyn Io>, shared: Arc<Shared>, stranger: Option<Stranger>) {
    let service = service_fn(|request| {
        let (shared, stranger) = (Arc::clone(&shared), stranger.as_ref());
        async move { Ok::<_, Infallible>(answer(&shared, request, stranger).await) }
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
