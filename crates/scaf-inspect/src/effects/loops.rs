//! A function's loops: for each the blocks by which it is entered, and all its blocks.
//!
//! A loop is a group of blocks that lead to each other. What is left of it without its entries may have
//! further loops. So loops with several entries, which compilers make of two tests of one condition, are
//! found as well.

use super::graph::Graph;

/// Most blocks of all loops together.
const MAX_BLOCKS: usize = 400_000;

pub(super) struct Loop {
    pub entries: Vec<usize>,
    /// Sorted.
    pub blocks: Vec<usize>,
}

impl Loop {
    pub fn has(&self, block: usize) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }

    /// The blocks that lead out, with where they do.
    pub fn exits<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = (usize, usize)> + 'a {
        let from = self.blocks.iter();
        let ways = from.flat_map(|block| graph.blocks[*block].next.iter().map(|next| (*block, *next)));
        ways.filter(|(_, next)| !self.has(*next))
    }
}

pub(super) struct Loops {
    pub all: Vec<Loop>,
    /// Blocks in an order in which, loops aside, each comes behind those before it.
    pub order: Vec<usize>,
}

/// `None` if there are too many.
pub(super) fn loops(graph: &Graph) -> Option<Loops> {
    let order = order(graph);
    let mut groups = Groups::new(graph);
    let mut work = vec![order.clone()];
    let (mut all, mut left) = (Vec::new(), MAX_BLOCKS);
    while let Some(blocks) = work.pop() {
        left = left.checked_sub(blocks.len())?;
        for mut group in groups.of(&blocks) {
            group.sort_unstable();
            let mut its = Loop { entries: Vec::new(), blocks: group };
            let is_entry =
                |block: &&usize| graph.blocks[**block].before.iter().any(|before| !its.has(*before));
            let entries: Vec<usize> = its.blocks.iter().filter(is_entry).copied().collect();
            work.push(its.blocks.iter().filter(|block| !entries.contains(block)).copied().collect());
            its.entries = entries;
            all.push(its);
        }
    }
    Some(Loops { all, order })
}

/// The blocks that are reached, in reverse postorder.
pub(super) fn order(graph: &Graph) -> Vec<usize> {
    let mut met = vec![false; graph.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(0, 0)];
    met[0] = true;
    while let Some((block, at)) = stack.pop() {
        match graph.blocks[block].next.get(at) {
            Some(next) => {
                stack.push((block, at + 1));
                if !std::mem::replace(&mut met[*next], true) {
                    stack.push((*next, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

/// Groups of blocks that lead to each other (Tarjan).
struct Groups<'g> {
    graph: &'g Graph,
    /// Which search a block is part of, its number there, and the lowest that it leads to.
    search: Vec<(usize, usize, usize)>,
    on_stack: Vec<bool>,
    searches: usize,
}

impl<'g> Groups<'g> {
    fn new(graph: &'g Graph) -> Self {
        let count = graph.blocks.len();
        Groups { graph, search: vec![(0, 0, 0); count], on_stack: vec![false; count], searches: 0 }
    }

    /// The groups among some blocks, without single ones that don't lead to themselves.
    fn of(&mut self, blocks: &[usize]) -> Vec<Vec<usize>> {
        const NEW: usize = usize::MAX;
        self.searches += 1;
        blocks.iter().for_each(|block| self.search[*block] = (self.searches, NEW, 0));
        let (mut found, mut stack, mut next) = (Vec::new(), Vec::new(), 0);
        for from in blocks {
            if self.search[*from].1 != NEW {
                continue;
            }
            let mut ways = vec![(*from, 0)];
            while let Some((block, at)) = ways.pop() {
                if at == 0 {
                    self.search[block] = (self.searches, next, next);
                    next += 1;
                    stack.push(block);
                    self.on_stack[block] = true;
                }
                if let Some(to) = self.graph.blocks[block].next.get(at) {
                    ways.push((block, at + 1));
                    let (search, number, _) = self.search[*to];
                    if search == self.searches && number == NEW {
                        ways.push((*to, 0));
                    } else if search == self.searches && self.on_stack[*to] {
                        self.search[block].2 = self.search[block].2.min(number);
                    }
                    continue;
                }
                let (_, number, lowest) = self.search[block];
                if number == lowest {
                    let mut group = Vec::new();
                    while let Some(member) = stack.pop() {
                        self.on_stack[member] = false;
                        group.push(member);
                        if member == block {
                            break;
                        }
                    }
                    if group.len() > 1 || self.graph.blocks[block].next.contains(&block) {
                        found.push(group);
                    }
                }
                if let Some((above, _)) = ways.last() {
                    self.search[*above].2 = self.search[*above].2.min(lowest);
                }
            }
        }
        found
    }
}
