//! A program's name from its command line: an interpreter's script, module or main class rather than the
//! interpreter. Only that word is used: other arguments may be secrets.

/// Longest name, in bytes, as in the handshake.
const MOST: usize = 63;

/// The name of a program with that executable and these arguments; `None` for its executable's name.
pub fn of(executable: &str, words: &[&str]) -> Option<String> {
    let said = if is_python(executable) {
        python(words)
    } else {
        match executable {
            "R" | "Rscript" => r(words),
            "java" => java(words),
            _ if SHELLS.contains(&executable) => shell(words),
            _ => None,
        }
    };
    said.map(|name| plain(&name)).filter(|name| !name.is_empty())
}

/// Whether [`of`] looks at the arguments.
pub fn is_interpreter(executable: &str) -> bool {
    is_python(executable) || ["R", "Rscript", "java"].contains(&executable) || SHELLS.contains(&executable)
}

const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "fish"];

fn is_python(executable: &str) -> bool {
    is_version_of(executable, &["python", "pypy"])
}

/// Such as `python3.11` or `pypy3`.
fn is_version_of(executable: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        let rest = executable.strip_prefix(name);
        rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 't'))
    })
}

/// `python [-IsuW...] [-m module | -c code | script | -]`.
fn python(words: &[&str]) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            None => return script(word),
            Some("") => return None,
            Some("-check-hash-based-pycs") => _ = words.next(),
            Some(long) if long.starts_with('-') => {}
            // Letters may be joined; the first with a value takes the rest, or the next word.
            Some(letters) => match letters.find(['m', 'c', 'W', 'X']).map(|at| letters.split_at(at)) {
                None => {}
                Some((_, rest)) => {
                    let value = rest.get(1..).filter(|value| !value.is_empty());
                    let value = value.or_else(|| words.next().copied());
                    match rest.chars().next() {
                        Some('m') => return value.map(str::to_owned),
                        Some('c') => return None,
                        _ => {}
                    }
                }
            },
        }
    }
    None
}

/// `R [options] [-f file | --file=file]`, as `Rscript file` has it.
fn r(words: &[&str]) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--args" | "-e" => return None,
            "-f" => return words.next().and_then(|word| script(word)),
            word => {
                if let Some(file) = word.strip_prefix("--file=") {
                    return script(file);
                }
                if !word.starts_with('-') {
                    return script(word);
                }
            }
        }
    }
    None
}

/// Options of `java` whose value is the next word.
#[rustfmt::skip]
const JAVA_VALUES: [&str; 14] = [
    "-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path", "--add-modules",
    "--add-exports", "--add-opens", "--add-reads", "--limit-modules", "--patch-module",
    "--enable-native-access", "--source",
];

/// `java [options] class | -jar file | -m module/class | file.java`.
fn java(words: &[&str]) -> Option<String> {
    let class = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or(name);
        if name.ends_with(".java") { script(name) } else { name.rsplit('.').next().map(str::to_owned) }
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "-jar" => return words.next().and_then(|word| script(word)),
            "-m" | "--module" => return words.next().and_then(|word| class(word)),
            word if JAVA_VALUES.contains(&word) => _ = words.next(),
            word if word.starts_with('-') || word.starts_with('@') => {}
            word => return class(word),
        }
    }
    None
}

/// `sh [options] [script | -c code]`.
fn shell(words: &[&str]) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--" => return words.next().and_then(|word| script(word)),
            "-" => return None,
            "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file" => _ = words.next(),
            word if word.starts_with("--") => {}
            word if word.starts_with('-') && word.contains(['c', 's']) => return None,
            word if word.starts_with(['-', '+']) => {}
            word => return script(word),
        }
    }
    None
}

/// The last part of a path, or the folder's name where that says nothing.
fn script(path: &str) -> Option<String> {
    let mut parts = path.rsplit('/').filter(|part| !matches!(*part, "" | "." | ".."));
    let last = parts.next()?;
    let named = if last == "__main__.py" { parts.next().unwrap_or(last) } else { last };
    Some(named.to_owned())
}

/// Without blanks and control characters, and not too long.
fn plain(name: &str) -> String {
    let mut name: String =
        name.chars().map(|c| if c.is_control() || c.is_whitespace() { '_' } else { c }).collect();
    name.truncate(name.floor_char_boundary(MOST));
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(line: &str) -> Option<String> {
        let words: Vec<&str> = line.split(' ').collect();
        of(words[0], &words[1..])
    }

    #[test]
    fn an_interpreted_program_has_its_scripts_modules_or_main_classes_name() {
        for (line, known) in [
            ("python3.11 train.py --secret x", "train.py"),
            ("python3 -u -W ignore /home/ann/work/train.py", "train.py"),
            ("python3 -Wignore -X dev run", "run"),
            ("python3 -m pytest tests", "pytest"),
            ("python3.13t -Im ipykernel_launcher -f k.json", "ipykernel_launcher"),
            ("pypy3 ./app/__main__.py", "app"),
            ("R --no-echo --no-restore --file=fit.R --args 3", "fit.R"),
            ("R -f scripts/fit.R", "fit.R"),
            ("Rscript fit.R", "fit.R"),
            ("java -Xmx4g -cp a.jar:b.jar org.example.Solver in.txt", "Solver"),
            ("java --add-opens java.base/java.lang=ALL-UNNAMED -jar lib/tool.jar", "tool.jar"),
            ("java -m mod.ule/org.example.Main", "Main"),
            ("java src/Hello.java", "Hello.java"),
            ("bash -eu -o pipefail ./run.sh 4", "run.sh"),
            ("sh /opt/x/start", "start"),
        ] {
            assert_eq!(name(line).as_deref(), Some(known), "{line}");
        }
    }

    #[test]
    fn without_a_script_the_executables_name_is_used() {
        #[rustfmt::skip]
        let lines = [
            "python3", "python3 -c print(password)", "python3 -Ic secret", "python3 -", "R", "R -e secret",
            "java -version", "bash -c secret", "bash -lc secret", "bash", "cg --class=W", "pythonic x.py",
        ];
        for line in lines {
            assert_eq!(name(line), None, "{line}");
        }
    }

    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            "-{0,2}[a-zA-Z]{0,4}",
            "[a-z./]{0,12}",
            "\\PC{0,90}",
            proptest::sample::select(vec!["-m", "-c", "-W", "-jar", "-cp", "--file=", "-", "--", "-f", "\n"])
                .prop_map(str::to_owned),
        ]
    }

    proptest! {
        #[test]
        fn any_command_line_gives_a_part_of_one_word_that_no_terminal_obeys(
            executable in prop_oneof![
                proptest::sample::select(vec!["python3.11", "R", "java", "bash", "pypy", "ls"])
                    .prop_map(str::to_owned),
                "\\PC{0,10}",
            ],
            words in proptest::collection::vec(word(), 0..8),
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if let Some(name) = of(&executable, &words) {
                prop_assert!((1..=MOST).contains(&name.len()), "{name}");
                prop_assert!(!name.chars().any(|c| c.is_control() || c.is_whitespace()), "{name}");
                prop_assert!(words.iter().any(|word| plain(word).contains(&name)
                    || plain(&word.replace(|c: char| c.is_whitespace() || c.is_control(), "_")).contains(&name)
                    || word.len() > MOST), "{name} of {words:?}");
            }
        }
    }
}
