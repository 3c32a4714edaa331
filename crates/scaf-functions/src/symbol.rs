//! A symbol within a row. The tables hold no pointers: the dynamic linker would write each of them, and copy
//! their pages, at every start of every program (4 us a page).

use core::fmt;

/// Bytes of the longest one.
const MOST: usize = 47;

/// What follows a shorter one: less than all that a symbol is made of. Not a zero, with which it would look
/// to the code analysis like a text for `dlsym`.
const PADDING: u8 = b' ';

/// A symbol; in a family's row one that ends with `*`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    length: u8,
    bytes: [u8; MOST],
}

impl Symbol {
    pub(crate) const fn new(text: &str) -> Symbol {
        let (text, mut bytes) = (text.as_bytes(), [PADDING; MOST]);
        assert!(text.len() <= MOST, "a symbol is longer than MOST");
        let mut at = 0;
        while at < text.len() {
            bytes[at] = text[at];
            at += 1;
        }
        Symbol { length: text.len() as u8, bytes }
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }

    /// Whether this is a family's, and a name begins as it. By bytes: functions of text would leave a panic
    /// in libscaf.
    pub(crate) fn is_family_of(&self, name: &[u8]) -> bool {
        matches!(self.bytes(), [prefix @ .., b'*'] if name.starts_with(prefix))
    }

    /// Whether it comes before the next one, as a search needs it.
    pub(crate) const fn is_before(&self, next: &Symbol) -> bool {
        let mut at = 0;
        while at < MOST {
            if self.bytes[at] != next.bytes[at] {
                return self.bytes[at] < next.bytes[at];
            }
            at += 1;
        }
        false
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(core::str::from_utf8(self.bytes()).map_err(|_| fmt::Error)?, to)
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}
