//! Whether programs' own pools of threads can be seen to spin here, which samples tell
//! ([`scafd::observe::samples`]). Only pools that are seen to spin take turns. A user's own daemon has the
//! rights of this process.

use super::counters;
use scafd::observe::Observer;
use scafd::observe::samples::Samples;
use serde::Serialize;
use std::io;
use std::path::Path;

#[derive(Debug, PartialEq, Serialize)]
pub struct Pools {
    /// Whether this user's daemon can sample this user's programs.
    pub seen: bool,
    pub said: String,
    /// The command that permits it.
    pub mend: Option<String>,
}

impl Pools {
    /// Tries it on this process; `paranoid` is `kernel.perf_event_paranoid`.
    pub fn examine(paranoid: Option<i32>) -> Pools {
        let own = std::process::id();
        let mut samples = Samples::new(&Observer::new(Path::new("/")).process(own));
        Pools::of(samples.follow(&[own]), paranoid)
    }

    fn of(tried: io::Result<()>, paranoid: Option<i32>) -> Pools {
        let Err(e) = tried else {
            let said = "of programs' own threads: samples tell whether they spin".into();
            return Pools { seen: true, said, mend: None };
        };
        let (why, mend) = match e.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => {
                let (why, mend) = counters::forbidden(paranoid);
                (why, Some(mend))
            }
            _ => (format!("no samples by perf_event_open: {e}"), None),
        };
        let unseen = "of programs' own threads: whether they spin can't be seen";
        let said = format!("{unseen} ({why}), so none takes turns");
        Pools { seen: false, said, mend }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_forbids_samples_is_said_and_how_to_permit_them() {
        let of = |error, paranoid| Pools::of(Err(io::Error::from_raw_os_error(error)), paranoid);
        let debians = of(libc::EACCES, Some(3));
        assert_eq!(debians.mend.as_deref(), Some("sudo sysctl kernel.perf_event_paranoid=2"));
        assert!(debians.said.contains("kernel.perf_event_paranoid is 3"), "{}", debians.said);
        assert!(of(libc::EPERM, Some(2)).mend.unwrap().starts_with("docker"));
        assert_eq!(of(libc::EINVAL, Some(-1)).mend, None);
        let seen = Pools::of(Ok(()), Some(3));
        assert!(seen.seen && seen.mend.is_none() && !seen.said.contains("can't"));
    }
}
