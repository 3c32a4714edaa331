//! Which DoPs are of use to a team that keeps its size. The members of a team of T on p contexts take
//! ceil(T / p) turns, so they are as fast as T / ceil(T / p) contexts: 16 members on 5 do no better than on
//! 4. A DoP is *useful* if one context fewer would be slower: ceil(T / k) for k = 1, 2, ... T.
//!
//! Everything takes a team of 0 for one that follows the DoP, to which every DoP is useful.

/// The largest useful DoP that is at most `p`, at least 1.
pub fn useful(team: u32, p: u32) -> u32 {
    if team == 0 { p.max(1) } else { team.div_ceil(turns(team, p)) }
}

/// The smallest useful DoP above `p`; `None` where the team has as many contexts as members.
pub fn next(team: u32, p: u32) -> Option<u32> {
    if team == 0 {
        return p.max(1).checked_add(1);
    }
    let fewer = turns(team, p) - 1;
    (fewer > 0).then(|| team.div_ceil(fewer))
}

/// As how many contexts `p` of them count, from 1 to `p`.
pub fn counts_as(team: u32, p: u32) -> f64 {
    if team == 0 { f64::from(p.max(1)) } else { f64::from(team) / f64::from(turns(team, p)) }
}

/// Members that take turns on the busiest context.
fn turns(team: u32, p: u32) -> u32 {
    team.div_ceil(p.clamp(1, team))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(team: u32) -> Vec<u32> {
        std::iter::successors(Some(1), |p| next(team, *p)).collect()
    }

    #[test]
    fn sixteen_members_have_seven_useful_dops() {
        assert_eq!(all(16), [1, 2, 3, 4, 6, 8, 16]);
        assert_eq!([4, 5, 6, 7, 8, 15, 16, 40].map(|p| useful(16, p)), [4, 4, 6, 6, 8, 8, 16, 16]);
        assert_eq!([4, 5, 8, 15, 40].map(|p| counts_as(16, p)), [4.0, 4.0, 8.0, 8.0, 16.0]);
        assert!((counts_as(16, 6) - 16.0 / 3.0).abs() < 1e-12);
        assert_eq!((all(1), all(2), all(5)), (vec![1], vec![1, 2], vec![1, 2, 3, 5]));
    }

    #[test]
    fn to_a_team_that_follows_the_dop_every_dop_is_useful() {
        assert_eq!((useful(0, 7), next(0, 7), counts_as(0, 7)), (7, Some(8), 7.0));
        assert_eq!((useful(0, 0), next(0, u32::MAX), next(0, 0)), (1, None, Some(2)));
    }

    proptest! {
        #[test]
        fn a_dop_is_useful_if_one_context_fewer_would_be_slower(team in 1u32..70_000, p in 0u32..80_000) {
            let here = useful(team, p);
            prop_assert!(here >= 1 && here <= p.max(1) && here <= team);
            prop_assert_eq!(counts_as(team, here), counts_as(team, p));
            prop_assert!(here == 1 || counts_as(team, here - 1) < counts_as(team, here));
            prop_assert_eq!(useful(team, here), here);
            let turns = team.div_ceil(here);
            prop_assert_eq!(team.div_ceil(turns), here);
            match next(team, p) {
                Some(next) => {
                    prop_assert!(next > p && next <= team && useful(team, next) == next);
                    prop_assert_eq!(useful(team, next - 1), here);
                }
                None => prop_assert!(here == team),
            }
        }
    }
}
