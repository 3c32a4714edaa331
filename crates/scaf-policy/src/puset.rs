//! A set of PUs, by the operating system's index, written as Linux writes cpu lists (`0-3,8`), also in JSON.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A set of operating-system PU indexes, each below [`PuSet::LIMIT`].
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct PuSet {
    /// 64 PUs a word, lowest first. Never ends in a zero word, so that equal sets compare equal.
    words: Vec<u64>,
}

impl PuSet {
    /// Indexes from here on are refused: Linux stops at 8192, and `0-4294967295` would take 512 MB.
    pub const LIMIT: u32 = 1 << 16;

    pub fn new() -> PuSet {
        PuSet::default()
    }

    /// Adds a PU. False when it was there, or when `pu` is not below [`PuSet::LIMIT`].
    pub fn insert(&mut self, pu: u32) -> bool {
        if pu >= Self::LIMIT {
            return false;
        }
        let (word, bit) = (pu as usize / 64, 1u64 << (pu % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// Takes a PU out. False when it was not there.
    pub fn remove(&mut self, pu: u32) -> bool {
        let was = self.contains(pu);
        if was {
            self.words[pu as usize / 64] &= !(1u64 << (pu % 64));
            self.trim();
        }
        was
    }

    pub fn contains(&self, pu: u32) -> bool {
        self.words.get(pu as usize / 64).is_some_and(|w| w >> (pu % 64) & 1 == 1)
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)))
                .take_while(|&w| w != 0)
                .map(move |w| i as u32 * 64 + w.trailing_zeros())
        })
    }

    pub fn union(&self, other: &PuSet) -> PuSet {
        self.merge(other, |a, b| a | b)
    }

    pub fn intersection(&self, other: &PuSet) -> PuSet {
        self.merge(other, |a, b| a & b)
    }

    pub fn difference(&self, other: &PuSet) -> PuSet {
        self.merge(other, |a, b| a & !b)
    }

    pub fn is_subset(&self, other: &PuSet) -> bool {
        self.difference(other).is_empty()
    }

    /// The set as bits, 64 PUs a word, lowest first, without trailing zero words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The inverse of [`PuSet::words`]; bits at or above [`PuSet::LIMIT`] are dropped.
    pub fn from_words(words: &[u64]) -> PuSet {
        let mut set = PuSet { words: words[..words.len().min(Self::LIMIT as usize / 64)].to_vec() };
        set.trim();
        set
    }

    fn merge(&self, other: &PuSet, f: impl Fn(u64, u64) -> u64) -> PuSet {
        let word = |set: &PuSet, i: usize| set.words.get(i).copied().unwrap_or(0);
        let n = self.words.len().max(other.words.len());
        let mut set = PuSet { words: (0..n).map(|i| f(word(self, i), word(other, i))).collect() };
        set.trim();
        set
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl FromIterator<u32> for PuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(pus: I) -> PuSet {
        let mut set = PuSet::new();
        for pu in pus {
            set.insert(pu);
        }
        set
    }
}

impl fmt::Display for PuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pus = self.iter().peekable();
        let mut comma = "";
        while let Some(first) = pus.next() {
            let mut last = first;
            while let Some(next) = pus.next_if_eq(&(last + 1)) {
                last = next;
            }
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for PuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParsePuSetError {
    part: String,
}

impl fmt::Display for ParsePuSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not a PU or a range of PUs below {}: write a list such as 0-3,8",
            self.part,
            PuSet::LIMIT
        )
    }
}

impl std::error::Error for ParsePuSetError {}

impl FromStr for PuSet {
    type Err = ParsePuSetError;

    /// Reads a list such as `0-3,8`. Blanks around numbers are allowed; an empty text is the empty set.
    fn from_str(text: &str) -> Result<PuSet, ParsePuSetError> {
        let mut set = PuSet::new();
        if text.trim().is_empty() {
            return Ok(set);
        }
        for part in text.split(',') {
            let error = || ParsePuSetError { part: part.trim().to_owned() };
            let number =
                |t: &str| t.trim().parse::<u32>().ok().filter(|&n| n < Self::LIMIT).ok_or_else(error);
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(error());
            }
            for pu in first..=last {
                set.insert(pu);
            }
        }
        Ok(set)
    }
}

impl Serialize for PuSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PuSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PuSet, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> PuSet {
        text.parse().unwrap()
    }

    #[test]
    fn a_set_prints_as_linux_prints_cpu_lists_and_reads_back() {
        for text in ["", "0", "0-3,8", "63-64", "1,3,5,128-130"] {
            assert_eq!(set(text).to_string(), text);
        }
        assert_eq!(set(" 3 , 0 - 2 ").to_string(), "0-3");
    }

    #[test]
    fn texts_that_are_no_lists_are_refused_with_the_part_that_is_wrong() {
        for text in ["a", "3-1", "1,,2", "-1", "1-", "0-4294967295", "70000"] {
            assert!(text.parse::<PuSet>().is_err(), "{text}");
        }
        assert!("0,x-3".parse::<PuSet>().unwrap_err().to_string().contains("'x-3'"));
    }

    #[test]
    fn removing_the_highest_pu_leaves_a_set_equal_to_one_that_never_had_it() {
        let mut with = set("1,200");
        assert!(with.remove(200) && !with.remove(200));
        assert_eq!(with, set("1"));
        assert_eq!(with.words(), &[2]);
        assert!(with.remove(1) && with.is_empty());
    }

    #[test]
    fn set_algebra_works_across_words_of_different_length() {
        let (a, b) = (set("0-3,100"), set("2-5"));
        assert_eq!(a.union(&b), set("0-5,100"));
        assert_eq!(a.intersection(&b), set("2-3"));
        assert_eq!(a.difference(&b), set("0-1,100"));
        assert!(set("2").is_subset(&b) && !a.is_subset(&b));
        assert_eq!(PuSet::from_words(a.words()), a);
    }

    #[test]
    fn indexes_beyond_the_limit_are_not_taken() {
        let mut s = PuSet::new();
        assert!(!s.insert(u32::MAX) && s.is_empty());
    }
}
