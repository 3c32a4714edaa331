//! Connections on which nobody has shown the token yet. Any user of this machine can open them, so there are
//! only so many from an address and in all, and the oldest is closed for a new one. A client with the token
//! sends it at once, and its connection doesn't count from then on.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// From one address. A browser opens six.
pub const MOST_OF_ADDRESS: usize = 64;
/// From all addresses: a client may choose its own among those of 127.0.0.0/8.
pub const MOST: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub struct Strangers(Mutex<List>);

#[derive(Debug, Default)]
struct List {
    /// In the order of their coming.
    waiting: Vec<Waiting>,
    /// How many there were.
    count: u64,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    from: IpAddr,
    close: oneshot::Sender<()>,
}

/// A connection that counts until it shows the token or ends.
#[derive(Debug)]
pub struct Stranger {
    number: u64,
    strangers: Arc<Strangers>,
}

impl Strangers {
    fn list(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection comes from that address. It has to be closed when the receiver gets something.
    pub fn come(self: &Arc<Strangers>, from: IpAddr) -> (Stranger, oneshot::Receiver<()>) {
        let mut list = self.list();
        let of_address = list.waiting.iter().filter(|it| it.from == from).count();
        let oldest = if of_address >= MOST_OF_ADDRESS {
            list.waiting.iter().position(|it| it.from == from)
        } else {
            (list.waiting.len() >= MOST).then_some(0)
        };
        if let Some(oldest) = oldest {
            // It may be about to end by itself.
            _ = list.waiting.remove(oldest).close.send(());
        }
        list.count += 1;
        let (close, closed) = oneshot::channel();
        let number = list.count;
        list.waiting.push(Waiting { number, from, close });
        (Stranger { number, strangers: Arc::clone(self) }, closed)
    }
}

impl Stranger {
    /// It doesn't count any more: it has shown the token, or ends.
    pub fn leave(&self) {
        self.strangers.list().waiting.retain(|it| it.number != self.number);
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn address(number: usize) -> IpAddr {
        Ipv4Addr::new(127, 0, (number >> 8) as u8, number as u8).into()
    }

    #[test]
    fn the_oldest_of_an_address_gives_way_and_nobody_elses() {
        let strangers = Arc::new(Strangers::default());
        let mut other = strangers.come(address(2));
        let mut all: Vec<_> = (0..MOST_OF_ADDRESS).map(|_| strangers.come(address(1))).collect();
        assert!(all.iter_mut().all(|(_, closed)| closed.try_recv().is_err()));
        // Those that have shown the token, or have ended, aren't in the way.
        all[0].0.leave();
        all.push(strangers.come(address(1)));
        drop(all.pop());
        all.push(strangers.come(address(1)));
        assert!(all.iter_mut().all(|(_, closed)| closed.try_recv().is_err()));
        all.push(strangers.come(address(1)));
        let closed: Vec<bool> = all.iter_mut().map(|(_, closed)| closed.try_recv().is_ok()).collect();
        assert!(closed[1] && closed.iter().filter(|it| **it).count() == 1, "{closed:?}");
        assert!(other.1.try_recv().is_err());
    }

    #[test]
    fn whoever_has_many_addresses_has_no_more_than_all_may_have() {
        let strangers = Arc::new(Strangers::default());
        let mut all: Vec<_> = (0..MOST + 10).map(|number| strangers.come(address(number))).collect();
        let closed = all.iter_mut().filter_map(|(_, closed)| closed.try_recv().ok()).count();
        assert_eq!((closed, strangers.list().waiting.len()), (10, MOST));
        drop(all);
        assert_eq!(strangers.list().waiting.len(), 0);
    }
}
