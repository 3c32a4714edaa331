//! Users who connect so often that even to turn them away costs too much are kept out for a moment: the
//! kernel refuses them, and the daemon doesn't hear of it.

use crate::broker::Broker;
use crate::broker::wire::{Ask, MOST_OUT};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long.
const PAUSE: Duration = Duration::from_millis(250);

/// Users of one owner that are kept out together; who has more is no reason to let others' in.
const OF_ONE: usize = 4;

/// Those that are kept out now.
#[derive(Default)]
pub(super) struct KeptOut {
    /// Until when, and whose they are.
    users: BTreeMap<u32, (Instant, u32)>,
    /// When the broker is told again, because it couldn't do it.
    again: Option<Instant>,
}

impl KeptOut {
    /// Keeps a user of that owner's out for a moment, if there is a broker that can, and a place.
    pub fn add(&mut self, user: u32, owner: u32, broker: Option<&Broker>) {
        let of_owner = self.users.values().filter(|(_, its)| *its == owner).count();
        let has_place = self.users.len() < MOST_OUT && of_owner < OF_ONE && !self.users.contains_key(&user);
        let Some(broker) = broker.filter(|_| has_place) else { return };
        self.users.insert(user, (Instant::now() + PAUSE, owner));
        self.tell(broker);
    }

    /// When one of them may come again.
    pub fn until(&self) -> Option<Instant> {
        self.users.values().map(|(until, _)| *until).chain(self.again).min()
    }

    /// Lets those in again for whom it is time.
    pub fn let_in(&mut self, broker: Option<&Broker>) {
        let now = Instant::now();
        let Some(broker) = broker.filter(|_| self.until().is_some_and(|until| until <= now)) else { return };
        self.users.retain(|_, (until, _)| *until > now);
        self.tell(broker);
    }

    /// Tells the broker whom. Where it can't, because there are no access lists say, users are turned away
    /// one by one, and those that it had kept out are let in later.
    pub fn tell(&mut self, broker: &Broker) {
        let done = broker.ask(&Ask::KeepOut(self.users.keys().copied().collect()));
        let done = done.is_ok_and(|answer| answer.done().is_ok());
        self.again = (!done).then(|| Instant::now() + PAUSE);
    }
}
