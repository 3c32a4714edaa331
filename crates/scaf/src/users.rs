//! Names of users, as the system's file has them.

use anyhow::{Context, Result};
use scafd::privileges::{Account, users};
use std::collections::BTreeMap;

/// All that are known.
pub fn names() -> BTreeMap<u32, String> {
    parse(&Account::passwd())
}

fn parse(text: &str) -> BTreeMap<u32, String> {
    users(text).map(|(name, uid, _)| (uid, name.to_owned())).collect()
}

/// A user's name, or number.
pub fn name(names: &BTreeMap<u32, String>, uid: u32) -> String {
    names.get(&uid).cloned().unwrap_or_else(|| uid.to_string())
}

/// The number of a user who is named by either.
/// # Errors
/// There is no user of that name.
pub fn id(names: &BTreeMap<u32, String>, user: &str) -> Result<u32> {
    let known = names.iter().find(|(_, name)| *name == user).map(|(uid, _)| *uid);
    known.or_else(|| user.parse().ok()).with_context(|| format!("there is no user '{user}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_known_by_name_and_number() {
        let names = parse("root:x:0:0:root:/root:/bin/sh\nbroken\nann:x:1000:1000::/home/ann:/bin/sh\n");
        assert_eq!(names, [(0, "root".to_owned()), (1000, "ann".to_owned())].into());
        assert_eq!((id(&names, "ann").unwrap(), id(&names, "7").unwrap()), (1000, 7));
        assert_eq!((name(&names, 0), name(&names, 7)), ("root".to_owned(), "7".to_owned()));
        assert!(id(&names, "bob").unwrap_err().to_string().contains("'bob'"));
    }
}
