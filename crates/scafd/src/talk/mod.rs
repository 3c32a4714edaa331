//! All communication with clients, over one socket. A program's first packet is a `Hello`; it gets its two
//! pages and keeps the connection. The command line's first packet is JSON; it gets its answer and is closed.
//! No client can block the daemon: what it doesn't read is queued, within its user's [`budget`].

mod admission;
mod answers;
mod bans;
mod budget;
mod client;
mod detached_connections;
mod event;
mod listen;
mod other_versions;
mod packets;
mod page_pool;
mod pages;
mod peer;
mod throttle;

pub(crate) use event::Event;
pub use listen::{Error as ListenError, Place};
pub(crate) use pages::Pages;
pub use peer::Peer;

use crate::apply::MOST_PROGRAMS;
use crate::broker::{Broker, fd_passing};
use crate::control::{OtherVersion, Reply};
use crate::log::{Limiter, UserLimiters};
use crate::privileges::Owners;
use bans::Bans;
use budget::Budget;
use client::{Client, Stage};
use detached_connections::DetachedConnections;
use listen::Listener;
use other_versions::OtherVersions;
use packets::{Packet, Wrong, parse};
use page_pool::PagePool;
use rustix::event::{Timespec, epoll};
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, shutdown};
use scaf_proto::hello::{ATTACH, ENTERED, FLAG_STARTING, Hello, Welcome};
use scaf_proto::{MAGIC, VERSION};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};
use throttle::Throttled;

/// Longest packet taken from a client, in bytes.
const MAX_PACKET: usize = 4096;
/// How long a connection may stay silent at first, or leave its answer unread.
const PATIENCE: Duration = Duration::from_secs(10);
/// Open files that are left for everything but connections.
const OWN_FILES: usize = 64;
/// A client's connection, and its pages' files.
const FILES_OF_ONE: usize = 3;
/// The same with a pair of pages in the pool.
const FILES_WITH_A_SPARE: usize = 5;
/// With fewer there would be no connection beside the reserve.
const FEWEST_FILES: usize = OWN_FILES + 2 * budget::RESERVE;
/// Packets of a program that are read before others' are.
const PACKETS: usize = 64;
const LISTENER: u64 = u64::MAX;
/// Set in the tokens of file descriptors that are no clients.
const WATCHED: u64 = 1 << 63;

/// All connections.
pub struct Talk {
    epoll: OwnedFd,
    listener: Listener,
    throttled: Throttled,
    bans: Bans,
    /// Until then no connection is accepted.
    accept_again_at: Option<Instant>,
    owners: Owners,
    clients: BTreeMap<u64, Client>,
    next: u64,
    max_per_uid: usize,
    max_clients: usize,
    budget: Budget,
    page_pool: PagePool,
    detached: DetachedConnections,
    limiters: UserLimiters,
    trouble: Limiter,
    other_versions: OtherVersions,
}

impl Talk {
    /// Makes the socket, with the permissions `mode`.
    pub fn listen(place: Place, mode: u32, max_per_uid: u32) -> Result<Talk, ListenError> {
        Talk::on(Listener::new(place, mode)?, max_per_uid)
    }

    /// Takes over the socket of a service manager, which will remove it.
    pub fn adopt(socket: OwnedFd, place: Place, max_per_uid: u32) -> Result<Talk, ListenError> {
        Talk::on(Listener::adopt(socket, place)?, max_per_uid)
    }

    fn on(listener: Listener, max_per_uid: u32) -> Result<Talk, ListenError> {
        let files = file_limit();
        if files < FEWEST_FILES {
            return Err(ListenError::Files { files, needed: FEWEST_FILES });
        }
        let path = listener.path().to_owned();
        let io = |source: rustix::io::Errno| ListenError::Io { path: path.clone(), source: source.into() };
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(io)?;
        epoll::add(&epoll, &listener.fd, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)
            .map_err(io)?;
        let pus = std::thread::available_parallelism().map_or(1, usize::from);
        let max_clients = MOST_PROGRAMS.min((files - OWN_FILES) / FILES_WITH_A_SPARE);
        let room = (files - OWN_FILES - FILES_OF_ONE * max_clients) / 2;
        Ok(Talk {
            epoll,
            listener,
            throttled: Throttled::default(),
            bans: Bans::default(),
            accept_again_at: None,
            owners: Owners::of_machine(),
            clients: BTreeMap::new(),
            next: 1,
            max_per_uid: max_per_uid as usize,
            max_clients,
            page_pool: PagePool::new(max_per_uid as usize, room),
            detached: DetachedConnections::default(),
            budget: Budget::new(rustix::process::getuid().as_raw(), pus),
            limiters: UserLimiters::default(),
            trouble: Limiter::default(),
            other_versions: OtherVersions::default(),
        })
    }

    /// The owner of a user id, to whom limits and shares apply ([`crate::privileges::Owners`]).
    pub fn owner_of(&self, uid: u32) -> u32 {
        // Only a trusted user itself has no limits, not the users of its ranges.
        Some(self.owners.of(uid)).filter(|owner| !self.is_trusted(*owner)).unwrap_or(uid)
    }

    /// Reads the owners of user ids again, if their files have changed.
    pub fn refresh_owners(&mut self) {
        self.owners.refresh();
    }

    /// Open connections.
    pub fn clients(&self) -> usize {
        self.clients.len() + self.detached.len()
    }

    /// Whether that user is root or the daemon's own.
    pub fn is_trusted(&self, uid: u32) -> bool {
        self.budget.is_trusted(uid)
    }

    /// Reports [`Event::Ready`] with `token` (below 2^62) whenever `fd` can be read. It ends by closing `fd`.
    pub fn watch(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, fd, epoll::EventData::new_u64(WATCHED | token), epoll::EventFlags::IN)?)
    }

    /// Waits for events, at most until `until` and until there are fewer clients. Refused connections are no
    /// events.
    pub fn wait(&mut self, until: Option<Instant>) -> io::Result<Vec<Event>> {
        loop {
            let clients = self.clients();
            let events = self.wait_once(until)?;
            let is_over = until.is_some_and(|until| Instant::now() >= until);
            // With fewer clients there may be another time until which to wait.
            if !events.is_empty() || is_over || self.clients() < clients {
                return Ok(events);
            }
        }
    }

    fn wait_once(&mut self, until: Option<Instant>) -> io::Result<Vec<Event>> {
        let mut ready = Vec::with_capacity(64);
        let (throttled, bans, detached) = (self.throttled.until(), self.bans.until(), self.detached.until());
        let deadlines = [until, throttled, self.accept_again_at, bans, self.deadline(), detached];
        let timeout = deadlines.into_iter().flatten().min().map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) }
        });
        let spare = rustix::buffer::spare_capacity(&mut ready);
        match epoll::wait(&self.epoll, spare, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        let mut events = Vec::new();
        for event in &ready {
            match event.data.u64() {
                LISTENER => self.accept_waiting(),
                token if token & WATCHED != 0 => events.push(Event::Ready(token & !WATCHED)),
                id => self.serve(id, event.flags, &mut events),
            }
        }
        self.resume_throttled();
        self.resume_accepting();
        self.bans.expire(Instant::now(), |users| self.listener.set_bans(users));
        self.drop_overdue(&mut events);
        self.detached.look();
        Ok(events)
    }

    fn programs_of(&self, owner: u32) -> usize {
        let programs = self.clients.values().filter(|it| it.peer.owner == owner && !it.is_pending());
        programs.count() + self.detached.of(owner)
    }

    /// Reads one packet of a client, or some of a program, or sends more of its answer. Epoll reports it
    /// again if there is more.
    fn serve(&mut self, id: u64, ready: epoll::EventFlags, events: &mut Vec<Event>) {
        let Some(client) = self.clients.get(&id) else { return };
        if client.stage == Stage::Asked {
            self.flush(id);
            return;
        }
        if client.stage == Stage::Attached && !self.budget.may_talk(client.peer.owner, Instant::now()) {
            match ready.intersects(epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
                true => events.push(Event::Gone(id)),
                false => self.throttle(id),
            }
            return;
        }
        let many = if client.stage == Stage::Attached { PACKETS } else { 1 };
        let _ = (0..many).all(|_| self.take_packet(id, events));
    }

    /// Reads one packet. False if there is no more to read.
    fn take_packet(&mut self, id: u64, events: &mut Vec<Event>) -> bool {
        let Some(client) = self.clients.get_mut(&id) else { return false };
        let mut packet = [0u8; MAX_PACKET];
        let length = match recv(&client.fd, &mut packet[..], RecvFlags::TRUNC | RecvFlags::DONTWAIT) {
            Ok((_, length)) => length,
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => return false,
            Err(_) => 0,
        };
        if length == 0 {
            events.push(Event::Gone(id));
            return false;
        }
        match parse(packet.get(..length), &client.stage) {
            Ok(Packet::Hello(hello)) if hello.kind == ATTACH => self.admit(id, hello, events),
            // Of several such packets in a row the latest is enough.
            Ok(Packet::Hello(hello)) if hello.kind == ENTERED => {
                events.pop_if(|event| matches!(event, Event::Entered(of) if *of == id));
                events.push(Event::Entered(id));
                return true;
            }
            Ok(Packet::Hello(hello)) => {
                events.pop_if(|event| matches!(event, Event::MoreModules(of, _) if *of == id));
                events.push(Event::MoreModules(id, hello.modules));
                return true;
            }
            Ok(Packet::Request(request)) => {
                client.stage = Stage::Asked;
                if self.budget.may_ask(client.peer.owner, Instant::now()) {
                    events.push(Event::Control(id, client.peer, request));
                } else {
                    self.answer(id, &Reply::Error("too many requests; wait a second".into()));
                }
            }
            // The command line asks for our version.
            Err(Wrong::Version(0)) => {
                self.refuse(id);
                events.push(Event::Gone(id));
            }
            Err(Wrong::Version(version)) => {
                let peer = client.peer;
                self.other_versions.add(peer, version);
                let text = format_args!(
                    "process {} speaks version {version} of the protocol, this daemon {VERSION}: it runs \
                     unmanaged; restart both after an upgrade",
                    peer.pid
                );
                self.limiters.warn(peer.owner, text);
                self.refuse(id);
                events.push(Event::Gone(id));
            }
            Err(Wrong::Request(why)) => {
                client.stage = Stage::Asked;
                self.answer(id, &Reply::Error(why));
            }
            Err(Wrong::Garbage(why)) => {
                let Peer { pid, uid, owner, .. } = client.peer;
                let text = format_args!("process {pid} of user {uid} sent {why}: connection closed");
                self.limiters.warn(owner, text);
                self.close(id);
                events.push(Event::Gone(id));
            }
        }
        false
    }

    /// Attaches a program, if its user may have one more now. One that only starts may never have a region,
    /// and asks again at its first: such programs get half of the places, and a refusal isn't logged.
    fn admit(&mut self, id: u64, hello: Box<Hello>, events: &mut Vec<Event>) {
        let Some(peer) = self.clients.get(&id).map(|client| client.peer) else { return };
        let starts = hello.flags & FLAG_STARTING != 0;
        let most = if starts { self.max_per_uid.div_ceil(2) } else { self.max_per_uid };
        let why_not = if !self.budget.may_attach(peer.owner, starts, Instant::now()) {
            Some(format!("programs of user {} attach too often", peer.uid))
        } else if self.programs_of(peer.owner) >= most {
            Some(format!("user {} has {most} programs, and may have no more", peer.uid))
        } else {
            None
        };
        let Some(client) = self.clients.get_mut(&id) else { return };
        let Some(why_not) = why_not else {
            client.stage = Stage::Attached;
            self.other_versions.forget(peer.pid);
            events.push(Event::Attach(id, peer, hello));
            return;
        };
        if !starts {
            self.limiters.warn(peer.owner, format_args!("{why_not}: process {} runs unmanaged", peer.pid));
        }
        self.refuse(id);
        events.push(Event::Gone(id));
    }

    /// Charges a program's user for its threads.
    pub fn has_threads(&mut self, uid: u32, threads: u32) {
        self.budget.attached(uid, threads, Instant::now());
    }

    /// Makes the pages of a client that wants to attach; fails also if its user has too many in the pool.
    pub fn prepare(&mut self, id: u64) -> io::Result<()> {
        let client = self.clients.get_mut(&id).ok_or(io::ErrorKind::NotConnected)?;
        client.pages = Some(match self.budget.is_trusted(client.peer.owner) {
            true => Pages::create()?,
            false => self.page_pool.get(&client.peer, Instant::now())?,
        });
        Ok(())
    }

    pub(crate) fn connection(&self, id: u64) -> Option<BorrowedFd<'_>> {
        self.clients.get(&id).map(|client| client.fd.as_fd())
    }

    /// Has the broker remove the socket at the end, and ban users.
    pub fn with_broker(&mut self, broker: Broker) {
        self.listener.with_broker(broker);
        // Lifts the bans of an earlier daemon that was killed.
        self.bans.apply(Instant::now(), |users| self.listener.set_bans(users));
    }

    /// Sends the welcome with the pages' file descriptors. False if that failed, and the connection was
    /// closed.
    pub fn welcome(&mut self, id: u64) -> bool {
        let Some(client) = self.clients.get_mut(&id) else { return false };
        let Some(pages) = client.pages.as_ref().filter(|_| !client.welcomed) else { return false };
        let welcome = Welcome { magic: MAGIC, version: VERSION, program: id };
        let files = pages.files().each_ref().map(AsFd::as_fd);
        let sent = fd_passing::send(&client.fd, welcome.as_bytes(), &files, SendFlags::DONTWAIT).is_ok();
        client.welcomed = sent;
        if !sent {
            self.close(id);
        }
        sent
    }

    /// Tells a client that it runs unmanaged, and closes the connection.
    pub fn refuse(&mut self, id: u64) {
        if let Some(client) = self.clients.get(&id) {
            let no = Welcome { magic: MAGIC, version: VERSION, program: 0 };
            let _ = rustix::net::send(&client.fd, no.as_bytes(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        }
        self.close(id);
    }

    /// Programs of another version of the protocol, of those that `live`.
    pub fn other_versions(&self, live: impl Fn(u32) -> bool) -> Vec<OtherVersion> {
        self.other_versions.living(live)
    }

    /// The pages of an attached client.
    pub fn pages(&self, id: u64) -> Option<&Pages> {
        self.clients.get(&id)?.pages.as_ref()
    }

    /// Renews all grants until then.
    pub fn renew(&self, until_ns: u64) {
        self.clients.values().filter_map(|client| client.pages.as_ref()).for_each(|it| it.renew(until_ns));
    }

    /// Closes a connection, if there still is one; a program's once it has received its welcome.
    pub fn close(&mut self, id: u64) {
        let Some(client) = self.clients.remove(&id) else { return };
        let _ = epoll::delete(&self.epoll, &client.fd);
        if let Some(pages) = client.pages
            && !self.budget.is_trusted(client.peer.owner)
        {
            self.page_pool.put_back(&client.peer, pages, Instant::now());
        }
        if client.welcomed && peer::has_unread(&client.fd) {
            // The program notices that the daemon has hung up.
            let _ = shutdown(&client.fd, Shutdown::Write);
            self.detached.add(client.fd, client.peer.owner);
        }
    }
}

/// Raises the limit of open files as far as it goes, and returns it.
fn file_limit() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    limit.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX))
}
