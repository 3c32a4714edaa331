//! Whether a text is what plain runs print: the same bytes if these agree; else the same words, and numbers
//! within [`REACH`] times the plain runs' difference in that place.

/// Allowed difference over the difference between plain runs, which are too few to show the full spread.
const REACH: f64 = 10.0;

/// Relative difference of whole numbers among plain runs up to which they can be compared.
const MOST_OF_WHOLE: f64 = 0.01;

/// Exceptions to the comparison.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// Lines with one of these texts are left out.
    pub ignore: Vec<String>,
    /// Relative difference that is always allowed.
    pub tolerance: f64,
}

/// Where two texts differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The line, from 1.
    pub line: usize,
    /// The plain run's line, or empty.
    pub plain: String,
    /// The other run's line.
    pub other: String,
    /// Whether it is a number in which the plain runs differ too, but by less.
    pub varies: bool,
}

/// The plain runs' standard output, or one of their files.
#[derive(Debug)]
pub struct Reference {
    /// Line by line, each run's.
    runs: Vec<Vec<Line>>,
    tolerance: f64,
    ignore: Vec<String>,
    exact: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Line {
    number: usize,
    bytes: Vec<u8>,
}

impl Line {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'t> {
    Word(&'t str),
    Number(f64, &'t str),
}

impl Reference {
    /// What these runs have in common, of which there is one at least.
    /// # Errors
    /// They differ in more than numbers, so that no run can be compared with them.
    pub fn of(texts: &[Vec<u8>], rule: &Rule) -> Result<Reference, Difference> {
        let runs: Vec<Vec<Line>> = texts.iter().map(|text| lines(text, &rule.ignore)).collect();
        let exact = runs.iter().all(|run| same(run, &runs[0])) && rule.tolerance == 0.0;
        let reference = Reference { exact, tolerance: rule.tolerance, ignore: rule.ignore.clone(), runs };
        if !exact {
            for run in &reference.runs[1..] {
                if let Some(difference) = reference.compared(run, f64::INFINITY) {
                    return Err(difference);
                }
            }
        }
        Ok(reference)
    }

    /// Whether every bit has to be the same.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Whether the plain runs wrote nothing.
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(Vec::is_empty)
    }

    /// The first difference of a text.
    pub fn difference(&self, text: &[u8]) -> Option<Difference> {
        let other = lines(text, &self.ignore);
        if !self.exact {
            return self.compared(&other, REACH);
        }
        if same(&other, &self.runs[0]) {
            return None;
        }
        self.first(&other, |_, line, other| (line.bytes != other.bytes).then_some(false))
    }

    fn compared(&self, other: &[Line], reach: f64) -> Option<Difference> {
        self.first(other, |at, line, other| {
            if self.runs.iter().all(|run| run.get(at).is_some_and(|its| its.bytes == other.bytes)) {
                return None;
            }
            let all = self.runs.iter().filter_map(|run| run.get(at)).chain([other]);
            if all.clone().any(|line| std::str::from_utf8(&line.bytes).is_err()) {
                // Binary: it has no numbers.
                return Some(false);
            }
            let texts: Vec<String> = all.map(Line::text).take(self.runs.len()).collect();
            let (first, text) = (line.text(), other.text());
            let known: Vec<Vec<Token>> = texts.iter().map(|text| tokens(text)).collect();
            let (first, others) = (tokens(&first), tokens(&text));
            if first.len() != others.len() || known.iter().any(|run| run.len() != first.len()) {
                return Some(false);
            }
            first.iter().zip(&others).enumerate().find_map(|(i, (a, b))| match (a, b) {
                (Token::Word(a), Token::Word(b)) => (a != b).then_some(false),
                (Token::Number(_, a), Token::Number(value, b)) => {
                    let values = known.iter().map(|run| match run[i] {
                        Token::Number(value, _) => value,
                        Token::Word(_) => f64::NAN,
                    });
                    let (low, high) = values
                        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                            (low.min(value), high.max(value))
                        });
                    let spread = high - low;
                    if reach == f64::INFINITY && is_whole(a) && spread > MOST_OF_WHOLE * high.abs() {
                        // A number of something else each time, or the time itself.
                        return Some(false);
                    }
                    let slack = if spread > 0.0 { reach * spread } else { 0.0 };
                    let slack = slack + self.tolerance * low.abs().max(high.abs());
                    let near = (low - slack..=high + slack).contains(value) || reach == f64::INFINITY;
                    let same = if slack > 0.0 || reach == f64::INFINITY { near } else { a == b };
                    (!same).then_some(spread > 0.0)
                }
                _ => Some(false),
            })
        })
    }

    /// The first line for which `differs` says so, and whether in a number that varies.
    fn first(
        &self,
        other: &[Line],
        differs: impl Fn(usize, &Line, &Line) -> Option<bool>,
    ) -> Option<Difference> {
        let plain = &self.runs[0];
        let text = |line: Option<&Line>| line.map(Line::text).unwrap_or_default();
        for at in 0..plain.len().max(other.len()) {
            let (a, b) = (plain.get(at), other.get(at));
            let varies = match (a, b) {
                (Some(a), Some(b)) => differs(at, a, b),
                _ => Some(false),
            };
            if let Some(varies) = varies {
                let line = b.or(a).map_or(0, |line| line.number);
                return Some(Difference { line, plain: text(a), other: text(b), varies });
            }
        }
        None
    }
}

/// The compared lines. A last line without a newline differs from one with it.
fn lines(text: &[u8], ignore: &[String]) -> Vec<Line> {
    let all = text.split_inclusive(|byte| *byte == b'\n').zip(1..);
    let lines = all.map(|(bytes, number)| Line { number, bytes: bytes.to_vec() });
    let ignored = |line: &Line| {
        !ignore.is_empty() && {
            let text = line.text();
            ignore.iter().any(|part| text.contains(part.as_str()))
        }
    };
    lines.filter(|line| !ignored(line)).collect()
}

fn same(lines: &[Line], others: &[Line]) -> bool {
    lines.iter().map(|line| &line.bytes).eq(others.iter().map(|line| &line.bytes))
}

/// Words, numbers, and single signs; blanks are none of them. A digit behind a letter belongs to a word.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let start = at;
        let signed = matches!(letter, '+' | '-')
            && (digit(at + 1) || (bytes.get(at + 1) == Some(&b'.') && digit(at + 2)));
        if letter.is_whitespace() {
            at += letter.len_utf8();
            continue;
        } else if signed || digit(at) || (letter == '.' && digit(at + 1)) {
            at = number_end(bytes, at);
            // Fortran writes 1.5D+03.
            let value = text[start..at].replace(['d', 'D'], "e").parse().unwrap_or(f64::NAN);
            found.push(Token::Number(value, &text[start..at]));
        } else if letter.is_alphanumeric() || letter == '_' {
            let rest = &text[at..];
            at += rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            found.push(Token::Word(&text[start..at]));
        } else {
            at += letter.len_utf8();
            found.push(Token::Word(&text[start..at]));
        }
    }
    found
}

fn is_whole(number: &str) -> bool {
    number.bytes().all(|letter| letter.is_ascii_digit() || matches!(letter, b'+' | b'-'))
}

/// Where the number ends that begins at `at`.
fn number_end(bytes: &[u8], at: usize) -> usize {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let at = digits(at + usize::from(matches!(bytes[at], b'+' | b'-')));
    let at = if bytes.get(at) == Some(&b'.') { digits(at + 1) } else { at };
    if matches!(bytes.get(at), Some(b'e' | b'E' | b'd' | b'D')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(at + 1 + sign);
        if end > at + 1 + sign {
            return end;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(texts: &[&str], rule: &Rule) -> Result<Reference, Difference> {
        let texts: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        Reference::of(&texts, rule)
    }

    fn plain(texts: &[&str]) -> Reference {
        reference(texts, &Rule::default()).expect("comparable")
    }

    #[test]
    fn runs_that_agree_ask_for_every_bit() {
        let reference = plain(&["a 1.0\nb\n"; 3]);
        assert!(reference.is_exact() && reference.difference(b"a 1.0\nb\n").is_none());
        let found = reference.difference(b"a 1.0\nc\n").unwrap();
        assert_eq!((found.line, found.plain.as_str(), found.other.as_str()), (2, "b\n", "c\n"));
        assert_eq!(reference.difference(b"a 1.00\nb\n").unwrap().line, 1);
        assert_eq!(reference.difference(b"a 1.0\nb").unwrap().line, 2);
        assert_eq!(reference.difference(b"a 1.0\nb\nmore").unwrap().line, 3);
        assert_eq!(reference.difference(b"").unwrap().plain, "a 1.0\n");
    }

    #[test]
    fn numbers_may_be_as_far_away_as_those_of_the_plain_runs_and_some_more() {
        let reference = plain(&["sum = 1.000 of 7\n", "sum = 1.001 of 7\n", "sum = 1.002 of 7\n"]);
        assert!(!reference.is_exact());
        for good in ["sum = 1.0015 of 7\n", "sum = 0.99 of 7\n", "sum =  1.02 of 7\n"] {
            assert_eq!(reference.difference(good.as_bytes()), None, "{good}");
        }
        for (bad, varies) in [
            ("sum = 1.03 of 7\n", true),
            ("sum = 1.001 of 8\n", false),
            ("total = 1.001 of 7\n", false),
            ("sum = nan of 7\n", false),
            ("sum = 1.001 of 7 and 1\n", false),
        ] {
            assert_eq!(reference.difference(bad.as_bytes()).map(|found| found.varies), Some(varies), "{bad}");
        }
    }

    #[test]
    fn a_tolerance_holds_even_where_the_plain_runs_agree() {
        let rule = Rule { tolerance: 1e-6, ..Rule::default() };
        let reference = reference(&["x 2.5e3\n"; 3], &rule).unwrap();
        assert!(!reference.is_exact() && reference.difference(b"x 2500.001\n").is_none());
        assert!(reference.difference(b"x 2500.1\n").is_some() && reference.difference(b"y 2500\n").is_some());
    }

    #[test]
    fn lines_that_say_how_long_it_took_can_be_left_out() {
        let rule = Rule { ignore: vec!["seconds".into()], ..Rule::default() };
        let reference = reference(&["a\n1 seconds\nb\n", "a\n2 seconds\nb\n"], &rule).unwrap();
        assert!(reference.is_exact() && reference.difference(b"a\n77 seconds\nb\n").is_none());
        assert_eq!(reference.difference(b"a\n77 seconds\nc\n").unwrap().line, 3);
    }

    #[test]
    fn runs_with_other_words_cant_be_compared() {
        let found = reference(&["at noon\n", "at night\n"], &Rule::default()).unwrap_err();
        assert_eq!((found.line, found.other.as_str()), (1, "at night\n"));
        assert!(reference(&["a\n", "a\nb\n"], &Rule::default()).is_err());
    }

    #[test]
    fn whole_numbers_that_are_others_each_time_cant_be_compared() {
        assert!(reference(&["seed 81234\n", "seed 39871\n"], &Rule::default()).is_err());
        assert!(reference(&["bytes 100001\n", "bytes 100002\n"], &Rule::default()).is_ok());
        assert!(reference(&["error 1e-16\n", "error 3e-16\n"], &Rule::default()).is_ok());
    }

    #[test]
    fn what_is_no_text_is_compared_by_its_bytes() {
        let texts = [b"a\n\xff\x801.0\n".to_vec(), b"a\n\xff\x801.0\n".to_vec()];
        let rule = Rule { tolerance: 1e-3, ..Rule::default() };
        let reference = Reference::of(&texts, &rule).unwrap();
        assert_eq!(reference.difference(b"a\n\xff\x801.0\n"), None);
        assert_eq!(reference.difference(b"a\n\xff\x811.0\n").unwrap().line, 2);
        let texts = [b"\xff\x80\n".to_vec(), b"\xff\x81\n".to_vec()];
        assert!(Reference::of(&texts, &Rule::default()).is_err());
    }

    #[test]
    fn nothing_is_known_to_be_nothing() {
        assert!(plain(&["", ""]).is_empty() && !plain(&["a\n", "a\n"]).is_empty());
        let rule = Rule { ignore: vec!["took".into()], ..Rule::default() };
        assert!(reference(&["took 1\n", "took 2\n"], &rule).unwrap().is_empty());
    }

    #[test]
    fn numbers_are_told_from_words() {
        let text = "x1=-1.5e-3,2.D+02 12ms .5 3-4 1e é7";
        let numbers: Vec<f64> = tokens(text)
            .into_iter()
            .filter_map(|token| match token {
                Token::Number(value, _) => Some(value),
                Token::Word(_) => None,
            })
            .collect();
        assert_eq!(numbers, [-1.5e-3, 200.0, 12.0, 0.5, 3.0, -4.0, 1.0]);
    }
}
