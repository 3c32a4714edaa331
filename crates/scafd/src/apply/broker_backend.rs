//! Applies changes through the broker.

use super::MASKS;
use super::guardian::Lease;
use super::threads::{Target, Trouble};
use crate::broker::Broker;
use crate::broker::protocol::{Answer, Ask, MOST_MASKS, Who};
use scaf_policy::PuSet;
use std::io;

const _: () = assert!(MASKS <= MOST_MASKS);

pub(super) struct BrokerBackend {
    pub broker: Broker,
    pub lease: Lease,
}

impl BrokerBackend {
    pub fn renew(&self, until_ns: Option<u64>) -> bool {
        let renewed = self.lease.renew(until_ns);
        if renewed.begins {
            let _ = self.broker.ask(&Ask::Wake);
        }
        renewed.was_over
    }

    pub fn narrow(&self, target: &Target, mask: &PuSet) -> Result<PuSet, Trouble> {
        let (own, masks) = (target.own.clone(), target.masks.to_vec());
        let (who, any) = (who(target), target.any_mask);
        let ask = Ask::Narrow { who, own, masks, mask: mask.clone(), any };
        match self.broker.ask(&ask) {
            Ok(Answer::Set(taken)) => Ok(taken),
            other => Err(trouble(target.pid, mask, other)),
        }
    }

    pub fn restore(&self, target: &Target) -> Result<(), Trouble> {
        let ask = Ask::Restore { who: who(target), own: target.own.clone(), masks: target.masks.to_vec() };
        match self.broker.ask(&ask) {
            Ok(Answer::Done(_)) => Ok(()),
            other => Err(trouble(target.pid, target.own, other)),
        }
    }

    pub fn restore_child(&self, pid: u32, parent: &Target) {
        let _ = self.broker.ask(&Ask::RestoreChild { pid, parent: parent.pid });
    }
}

fn who(target: &Target) -> Who {
    Who { pid: target.pid, starttime: target.starttime }
}

fn trouble(pid: u32, mask: &PuSet, answer: io::Result<Answer>) -> Trouble {
    match answer.and_then(|answer| answer.done()) {
        Err(e) if e.raw_os_error() == Some(libc::ESRCH) => Trouble::Gone(pid),
        Err(source) => Trouble::Denied { pid, mask: mask.clone(), source },
        Ok(_) => Trouble::Denied { pid, mask: mask.clone(), source: io::ErrorKind::InvalidData.into() },
    }
}
