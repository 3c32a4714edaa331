//! What forbids a proof.

use crate::functions;

/// Why a module isn't proved.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub address: u64,
    pub what: String,
    /// It is a call that allocates memory.
    pub allocates: bool,
}

impl Finding {
    pub fn at(address: u64, what: &str) -> Finding {
        Finding { address, what: what.to_owned(), allocates: false }
    }

    pub fn of_function(address: u64, what: &str, name: &str) -> Finding {
        Finding { address, what: format!("{what} {name}"), allocates: functions::allocates(name) }
    }
}
