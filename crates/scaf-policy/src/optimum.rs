//! The best integer division of a machine among programs: maximises the sum of v_i(p_i) within a least and a
//! most for each program and a total. A worth v_i is given by *knots* with straight lines between them; it
//! may bend upwards, have steps, and fall again. Contexts that add nothing are left idle.
//!
//! First, contexts are given one by one where the next is worth most on the *concave hulls* of the v_i, which
//! gives a bound and often reaches it. Otherwise, at the *price* of the last context, each DoP loses
//! something against the program's best one, and the losses of a division add up to its distance from the
//! bound: a DoP that alone loses more than the division at hand is discarded. The rest is searched by dynamic
//! programming in halves. Memory is linear in knots and contexts.

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Worth {
    /// In the order of DoPs, each once, at least one; all values finite.
    knots: Vec<(u32, f64)>,
}

/// Bound on values: sums stay exact to 1e-3 with 10,000 programs, and no difference overflows.
const MOST: f64 = 1e9;
/// Divisions whose values differ by less, relatively, are equally good.
const ALIKE: f64 = 1e-12;

impl Worth {
    /// From knots in any order; the first and the last DoP are the least and the most that the program can be
    /// given. Of two at one DoP the first counts; NaN is worth 0. No knots: one context, worth 0.
    pub fn new(mut knots: Vec<(u32, f64)>) -> Worth {
        knots.sort_by_key(|knot| knot.0);
        knots.dedup_by_key(|knot| knot.0);
        for (_, value) in &mut knots {
            *value = if value.is_nan() { 0.0 } else { value.clamp(-MOST, MOST) };
        }
        if knots.is_empty() {
            knots.push((1, 0.0));
        }
        Worth { knots }
    }

    pub fn least(&self) -> u32 {
        self.knots[0].0
    }

    /// What `p` contexts are worth; beyond the knots, what the nearest is.
    pub fn at(&self, p: u32) -> f64 {
        let above = self.knots.partition_point(|knot| knot.0 < p);
        match (above.checked_sub(1).map(|i| self.knots[i]), self.knots.get(above)) {
            (_, Some((at, value))) if *at == p => *value,
            (Some(low), Some(high)) => low.1 + slope(low, *high) * f64::from(p - low.0),
            (Some((_, value)), None) | (None, Some(&(_, value))) => value,
            (None, None) => 0.0,
        }
    }

    /// The same worth, cut to `least` to `most`.
    pub fn within(&self, least: u32, most: u32) -> Worth {
        let ends = [least, most.max(least)].map(|p| (p, self.at(p)));
        let between = self.knots.iter().copied().filter(|knot| least < knot.0 && knot.0 < most);
        Worth::new(between.chain(ends).collect())
    }

    /// The fewest contexts, of at most `p`, that are worth the most.
    pub fn best_within(&self, p: u32) -> u32 {
        let knots = self.knots.iter().filter(|knot| knot.0 < p).copied();
        let all = knots.chain([(p.max(self.least()), self.at(p))]);
        all.reduce(|best, knot| if knot.1 > best.1 { knot } else { best }).map_or(p, |best| best.0)
    }

    /// The knots of the least concave cover, as far as it grows.
    fn hull(&self) -> Vec<(u32, f64)> {
        let mut hull: Vec<(u32, f64)> = Vec::new();
        for &knot in &self.knots {
            while let [.., before, last] = hull[..]
                && slope(before, last) <= slope(last, knot)
            {
                hull.pop();
            }
            hull.push(knot);
        }
        let grows = hull.windows(2).take_while(|pair| pair[1].1 > pair[0].1).count();
        hull.truncate(grows + 1);
        hull
    }
}

fn slope(low: (u32, f64), high: (u32, f64)) -> f64 {
    (high.1 - low.1) / f64::from(high.0 - low.0)
}

/// How many of `capacity` contexts each program gets; the leasts, where these don't fit. Ties depend on the
/// order of `worths` only; contexts worth the same to several, on straight lines, are divided equally.
pub(crate) fn best(capacity: u32, worths: &[Worth]) -> Vec<u32> {
    let least: u64 = worths.iter().map(|worth| u64::from(worth.least())).sum();
    match u32::try_from(u64::from(capacity).saturating_sub(least)) {
        // An equally good division may hold contexts that add nothing.
        Ok(spare) if spare > 0 => {
            worths.iter().zip(search(spare, worths)).map(|(worth, p)| worth.best_within(p)).collect()
        }
        _ => worths.iter().map(Worth::least).collect(),
    }
}

struct Piece {
    program: usize,
    from: u32,
    contexts: u32,
    slope: f64,
}

fn search(spare: u32, worths: &[Worth]) -> Vec<u32> {
    let mut pieces = Vec::new();
    for (program, worth) in worths.iter().enumerate() {
        pieces.extend(worth.hull().windows(2).map(|pair| Piece {
            program,
            from: pair[0].0,
            contexts: pair[1].0 - pair[0].0,
            slope: slope(pair[0], pair[1]),
        }));
    }
    // A hull's slopes fall, so a program's pieces stay in their order.
    let steeper = |a: &Piece, b: &Piece| b.slope.total_cmp(&a.slope).then(a.program.cmp(&b.program));
    // Each piece takes at least a context; one piece beyond those tells the price, so the rest isn't sorted.
    let needed = spare as usize + 1;
    if needed < pieces.len() {
        pieces.select_nth_unstable_by(needed, steeper);
        let last = pieces[needed].slope;
        pieces.retain(|piece| piece.slope >= last);
    }
    pieces.sort_unstable_by(steeper);
    let mut dops: Vec<u32> = worths.iter().map(Worth::least).collect();
    let (mut left, mut next) = (spare, 0);
    while let Some(piece) = pieces.get(next).filter(|piece| piece.contexts <= left) {
        dops[piece.program] += piece.contexts;
        left -= piece.contexts;
        next += 1;
    }
    let Some(price) = pieces.get(next).map(|piece| piece.slope) else { return dops };
    let shared = next > 0 && pieces[next - 1].slope == price;
    if left == 0 && !shared {
        return dops;
    }
    let value = |dops: &[u32]| -> f64 { worths.iter().zip(dops).map(|(worth, &p)| worth.at(p)).sum() };
    let bound = value(&dops) + price * f64::from(left);
    let slack = ALIKE * (1.0 + bound.abs());
    let mut found = f64::NEG_INFINITY;
    for mut way in [level(&pieces, price, left, &dops), fill(&pieces[next..], left, &dops)] {
        way.iter_mut().zip(worths).for_each(|(p, worth)| *p = worth.best_within(*p));
        let value = value(&way);
        if value > found + slack {
            (found, dops) = (value, way);
        }
    }
    if bound - found > slack {
        let least: u32 = worths.iter().map(Worth::least).sum();
        refine(least + spare, worths, price, bound - found + slack, &mut dops);
    }
    dops
}

/// Divides `left`, and what the pieces of that price already have, among all of these: least first.
fn level(pieces: &[Piece], price: f64, mut left: u32, dops: &[u32]) -> Vec<u32> {
    let mut dops = dops.to_vec();
    let mut equal: Vec<&Piece> = pieces.iter().filter(|piece| piece.slope == price).collect();
    equal.sort_by_key(|piece| piece.program);
    for piece in &equal {
        left += dops[piece.program] - piece.from;
    }
    let get = |piece: &Piece, level: u32| level.saturating_sub(piece.from).min(piece.contexts);
    let sum = |level| equal.iter().map(|piece| u64::from(get(piece, level))).sum::<u64>();
    let (mut low, mut high) = (0, equal.iter().map(|piece| piece.from + piece.contexts).max().unwrap_or(0));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if sum(middle) <= u64::from(left) { low = middle } else { high = middle - 1 }
    }
    left -= sum(low) as u32;
    for piece in equal {
        let more = u32::from(left > 0 && get(piece, low + 1) > get(piece, low));
        dops[piece.program] = piece.from + get(piece, low) + more;
        left -= more;
    }
    dops
}

/// Gives `left` to the next pieces that fit into it, and the rest to the first that doesn't.
fn fill(pieces: &[Piece], mut left: u32, dops: &[u32]) -> Vec<u32> {
    let mut dops = dops.to_vec();
    for piece in pieces {
        // A piece after one that didn't fit doesn't begin at its program's DoP.
        if dops[piece.program] == piece.from && piece.contexts <= left {
            dops[piece.program] += piece.contexts;
            left -= piece.contexts;
        }
    }
    if let Some(first) = pieces.first().filter(|first| dops[first.program] == first.from) {
        dops[first.program] += left;
    }
    dops
}

/// DoPs of a program that may be part of a better division than the one at hand.
struct Candidates {
    program: usize,
    runs: Vec<Run>,
}

/// Successive DoPs whose values lie on a straight line.
#[derive(Clone, Copy)]
struct Run {
    from: u32,
    to: u32,
    value: f64,
    slope: f64,
}

impl Run {
    fn each(self) -> impl Iterator<Item = (u32, f64)> {
        (self.from..=self.to).map(move |p| (p, self.value + self.slope * f64::from(p - self.from)))
    }
}

impl Candidates {
    /// The DoPs that lose at most `gap` at that price.
    fn of(program: usize, worth: &Worth, price: f64, gap: f64) -> Candidates {
        let net = |(p, value): (u32, f64)| value - price * f64::from(p);
        let top = worth.knots.iter().copied().map(net).fold(f64::NEG_INFINITY, f64::max);
        let first = worth.knots[0];
        let mut runs = Vec::new();
        if top - net(first) <= gap {
            runs.push(Run { from: first.0, to: first.0, value: first.1, slope: 0.0 });
        }
        for pair in worth.knots.windows(2) {
            let [low, high] = [pair[0], pair[1]];
            let losses = [top - net(low), top - net(high)];
            let [mut from, mut to] = [low.0 + 1, high.0];
            // As far from the better end as the loss permits; one DoP too many does no harm.
            let reach = |near: f64, far: f64| {
                if far <= gap {
                    high.0 - low.0
                } else {
                    ((gap - near) / (far - near) * f64::from(high.0 - low.0)).ceil() as u32
                }
            };
            match losses {
                [near, far] if near <= gap => to = to.min(low.0 + reach(near, far).min(high.0 - low.0)),
                [far, near] if near <= gap => from = from.max(high.0 - reach(near, far).min(high.0 - low.0)),
                _ => continue,
            }
            if from <= to {
                let slope = slope(low, high);
                runs.push(Run { from, to, value: low.1 + slope * f64::from(from - low.0), slope });
            }
        }
        Candidates { program, runs }
    }

    fn least(&self) -> Option<u32> {
        self.runs.first().map(|run| run.from)
    }

    fn is_one(&self) -> bool {
        matches!(self.runs[..], [run] if run.from == run.to)
    }

    fn each(&self) -> impl Iterator<Item = (u32, f64)> {
        self.runs.iter().flat_map(|run| run.each())
    }
}

/// Searches for a better division than `dops`, which is worth `gap` less than a bound.
fn refine(capacity: u32, worths: &[Worth], price: f64, gap: f64, dops: &mut [u32]) {
    let (mut open, mut left) = (Vec::new(), i64::from(capacity));
    for (program, worth) in worths.iter().enumerate() {
        let candidates = Candidates::of(program, worth, price, gap);
        // Only rounding can leave out the division at hand.
        let Some(least) = candidates.least() else { return };
        left -= i64::from(least);
        if !candidates.is_one() {
            open.push(candidates);
        } else if dops[program] != least {
            return;
        }
    }
    if let Ok(left) = u32::try_from(left) {
        halve(&open, left, dops);
    }
}

/// The best division of `contexts` more than the least candidates among `open`.
fn halve(open: &[Candidates], contexts: u32, dops: &mut [u32]) {
    match open {
        [] => {}
        [one] => {
            let least = one.least().unwrap_or(1);
            let fits = one.each().take_while(|(p, _)| p - least <= contexts);
            let best = fits.reduce(|best, other| if other.1 > best.1 { other } else { best });
            dops[one.program] = best.map_or(least, |best| best.0);
        }
        _ => {
            let (one, other) = open.split_at(open.len() / 2);
            let (brings, rest) = (most(one, contexts), most(other, contexts));
            let both = brings.iter().zip(rest.iter().rev()).map(|(a, b)| a + b);
            let best = both.enumerate().reduce(|best, other| if other.1 >= best.1 { other } else { best });
            let to_one = best.map_or(0, |best| best.0 as u32);
            drop((brings, rest));
            halve(one, to_one, dops);
            halve(other, contexts - to_one, dops);
        }
    }
}

/// The most that 0, 1, ... `contexts` more than their least candidates bring to `open`.
fn most(open: &[Candidates], contexts: u32) -> Vec<f64> {
    let mut most = vec![0.0f64; contexts as usize + 1];
    for candidates in open {
        let least = candidates.least().unwrap_or(1);
        let mut with = vec![f64::NEG_INFINITY; most.len()];
        for (p, value) in candidates.each().take_while(|(p, _)| p - least <= contexts) {
            for (with, without) in with[(p - least) as usize..].iter_mut().zip(&most) {
                let sum = without + value;
                *with = if sum > *with { sum } else { *with };
            }
        }
        most = with;
    }
    most
}

#[cfg(test)]
#[path = "optimum_tests.rs"]
mod tests;
