//! Parses a Slurm job script for its programs and their CPUs. Nothing is run or expanded: variables,
//! functions and here-documents are skipped.

use std::ffi::OsStr;
use std::path::Path;

/// What a script asks for, and the commands in it.
#[derive(Debug, Default, PartialEq)]
pub struct Script {
    /// `--cpus-per-task`.
    pub cpus: Option<u32>,
    /// `--exclusive`: the whole node is taken, whatever is asked for.
    pub exclusive: bool,
    /// `--chdir`.
    pub folder: Option<String>,
    /// Lines that start something, in order.
    pub commands: Vec<Command>,
}

/// A command.
#[derive(Debug, Default, PartialEq)]
pub struct Command {
    /// Its words without leading assignments, launchers such as srun and scaf run included.
    pub words: Vec<String>,
    /// OMP_NUM_THREADS where it is a number.
    pub threads: Option<u32>,
    /// `--cpus-per-task` of srun.
    pub cpus: Option<u32>,
    /// Whether it asks for results to the bit: `scaf run --exact`, `srun --scaf=exact`.
    pub exact: bool,
    /// Fewest contexts: `--min` of scaf run, `min` of srun's --scaf.
    pub min: Option<u32>,
}

/// Programs that start the program after them.
const STARTERS: [&str; 14] = [
    "srun", "mpirun", "mpiexec", "scaf", "env", "time", "nice", "numactl", "taskset", "stdbuf", "exec",
    "nohup", "timeout", "command",
];
/// Words of the shell before a command, and commands that start nothing.
const BEFORE: [&str; 9] = ["then", "else", "do", "!", "{", "(", "if", "while", "until"];
const NOTHING: [&str; 28] = [
    "for", "case", "esac", "fi", "done", "}", ")", "function", "[", "[[", "cd", "module", "export", "echo",
    "set", "source", ".", "ulimit", "unset", "mkdir", "cp", "mv", "rm", "date", "exit", "wait", "printf",
    "sleep",
];

impl Command {
    /// The words that may be the program: the first, or those after something that starts programs.
    pub fn candidates(&self) -> impl Iterator<Item = &str> {
        let starter = self.words.first().is_some_and(|word| STARTERS.contains(&base(word)));
        let most = if starter { self.words.len() } else { 1 };
        let words = self.words.iter().take(most).map(String::as_str);
        words.filter(|word| !word.starts_with('-') && !STARTERS.contains(&base(word)))
    }
}

impl Script {
    /// Reads a script.
    pub fn read(text: &str) -> Script {
        let mut script = Script::default();
        let mut threads = None;
        for line in text.replace("\\\n", " ").lines() {
            let line = line.trim();
            // Slurm reads its lines up to the first command.
            if let Some(options) = line.strip_prefix("#SBATCH").filter(|_| script.commands.is_empty()) {
                script.ask(&shlex::split(options).unwrap_or_default());
            } else if !line.starts_with('#') {
                for words in segments(line) {
                    script.run(words, &mut threads);
                }
            }
        }
        script
    }

    fn ask(&mut self, words: &[String]) {
        self.cpus = cpus(words).or(self.cpus);
        self.folder = value(words, "--chdir", Some("-D")).or(self.folder.take());
        self.exclusive |= words.iter().any(|word| word.starts_with("--exclusive"));
    }

    fn run(&mut self, mut words: Vec<String>, threads: &mut Option<u32>) {
        while words.first().is_some_and(|word| BEFORE.contains(&word.as_str())) {
            words.remove(0);
        }
        let mut own = *threads;
        if words.first().is_some_and(|word| word == "export") {
            *threads = words.iter().find_map(|word| count(word)).unwrap_or(own);
        }
        while words.first().is_some_and(|word| is_assignment(word)) {
            own = count(&words.remove(0)).unwrap_or(own);
        }
        match words.first() {
            Some(first) if NOTHING.contains(&first.as_str()) => return,
            Some(_) => {}
            None => {
                *threads = own;
                return;
            }
        }
        let scaf = words.iter().find_map(|word| word.strip_prefix("--scaf=")).unwrap_or_default();
        let of_scaf = |key: &str| scaf.split(',').find_map(|part| part.strip_prefix(key)?.parse().ok());
        // Equal options behind the program are the program's.
        let starts = words.iter().position(|word| base(word) == "scaf");
        let run: &[String] = starts.map_or(&[], |at| &words[at..]);
        self.commands.push(Command {
            threads: words.iter().find_map(|word| count(word)).unwrap_or(own),
            cpus: if base(&words[0]) == "srun" { cpus(&words) } else { None },
            exact: scaf.split(',').any(|part| part == "exact") || run.iter().any(|word| word == "--exact"),
            min: value(run, "--min", None).and_then(|n| n.parse().ok()).or(of_scaf("min=")),
            words,
        });
    }
}

/// A line's commands.
fn segments(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for mut word in shlex::split(line).unwrap_or_default() {
        let ends = word.len() > 1 && word.ends_with(';');
        if ends {
            word.pop();
        }
        if matches!(word.as_str(), ";" | "&&" | "||" | "|" | "&") {
            all.push(Vec::new());
            continue;
        }
        if let Some(last) = all.last_mut() {
            last.push(word);
        }
        if ends {
            all.push(Vec::new());
        }
    }
    all.retain(|words| !words.is_empty());
    all
}

fn cpus(words: &[String]) -> Option<u32> {
    value(words, "--cpus-per-task", Some("-c")).and_then(|number| number.parse().ok())
}

/// An option's value: `--long=value`, `--long value`, `-svalue`, `-s value`.
fn value(words: &[String], long: &str, short: Option<&str>) -> Option<String> {
    words.iter().enumerate().find_map(|(at, word)| {
        if word == long || Some(word.as_str()) == short {
            return words.get(at + 1).cloned();
        }
        let joined = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
        let joined = joined.or_else(|| word.strip_prefix(short?).filter(|_| !word.starts_with("--")));
        joined.map(str::to_owned)
    })
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// The number in OMP_NUM_THREADS=number; `Some(None)` if it is set to something else, such as a variable.
fn count(word: &str) -> Option<Option<u32>> {
    let value = word.strip_prefix("OMP_NUM_THREADS=")?;
    Some(value.split(',').next().and_then(|number| number.parse().ok()))
}

/// A path's last part.
pub fn base(word: &str) -> &str {
    Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Script {
        Script::read(text)
    }

    fn programs(text: &str) -> Vec<Vec<String>> {
        let of = |command: &Command| command.candidates().map(str::to_owned).collect();
        read(text).commands.iter().map(of).collect()
    }

    #[test]
    fn what_a_script_asks_for_is_in_its_first_comments() {
        for line in ["-c 8", "-c8", "--cpus-per-task=8", "--cpus-per-task 8 --exclusive=user"] {
            let script = read(&format!("#!/bin/sh\n#SBATCH -J x\n#SBATCH {line}\n\n./a\n#SBATCH -c 99\n"));
            assert_eq!((script.cpus, script.exclusive), (Some(8), line.contains("exclusive")), "{line}");
        }
        assert_eq!(read("#SBATCH -D /tmp/x\n").folder.as_deref(), Some("/tmp/x"));
        assert_eq!(read("").cpus, None);
    }

    #[test]
    fn programs_are_found_behind_what_starts_them() {
        assert_eq!(programs("./a x y\n"), [["./a"]]);
        assert_eq!(programs("srun -c 4 ./a x\n"), [["4", "./a", "x"]]);
        assert_eq!(programs("scaf run --min 2 -- ./a\n"), [["run", "2", "./a"]]);
        assert_eq!(programs("X=1 env Y=2 /opt/b\n"), [["Y=2", "/opt/b"]]);
        assert_eq!(programs("a && b; c | d\n"), [["a"], ["b"], ["c"], ["d"]]);
        assert_eq!(programs("for i in 1 2; do ./a $i; done\n"), [["./a"]]);
        assert_eq!(
            programs("cd x\nmodule load y\necho './a'\n# ./b\nif ./c; then ./d; fi\n"),
            [["./c"], ["./d"]]
        );
        assert_eq!(programs("srun ./a \\\n  --long 'a b'\n"), [["./a", "a b"]]);
        assert_eq!(programs("echo 'not closed\n"), [[""; 0]; 0]);
    }

    #[test]
    fn threads_exactness_and_minimums_are_seen() {
        let one = |text: &str| read(text).commands.remove(0);
        assert_eq!(one("export OMP_NUM_THREADS=8\n./a\n").threads, Some(8));
        assert_eq!(one("OMP_NUM_THREADS=4 ./a\n").threads, Some(4));
        assert_eq!(one("OMP_NUM_THREADS=6\n./a\n").threads, Some(6));
        assert_eq!(one("export OMP_NUM_THREADS=8\nOMP_NUM_THREADS=$SLURM_CPUS_PER_TASK ./a\n").threads, None);
        let srun = one("srun --cpus-per-task=3 --scaf=min=2,exact ./a --min 7\n");
        assert_eq!((srun.cpus, srun.exact, srun.min), (Some(3), true, Some(2)));
        let scaf = one("scaf run --min=5 --exact ./a\n");
        assert_eq!((scaf.exact, scaf.min), (true, Some(5)));
        assert_eq!(
            one("./a --min 7 --exact\n"),
            Command {
                words: ["./a", "--min", "7", "--exact"].map(str::to_owned).into(),
                ..Command::default()
            }
        );
    }
}
