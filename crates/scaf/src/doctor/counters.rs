//! Whether there are hardware counters, what prevents their use, and the command that fixes it. They are
//! optional.

use scafd::control::CountersAre;
use scafd::observe::counters::{Access, Examined};
use serde::Serialize;

/// Above this, only CAP_PERFMON may count (an addition of Debian's and others'); up to it, all users may
/// count their own programs in user space.
const MOST_PARANOID: i32 = 2;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counters {
    /// "there", "absent" or "forbidden", for this process.
    pub access: &'static str,
    /// Countable events, by their keys in the daemon's configuration.
    pub events: Vec<&'static str>,
    pub paranoid: Option<i32>,
    /// Smallest share of the time that an event is counted if all are; below 1, they share counters.
    pub counted_ratio: Option<f64>,
    pub said: String,
    pub mend: Option<String>,
}

/// Describes the findings; `daemon` is the running daemon's own state of counters.
pub fn explain(found: &Examined, daemon: Option<CountersAre>) -> Counters {
    let (access, said, mend) = match found.access {
        Access::Absent => ("absent", absent(), None),
        Access::Forbidden => {
            let (why, mend) = forbidden(found.paranoid);
            ("forbidden", format!("forbidden, not needed ({why})"), Some(mend))
        }
        // The daemon counts, so its rights matter, not ours.
        Access::There if daemon == Some(CountersAre::Forbidden) => {
            let said = "there, not needed; but the daemon may not read them".into();
            ("there", said, Some("systemctl edit scafd, adding CAP_PERFMON to CapabilityBoundingSet=".into()))
        }
        Access::There => there(found),
    };
    let mut said = said;
    if daemon == Some(CountersAre::Off) {
        said.push_str("; the daemon's configuration says counters = \"off\"");
    }
    let (events, paranoid) = (found.events.clone(), found.paranoid);
    Counters { access, events, paranoid, counted_ratio: found.counted_ratio, said, mend }
}

fn absent() -> String {
    "none, not needed (a virtual machine whose host passes none on, or Linux before 5.13)".into()
}

/// Why perf_event_open is forbidden, and the command that permits it.
pub(super) fn forbidden(paranoid: Option<i32>) -> (String, String) {
    match paranoid {
        Some(paranoid) if paranoid > MOST_PARANOID => (
            format!("kernel.perf_event_paranoid is {paranoid}"),
            format!("sudo sysctl kernel.perf_event_paranoid={MOST_PARANOID}"),
        ),
        // The kernel's setting allows it, so something else forbids it.
        _ => ("a container or sandbox forbids perf_event_open".into(), "docker run --cap-add PERFMON".into()),
    }
}

fn there(found: &Examined) -> (&'static str, String, Option<String>) {
    let said = format!("there, not needed: {}", found.events.join(", "));
    match found.counted_ratio {
        Some(ratio) if ratio < 0.99 => {
            let said = format!(
                "{said}; they share counters, so that each is counted {:.0}% of the time",
                100.0 * ratio
            );
            let mend = found.watchdog.then(|| "sudo sysctl kernel.nmi_watchdog=0".into());
            ("there", said, mend)
        }
        _ => ("there", said, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABSENT: Examined = Examined {
        access: Access::Absent,
        events: Vec::new(),
        paranoid: Some(2),
        counted_ratio: None,
        watchdog: true,
    };

    fn there(counted_ratio: f64, watchdog: bool) -> Examined {
        let events = vec!["instructions", "cycles"];
        Examined { access: Access::There, events, counted_ratio: Some(counted_ratio), watchdog, ..ABSENT }
    }

    fn forbidden(paranoid: Option<i32>) -> Counters {
        explain(&Examined { access: Access::Forbidden, paranoid, ..ABSENT }, None)
    }

    #[test]
    fn a_machine_without_counters_needs_no_mending() {
        let found = explain(&ABSENT, None);
        assert!(
            found.access == "absent" && found.said.contains("not needed") && found.mend.is_none(),
            "{found:?}"
        );
    }

    #[test]
    fn a_setting_that_forbids_them_comes_with_the_command_that_allows_them() {
        let found = forbidden(Some(4));
        assert!(found.said.contains("perf_event_paranoid is 4"), "{found:?}");
        assert_eq!(found.mend.as_deref(), Some("sudo sysctl kernel.perf_event_paranoid=2"));
    }

    #[test]
    fn where_the_setting_allows_them_it_is_a_sandbox_that_does_not() {
        for paranoid in [Some(2), Some(-1), None] {
            let found = forbidden(paranoid);
            assert!(found.said.contains("sandbox") && found.mend.unwrap().contains("PERFMON"));
        }
    }

    #[test]
    fn events_that_share_counters_are_found_and_the_watchdogs_counter_can_be_had() {
        let found = explain(&there(0.8, true), None);
        assert!(found.said.contains("80% of the time") && found.mend.unwrap().contains("nmi_watchdog=0"));
        assert_eq!(explain(&there(0.8, false), None).mend, None);
        let found = explain(&there(1.0, true), Some(CountersAre::There));
        assert!(found.said.ends_with("instructions, cycles") && found.mend.is_none(), "{found:?}");
    }

    #[test]
    fn a_daemon_that_may_not_count_or_is_not_to_is_reported() {
        let found = explain(&there(1.0, false), Some(CountersAre::Forbidden));
        assert!(found.said.contains("the daemon may not") && found.mend.unwrap().contains("CAP_PERFMON"));
        assert!(explain(&there(1.0, false), Some(CountersAre::Off)).said.contains("\"off\""));
    }
}
