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
            let (name, before) = self.comment()?;
            if before.contains(&ours) {
                return Ok(());
            }
            let after = with(&before, &start, &ours);
            ensure!(after.len() <= MOST, "there is no room for more in the comment of job {}", self.job);
            self.update(&name, &after)?;
        }
        let (_, now) = self.comment()?;
        ensure!(now.contains(&ours), "others write into the comment of job {} all the time", self.job);
        Ok(())
    }

    /// What Slurm's commands call the job, and its comment alone: among all of a job's fields stand names
    /// that its user chose, which may look like one.
    fn comment(&self) -> Result<(String, String)> {
        let squeue = self.scontrol.with_file_name("squeue");
        let fields: Vec<String> = FIELDS.iter().map(|(name, width)| format!("{name}:{width}")).collect();
        let job = self.job.to_string();
        let words = ["--noheader", "--states=all", "--jobs", &job, "--Format", &fields.join(",")];
        of(&ask(&squeue, &words)?, self.job).with_context(|| format!("squeue doesn't show job {job}"))
    }

    fn update(&self, name: &str, comment: &str) -> Result<()> {
        ask(self.scontrol, &["update", &format!("jobid={name}"), &format!("admincomment={comment}")])
            .map(drop)
    }
}

/// What squeue is asked for, and how wide it makes that, in bytes.
const FIELDS: [(&str, usize); 4] =
    [("jobid", 12), ("arrayjobid", 12), ("arraytaskid", 12), ("admin_comment", MOST)];

/// What that job is called, and its comment, in what squeue shows: of an array or a job of several parts all.
/// A job of an array may have the number of the whole array, whose comments would all be changed by it.
fn of(shown: &[u8], job: u32) -> Option<(String, String)> {
    let mut rest = shown;
    while !rest.is_empty() {
        let mut field = |width: usize| {
            let (text, behind) = rest.split_at_checked(width)?;
            rest = behind;
            Some(String::from_utf8_lossy(text).trim_end().to_owned())
        };
        let [own, array, task, comment] = FIELDS.map(|(_, width)| field(width));
        rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        if own?.parse() == Ok(job) {
            let whole = array?.parse::<u32>().ok().zip(task?.parse::<u32>().ok());
            let name = whole.map_or(job.to_string(), |(array, task)| format!("{array}_{task}"));
            let comment = if comment.as_deref() == Some("(null)") { Some(String::new()) } else { comment };
            return Some((name, comment?));
        }
    }
    None
}

/// The output of a Slurm command, which is killed if we die: without the controller it waits long.
fn ask(command: &Path, words: &[&str]) -> Result<Vec<u8>> {
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
    Ok(output.stdout)
}

/// The comment with a record at its end, and without the one that begins the same.
fn with(before: &str, start: &str, record: &str) -> String {
    let rest = match before.split_once(start) {
        Some((front, old)) => front.to_owned() + old.split_once(';').map_or("", |(_, behind)| behind),
        None => before.to_owned(),
    };
    // Others' comments are kept, with a separator.
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
        // A truncated record.
        assert_eq!(with("scaf:step=0,node=n1,sec", start, one), one);
    }

    #[test]
    fn a_job_of_an_array_is_called_by_that_and_its_comment_is_found() {
        let row = |own: &str, array: &str, task: &str, comment: &str| {
            let [own, array, task] = [own, array, task].map(|text| format!("{text:12}"));
            format!("{own}{array}{task}{comment}{}\n", " ".repeat(MOST - comment.len()))
        };
        let shown = row("17", "16", "1", "b\nJobId=16\nc")
            + &row("16", "16", "2", "(null)")
            + &row("9", "", "N/A", "x");
        let found = |job| of(shown.as_bytes(), job);
        let is = |name: &str, comment: &str| Some((name.to_owned(), comment.to_owned()));
        assert_eq!(found(17), is("16_1", "b\nJobId=16\nc"));
        assert_eq!((found(16), found(9)), (is("16_2", ""), is("9", "x")));
        assert_eq!((found(1), of(b"", 1), of(b"17", 17)), (None, None, None));
    }
}
