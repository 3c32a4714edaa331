//! A reproducible stream of arbitrary numbers from a seed, for the policy `chaos`.

/// The stream; SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    pub fn new(seed: u64) -> SplitMix {
        SplitMix(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `end` - 1; 0 if `end` is 0.
    pub fn below(&mut self, end: u32) -> u32 {
        // The upper half, scaled: for `end` below 2^32 the bias is under one in four billions.
        (((self.next() >> 32) * u64::from(end)) >> 32) as u32
    }

    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_comes_about_as_often_as_any_other() {
        let mut stream = SplitMix::new(7);
        let mut counts = [0; 5];
        for _ in 0..50_000 {
            counts[stream.below(5) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert_eq!((stream.below(0), stream.below(1)), (0, 0));
        assert_eq!(SplitMix::new(3).next(), SplitMix::new(3).next());
    }
}
