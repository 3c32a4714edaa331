//! `/proc/stat`: how long each PU was busy.

use scaf_policy::PuSet;

/// Clock ticks that PUs were busy since the machine started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Busy {
    /// User, system, irq and softirq.
    pub normal: u64,
    /// With threads of a nice level above 0.
    pub nice: u64,
}

/// Ticks of `pus`, given the text of `/proc/stat`. Steal is the hypervisor's time, and guest time is in user
/// already.
pub fn busy_ticks(text: &str, pus: &PuSet) -> Busy {
    text.lines()
        .filter_map(|line| line.strip_prefix("cpu")?.split_once(' '))
        .filter(|(pu, _)| pu.parse().is_ok_and(|pu| pus.contains(pu)))
        .map(|(_, fields)| {
            let fields: Vec<u64> = fields.split_whitespace().map(|f| f.parse().unwrap_or(0)).collect();
            let sum = |all: &[usize]| {
                all.iter().filter_map(|i| fields.get(*i)).fold(0u64, |sum, f| sum.saturating_add(*f))
            };
            Busy { normal: sum(&[0, 2, 5, 6]), nice: sum(&[1]) }
        })
        .fold(Busy::default(), |all, its| Busy {
            normal: all.normal.saturating_add(its.normal),
            nice: all.nice.saturating_add(its.nice),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_given_pus_and_only_busy_time_count() {
        let text = "cpu  1 1 1 1 1 1 1 1 1 1\n\
                    cpu0 10 20 30 1000 1000 1 2 500 9 9\n\
                    cpu1 1 0 0 1000 0 0 0 0 0 0\n\
                    cpu11 7000 0 0 0 0 0 0 0 0 0\n\
                    intr 5\n";
        assert_eq!(busy_ticks(text, &"0-1".parse().unwrap()), Busy { normal: 44, nice: 20 });
        assert_eq!(busy_ticks(text, &"11".parse().unwrap()), Busy { normal: 7000, nice: 0 });
        assert_eq!(busy_ticks(text, &PuSet::new()), Busy::default());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(cpu[0-9]{0,3}[ a-z0-9]{0,60}\n){0,9}") {
            busy_ticks(&text, &"0-999".parse().unwrap());
        }
    }
}
