//! The users that daemon and helpers run as.

/// The user that the daemon becomes, unless its configuration names another one.
pub const USER: &str = "scaf";
/// The user that an inspection helper becomes once it has opened its files; without it, [`NOBODY`].
pub const INSPECTOR: &str = "scaf-inspect";
/// The overflow user.
const NOBODY: u32 = 65_534;
/// User ids that systemd gives services without a user (`DynamicUser=`).
const NAMELESS: std::ops::RangeInclusive<u32> = 61_184..=65_519;

/// A user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// Its id.
    pub uid: u32,
    /// Its group's id.
    pub gid: u32,
    /// Whether it has a name.
    pub named: bool,
}

impl Account {
    /// The daemon's: of that name or id, else an unused id. `passwd` is the text of `/etc/passwd`, where
    /// users of a system's services are.
    pub fn of_daemon(name: &str, passwd: &str) -> Account {
        let nameless = || {
            let taken = |uid: &u32| users(passwd).any(|(_, other, _)| other == *uid);
            let free = NAMELESS.clone().find(|uid| !taken(uid));
            let number = free.unwrap_or(NOBODY);
            Account { uid: number, gid: number, named: false }
        };
        let known = named(name, passwd);
        let number = || name.parse().ok().map(|number| Account { uid: number, gid: number, named: true });
        known.or_else(number).unwrap_or_else(nameless)
    }

    /// The inspection helpers'.
    pub fn of_inspector(passwd: &str) -> Account {
        named(INSPECTOR, passwd).unwrap_or(Account { uid: NOBODY, gid: NOBODY, named: true })
    }

    /// The text of `/etc/passwd`; empty if there is none.
    pub fn passwd() -> String {
        std::fs::read_to_string("/etc/passwd").unwrap_or_default()
    }
}

fn named(name: &str, passwd: &str) -> Option<Account> {
    let (_, uid, gid) = users(passwd).find(|(known, ..)| *known == name)?;
    Some(Account { uid, gid, named: true })
}

/// Names, user ids and group ids in the text of `/etc/passwd`.
pub fn users(passwd: &str) -> impl Iterator<Item = (&str, u32, u32)> {
    passwd.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let (name, uid, gid) = (fields.next()?, fields.nth(1)?, fields.next()?);
        Some((name, uid.parse().ok()?, gid.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: &str = "root:x:0:0:root:/root:/bin/sh\nscaf:x:990:991::/:/bin/false\nbroken:x\n\
                        other:x:61184:61184::/:/bin/false\n";

    #[test]
    fn a_daemon_runs_as_the_user_of_its_name_or_as_an_unused_id() {
        let of = |name: &str, passwd| {
            let account = Account::of_daemon(name, passwd);
            (account.uid, account.gid, account.named)
        };
        assert_eq!(of("scaf", SOME), (990, 991, true));
        assert_eq!(of("1234", SOME), (1234, 1234, true));
        assert_eq!(of("someone", SOME), (61_185, 61_185, false));
        assert_eq!(of("scaf", ""), (61_184, 61_184, false));
        assert_eq!(Account::of_inspector(SOME).uid, NOBODY);
    }
}
