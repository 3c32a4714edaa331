//! A job's AdminComment, as scontrol shows and sets it. Slurm 22.05 can't add to one, so it is read, changed
//! and written. Two steps that end at once could lose one of both; so it is read once more.

use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::Command;

/// Bytes of a comment beyond which nothing is added.
const MOST: usize = 16 << 10;
const TRIES: u32 = 3;

/// Where what one step had on one node stands: `scaf:step=STEP,node=NODE,...;`.
#[derive(Debug)]
pub struct Record<'a> {
    /// Number of the job.
    pub job: u32,
    /// The step, as sacct calls it.
    pub step: &'a str,
    /// The node's name.
    pub node: &'a str,
    /// The command.
    pub scontrol: &'a Path,
}

impl Record<'_> {
    /// Writes it, in place of what stood there about that step and node.
    /// # Errors
    /// The job has ended, or the controller can't be asked.
    pub fn write(&self, said: &str) -> Result<()> {
        let start = format!("scaf:step={},node={},", self.step, self.node);
        let ours = format!("{start}{said};");
        for _ in 0..TRIES {
            let before = self.comment()?;
            if before.contains(&ours) {
                return Ok(());
            }
            let after = with(&before, &start, &ours);
            ensure!(after.len() <= MOST, "there is no room for more in the comment of job {}", self.job);
            self.ask(&["update", &format!("jobid={}", self.job), &format!("admincomment={after}")])?;
        }
        let now = self.comment()?;
        ensure!(now.contains(&ours), "others write into the comment of job {} all the time", self.job);
        Ok(())
    }

    fn comment(&self) -> Result<String> {
        let shown = self.ask(&["show", "job", &self.job.to_string()])?;
        Ok(of(&shown, self.job).unwrap_or_default().to_owned())
    }

    fn ask(&self, words: &[&str]) -> Result<String> {
        let about = || format!("can't execute {}", self.scontrol.display());
        let output = Command::new(self.scontrol).args(words).output().with_context(about)?;
        if !output.status.success() {
            bail!("scontrol: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The comment of that job among what `scontrol show job` shows: of an array all its jobs.
/// Each field begins a line, three columns in.
fn of(shown: &str, job: u32) -> Option<&str> {
    let first = format!("JobId={job} ");
    let one = shown.split("\n\n").find(|one| one.trim_start().starts_with(&first))?;
    let (_, comment) = one.split_once("\n   AdminComment=")?;
    Some(comment.split_once("\n   ").map_or(comment, |(comment, _)| comment).trim_end())
}

/// The comment with a record at its end, and without the one that begins the same.
fn with(before: &str, start: &str, record: &str) -> String {
    let rest = match before.split_once(start) {
        Some((front, old)) => front.to_owned() + old.split_once(';').map_or("", |(_, behind)| behind),
        None => before.to_owned(),
    };
    // What is another's comment stays apart.
    let blank = if rest.is_empty() || rest.ends_with([';', ' ']) { "" } else { " " };
    format!("{rest}{blank}{record}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_takes_the_place_of_the_one_before() {
        let (start, one) = ("scaf:step=0,node=n1,", "scaf:step=0,node=n1,seconds=1.0;");
        assert_eq!(with("", start, one), one);
        assert_eq!(with("mind the gap", start, one), format!("mind the gap {one}"));
        let others = "scaf:step=1,node=n1,seconds=9.0;";
        let before = format!("x {start}seconds=0.5,so_far;{others}");
        assert_eq!(with(&before, start, one), format!("x {others}{one}"));
        // Cut short by somebody.
        assert_eq!(with("scaf:step=0,node=n1,sec", start, one), one);
    }

    #[test]
    fn a_comment_is_found_among_an_arrays_jobs() {
        let shown = "JobId=17 ArrayJobId=16 JobName=a\n   AdminComment=b\nc \n   Power=\n\n\
                     JobId=16 ArrayJobId=16\n   Power=\n";
        assert_eq!(of(shown, 17), Some("b\nc"));
        assert_eq!((of(shown, 16), of(shown, 1), of("", 1)), (None, None, None));
    }
}
