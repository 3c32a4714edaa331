//! Divides one grant among the runtimes of a process that have threads of their own: OpenMP, oneTBB, a BLAS.
//! Runtimes that run at the same time share it, with at least one context each. A runtime that an OpenMP
//! team's threads call gets, for each call, the share of one thread.

/// Contexts for each of `N` runtimes in a process with `dop` contexts. `wants[i]` is what runtime `i` could
/// use, 0 if it doesn't run. `outer` is the number of threads in OpenMP teams (0 or 1: none). A share is 0
/// for a runtime that doesn't run, else at least 1 and at most what it wants. Together they are at most the
/// DoP of one thread of the team, unless more runtimes run than that.
pub fn shares<const N: usize>(dop: u32, outer: u32, wants: [u32; N]) -> [u32; N] {
    let mut room = (dop / outer.max(1)).max(1);
    let mut shares = wants.map(|want| want.min(1));
    room = room.saturating_sub(shares.iter().sum());
    while room > 0 {
        let before = room;
        for (share, want) in shares.iter_mut().zip(wants) {
            if *share < want && room > 0 {
                *share += 1;
                room -= 1;
            }
        }
        if room == before {
            break;
        }
    }
    shares
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_that_runs_alone_has_all_that_it_can_use() {
        assert_eq!(shares(8, 0, [64, 0, 0]), [8, 0, 0]);
        assert_eq!(shares(8, 0, [3, 0, 0]), [3, 0, 0]);
    }

    #[test]
    fn what_one_cannot_use_goes_to_the_others() {
        assert_eq!(shares(8, 1, [64, 64, 0]), [4, 4, 0]);
        assert_eq!(shares(8, 0, [2, 64, 64]), [2, 3, 3]);
        assert_eq!(shares(1, 0, [64, 64, 0]), [1, 1, 0]);
    }

    #[test]
    fn within_a_team_each_call_gets_what_there_is_for_one_thread() {
        assert_eq!(shares(8, 8, [64, 0, 0]), [1, 0, 0]);
        assert_eq!(shares(8, 2, [64, 0, 0]), [4, 0, 0]);
        assert_eq!(shares(2, 16, [64, 0, 0]), [1, 0, 0]);
    }

    proptest! {
        #[test]
        fn a_grant_is_given_once(
            dop in 1u32..300, outer in 0u32..40, wants in proptest::array::uniform4(0u32..200)
        ) {
            let shares = shares(dop, outer, wants);
            let running = wants.iter().filter(|want| **want > 0).count() as u32;
            let teams = outer.max(1);
            prop_assert!(shares.iter().sum::<u32>() * teams <= dop.max(running * teams));
            for (share, want) in shares.iter().zip(wants) {
                prop_assert!(*share <= want && (want == 0 || *share >= 1));
            }
        }

        #[test]
        fn nothing_is_left_that_somebody_could_use(
            dop in 1u32..300, wants in proptest::array::uniform4(0u32..200)
        ) {
            let shares = shares(dop, 0, wants);
            let content = shares.iter().zip(wants).all(|(share, want)| *share == want);
            prop_assert!(content || shares.iter().sum::<u32>() >= dop);
        }

        #[test]
        fn a_larger_grant_takes_from_nobody(
            dop in 1u32..300, outer in 0u32..40, wants in proptest::array::uniform4(0u32..200)
        ) {
            let (small, large) = (shares(dop, outer, wants), shares(dop + 1, outer, wants));
            prop_assert!(small.iter().zip(large).all(|(small, large)| *small <= large));
        }
    }
}
