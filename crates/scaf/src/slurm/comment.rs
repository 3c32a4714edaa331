//! A job's AdminComment, as squeue shows and scontrol sets it. Slurm 22.05 can't add to one, so it is read,
//! changed and written. Two steps that end at once could lose one of both; so it is read once more.

use anyhow::{Context, Result, bail, ensure};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Bytes of a comment beyond which nothing is added.
const MOST: usize = 16 << 10;
const TRIES: u32 = 3;

/// Where what one step had on one node stands: `scaf:step=STEP,node=NODE,...;`.
#[derive(Debug)]
pub struct Record<'a> {
    /// What Slurm's commands call the job.
    pub job: &'a str,
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
            self.update(&after)?;
        }
        let now = self.comment()?;
        ensure!(now.contains(&ours), "others write into the comment of job {} all the time", self.job);
        Ok(())
    }

    /// The comment alone: among all of a job's fields stand names that its user chose, which may look like
    /// one.
    fn comment(&self) -> Result<String> {
        let squeue = self.scontrol.with_file_name("squeue");
        let words = |field| {
            let format = format!("{field}:{MOST}");
            ["--noheader", "--states=all", "--jobs", self.job, "--Format", &format].map(str::to_owned)
        };
        // Until Slurm 22.05 it had another name.
        let shown = ask(&squeue, &words("admin_comment")).or_else(|_| ask(&squeue, &words("AdminComment")));
        shown.map(|comment| comment.trim_end().to_owned())
    }

    fn update(&self, comment: &str) -> Result<()> {
        let [job, comment] = [format!("jobid={}", self.job), format!("admincomment={comment}")];
        ask(self.scontrol, &["update".to_owned(), job, comment]).map(drop)
    }
}

/// What a command of Slurm's says. It ends with us: while the controller doesn't answer it waits long.
fn ask(command: &Path, words: &[String]) -> Result<String> {
    let about = || format!("can't execute {}", command.display());
    let mut child = Command::new(command);
    // SAFETY: between fork and exec only a system call is made.
    unsafe {
        child.pre_exec(|| {
            let signal = rustix::process::Signal::KILL;
            Ok(rustix::process::set_parent_process_death_signal(Some(signal))?)
        });
    }
    let output = child.args(words).output().with_context(about)?;
    if !output.status.success() {
        let name = command.file_name().unwrap_or_default().to_string_lossy();
        bail!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
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
}
