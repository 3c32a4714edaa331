use crate::{Allocation, Program, Share};

/// Asks `decide` about the programs in the order of their ids, so that float sums and ties don't depend on
/// the caller's order, and answers in the caller's order.
pub(super) fn in_order(programs: &[Program], decide: impl FnOnce(&[&Program]) -> Vec<Share>) -> Allocation {
    let mut order: Vec<usize> = (0..programs.len()).collect();
    order.sort_by_key(|&i| programs[i].id);
    let sorted: Vec<&Program> = order.iter().map(|&i| &programs[i]).collect();
    let mut shares = vec![None; programs.len()];
    for (share, i) in decide(&sorted).into_iter().zip(order) {
        shares[i] = Some(share);
    }
    shares.into_iter().flatten().collect::<Vec<_>>().into()
}
