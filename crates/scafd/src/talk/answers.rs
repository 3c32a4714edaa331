//! Answers to the command line, sent as fast as it reads them.

use super::client::Client;
use super::{Talk, budget};
use crate::control::{CHUNK_BYTES, Reply};
use rustix::event::epoll;
use rustix::net::SendFlags;
use std::time::Instant;

impl Talk {
    /// Answers a request; the connection is closed when all of it was sent.
    pub fn answer(&mut self, id: u64, reply: &Reply) {
        let Some(uid) = self.clients.get(&id).map(|client| client.peer.owner) else { return };
        let mut text = serde_json::to_vec(reply).unwrap_or_default();
        // Also an answer that isn't sent cost the daemon its making.
        let made = text.len();
        if !self.may_queue(uid, text.len()) {
            let why = "too many of your answers wait to be read; read them, or close these connections";
            text = serde_json::to_vec(&Reply::Error(why.into())).unwrap_or_default();
        }
        let now = Instant::now();
        self.budget.answered(uid, made, now);
        if let Some(client) = self.clients.get_mut(&id) {
            (client.answer, client.sent, client.since) = (text, 0, now);
        }
        self.flush(id);
    }

    /// Whether one more answer of `bytes` may be queued for user `uid`.
    fn may_queue(&self, uid: u32, bytes: usize) -> bool {
        let waiting = |of: &dyn Fn(u32) -> bool| -> usize {
            self.clients.values().filter(|client| of(client.peer.owner)).map(Client::unsent).sum()
        };
        let (own, all) = (waiting(&|its| its == uid), waiting(&|_| true));
        let fits = own == 0 || own + bytes <= budget::UNSENT;
        self.budget.is_trusted(uid) || fits && all + bytes <= budget::ALL_UNSENT
    }

    pub(super) fn flush(&mut self, id: u64) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        while let Some(chunk) = client.answer.get(client.sent..).filter(|left| !left.is_empty()) {
            let chunk = &chunk[..chunk.len().min(CHUNK_BYTES)];
            match rustix::net::send(&client.fd, chunk, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(_) => client.sent += chunk.len(),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    let flags = epoll::EventFlags::OUT;
                    let _ = epoll::modify(&self.epoll, &client.fd, epoll::EventData::new_u64(id), flags);
                    return;
                }
                Err(_) => break,
            }
        }
        self.close(id);
    }
}
