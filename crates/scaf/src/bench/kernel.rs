use anyhow::{Context, Result};
use serde::Deserialize;

/// The line of JSON that a kernel prints about its run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Line {
    #[serde(default)]
    pub seconds: f64,
    pub verified: bool,
    /// The result, with digits that don't depend on the team size where the program allows.
    #[serde(default)]
    pub value: String,
}

/// Parses the last line of the output that isn't empty.
pub fn line(stdout: &str) -> Result<Line> {
    let last = stdout.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    serde_json::from_str(last).with_context(|| format!("no result in the last line of the output: '{last}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_and_more_keys_are_fine() {
        let out = "hello\n{\"name\":\"ep\",\"seconds\":1.5,\"verified\":true,\"value\":\"x\"}\n\n";
        assert_eq!(line(out).unwrap(), Line { seconds: 1.5, verified: true, value: "x".into() });
    }

    #[test]
    fn output_without_a_result_is_refused() {
        assert!(line("").is_err());
        assert!(line("{\"seconds\":1}").is_err());
    }
}
