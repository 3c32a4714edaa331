//! Which values depend on each other.

use super::function::Function;
use super::ssa::Id;

impl Function<'_, '_> {
    /// Values that depend on themselves, in groups that depend on each other (Tarjan).
    pub fn components(&self) -> Vec<Vec<Id>> {
        let count = self.ssa.defs.len();
        let (mut index, mut low) = (vec![usize::MAX; count], vec![0; count]);
        let (mut on_stack, mut stack, mut found) = (vec![false; count], Vec::new(), Vec::new());
        let mut next = 0;
        for from in 0..count {
            if index[from] != usize::MAX || self.ssa.find(from) != from {
                continue;
            }
            let mut calls: Vec<(Id, Vec<Id>, usize)> = vec![(from, self.sources(from), 0)];
            while let Some((id, sources, at)) = calls.pop() {
                if at == 0 {
                    (index[id], low[id]) = (next, next);
                    next += 1;
                    stack.push(id);
                    on_stack[id] = true;
                }
                if let Some(source) = sources.get(at).copied() {
                    calls.push((id, sources, at + 1));
                    if index[source] == usize::MAX {
                        calls.push((source, self.sources(source), 0));
                    } else if on_stack[source] {
                        low[id] = low[id].min(index[source]);
                    }
                    continue;
                }
                if low[id] == index[id] {
                    let mut members = Vec::new();
                    while let Some(member) = stack.pop() {
                        on_stack[member] = false;
                        members.push(member);
                        if member == id {
                            break;
                        }
                    }
                    if members.len() > 1 || sources.contains(&id) {
                        found.push(members);
                    }
                }
                if let Some((above, _, _)) = calls.last() {
                    low[*above] = low[*above].min(low[id]);
                }
            }
        }
        found
    }
}
