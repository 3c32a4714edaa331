//! Closes a connection whose client has read nothing for a while, so that it holds no memory for long.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// See the module.
#[derive(Debug)]
pub struct WriteTimeout<I> {
    io: I,
    limit: Duration,
    /// Runs while the client reads nothing.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<I> WriteTimeout<I> {
    /// Waits for so long at most.
    pub fn new(io: I, limit: Duration) -> WriteTimeout<I> {
        WriteTimeout { io, limit, waits: None }
    }

    fn unless_late<T>(&mut self, context: &mut Context<'_>, done: Poll<Result<T>>) -> Poll<Result<T>> {
        if done.is_ready() {
            self.waits = None;
            return done;
        }
        let limit = self.limit;
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(limit)));
        match waits.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(Error::from(ErrorKind::TimedOut))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for WriteTimeout<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<I> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<Result<usize>> {
        let done = Pin::new(&mut self.io).poll_write(context, data);
        self.unless_late(context, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let done = Pin::new(&mut self.io).poll_flush(context);
        self.unless_late(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let done = Pin::new(&mut self.io).poll_shutdown(context);
        self.unless_late(context, done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_takes_nothing_is_given_up() {
        let (ours, _theirs) = tokio::net::UnixStream::pair().unwrap();
        let mut limited = WriteTimeout::new(ours, Duration::from_millis(50));
        let data = vec![0; 1 << 20];
        let error = loop {
            let wrote =
                std::future::poll_fn(|context| Pin::new(&mut limited).poll_write(context, &data)).await;
            if let Err(error) = wrote {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}
