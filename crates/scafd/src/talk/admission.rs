//! Admission: which connections are accepted, and which clients are read.

use super::client::Client;
use super::peer::Peer;
use super::{Event, LISTENER, PATIENCE, Talk, budget};
use rustix::event::epoll;
use rustix::net::{SocketFlags, accept_with};
use std::time::{Duration, Instant};

/// How long no connection is accepted after one of a flooding user was refused. A client waits for 2 ms.
const ACCEPT_PAUSE: Duration = Duration::from_millis(1);
/// Connections that are accepted before the clients that are there are read.
const AT_ONCE: usize = 64;

impl Talk {
    /// Accepts waiting connections, as far as limits permit.
    pub(super) fn accept_waiting(&mut self) {
        let mut flooding = false;
        for _ in 0..AT_ONCE {
            let fd = match accept_with(&self.listener.fd, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(fd) => fd,
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    if flooding {
                        self.pause_accepting();
                    }
                    return;
                }
                Err(rustix::io::Errno::CONNABORTED | rustix::io::Errno::INTR) => continue,
                Err(e) => {
                    self.trouble.warn(format_args!("cannot accept a connection: {e}"));
                    std::thread::sleep(Duration::from_millis(10));
                    return;
                }
            };
            let Ok(peer) = Peer::of(&fd) else { continue };
            let peer = Peer { owner: self.owner_of(peer.uid), ..peer };
            // First, because it is the cheapest check, and the one that a flood meets.
            if !self.may_connect(peer) {
                flooding |= self.is_flooding(peer);
                continue;
            }
            if !self.has_room(peer) {
                continue;
            }
            let id = self.next;
            let flags = epoll::EventFlags::IN | epoll::EventFlags::RDHUP;
            if epoll::add(&self.epoll, &fd, epoll::EventData::new_u64(id), flags).is_ok() {
                self.next += 1;
                self.clients.insert(id, Client::new(fd, peer));
            }
        }
    }

    fn may_connect(&mut self, peer: Peer) -> bool {
        let may_connect = self.budget.may_connect(peer.owner, Instant::now());
        if !may_connect {
            let Peer { pid, uid, owner, .. } = peer;
            let why = "that user connects too often";
            self.limiters
                .warn(owner, format_args!("connection of process {pid} of user {uid} refused: {why}"));
        }
        may_connect
    }

    /// Whether a user who is over the limit connects in a loop; such a user is banned.
    fn is_flooding(&mut self, peer: Peer) -> bool {
        let now = Instant::now();
        let flooding = !self.budget.may_be_refused(peer.owner, now);
        if flooding {
            self.bans.add(peer.uid, peer.owner, now, |users| self.listener.set_bans(users));
        }
        flooding
    }

    /// Whether there is room for one more connection of that user.
    fn has_room(&mut self, peer: Peer) -> bool {
        let own = || self.clients.values().filter(|client| client.peer.owner == peer.owner);
        let of_user = own().count() + self.detached.of(peer.owner);
        let pending = own().filter(|client| client.is_pending()).count();
        let trusted = self.budget.is_trusted(peer.owner);
        let reserve = if trusted { 0 } else { budget::RESERVE.min(self.max_clients / 2) };
        let has_room = self.clients() < self.max_clients - reserve
            && of_user < self.max_per_uid + budget::PENDING
            && (trusted || pending < budget::PENDING);
        if !has_room {
            let (Peer { pid, uid, owner, .. }, all) = (peer, self.clients());
            let text = format_args!(
                "too many connections: process {pid} of user {uid} refused ({of_user} of that user, of which \
                 {pending} wait or are silent, {all} altogether)"
            );
            self.limiters.warn(owner, text);
        }
        has_room
    }

    /// Accepts nothing for a moment: refusing many connections together costs less than each as it comes. For
    /// users who can't be banned.
    fn pause_accepting(&mut self) {
        if self.accept_again_at.is_none() && self.listen_for(epoll::EventFlags::empty()) {
            self.accept_again_at = Some(Instant::now() + ACCEPT_PAUSE);
        }
    }

    /// Accepts again, if it is time.
    pub(super) fn resume_accepting(&mut self) {
        if self.accept_again_at.is_some_and(|until| until <= Instant::now())
            && self.listen_for(epoll::EventFlags::IN)
        {
            self.accept_again_at = None;
        }
    }

    fn listen_for(&self, what: epoll::EventFlags) -> bool {
        epoll::modify(&self.epoll, &self.listener.fd, epoll::EventData::new_u64(LISTENER), what).is_ok()
    }

    /// Doesn't read a program's packets for a moment. Its end is noticed all the same.
    pub(super) fn throttle(&mut self, id: u64) {
        if self.set_events(id, epoll::EventFlags::empty()) {
            self.throttled.add(id);
        }
    }

    /// Reads throttled programs again, if it is time.
    pub(super) fn resume_throttled(&mut self) {
        for id in self.throttled.due() {
            if !self.set_events(id, epoll::EventFlags::IN | epoll::EventFlags::RDHUP) {
                // The kernel has no memory for it now.
                self.throttled.add(id);
            }
        }
    }

    /// False if the kernel refuses for a client that is there.
    fn set_events(&self, id: u64, what: epoll::EventFlags) -> bool {
        let Some(client) = self.clients.get(&id) else { return true };
        epoll::modify(&self.epoll, &client.fd, epoll::EventData::new_u64(id), what).is_ok()
    }

    /// When the oldest pending connection is overdue.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.clients.values().filter(|c| c.is_pending()).map(|c| c.since + PATIENCE).min()
    }

    /// Drops connections that have sent nothing, or read nothing, for too long.
    pub(super) fn drop_overdue(&mut self, events: &mut Vec<Event>) {
        let now = Instant::now();
        if self.deadline().is_none_or(|deadline| deadline > now) {
            return;
        }
        let late = |c: &Client| c.is_pending() && c.since + PATIENCE <= now;
        let late: Vec<u64> = self.clients.iter().filter(|(_, c)| late(c)).map(|(id, _)| *id).collect();
        for id in late {
            self.close(id);
            events.push(Event::Gone(id));
        }
    }
}
