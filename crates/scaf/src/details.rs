//! A program's fields, a line each, for `scaf ps -v` and `scaf top`. Their labels are at the fields (scafd's
//! `control/snapshot.rs`); the web page reads the same from `/fields.js`.

use scafd::control::{Program, Runtime};

const LLVMS: [&str; 2] = ["OpenMP (LLVM)", "OpenMP (Intel)"];

/// The lines that aren't empty, each with its label.
pub fn of(program: &Program) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for (field, value) in program.values().filter(|(field, _)| !field.shown.detail.is_empty()) {
        let text = match field.key {
            "job" if program.job.is_some() => format!("{} of user {}", value.text(), program.uid),
            "mechanism" if !program.mechanism_reason.is_empty() => {
                format!("{}; {}", value.text(), program.mechanism_reason)
            }
            "effective_ns" if program.effective_ns.is_none() && program.dop.is_some() => {
                "outstanding: the DoP is granted but not in effect yet".into()
            }
            "effective_ns" => continue,
            "min" => limits(program),
            "earlier_runs" if program.earlier_runs > 0 => format!("{}; see scaf profile show", value.text()),
            "regions" => {
                format!("{}, of which {} fix their team size", value.text(), program.promised_regions)
            }
            "runtimes" => {
                lines.extend(program.runtimes.iter().map(|it| (field.shown.detail, runtime(it))));
                continue;
            }
            _ if value.number().is_some() => format!("{} {}", value.text(), field.shown.unit),
            _ => value.text(),
        };
        if !text.is_empty() && value.number() != Some(0.0) {
            lines.push((field.shown.detail, text.trim_end().to_owned()));
        }
    }
    if program.runtimes.iter().filter(|runtime| LLVMS.contains(&runtime.name.as_str())).count() > 1 {
        let text = "two copies of LLVM's OpenMP runtime, each with threads of its own; link or load one of \
                    them only";
        lines.push(("warning", text.into()));
    }
    lines
}

fn limits(program: &Program) -> String {
    let most = if program.max == 0 { "no limit".to_owned() } else { program.max.to_string() };
    let weight = (program.weight * 1e3).round() / 1e3;
    format!("{} to {most}, weight {weight}{}", program.min, if program.exact { ", exact" } else { "" })
}

/// The runtime, its threads, its promise, and last its file, which may be long.
fn runtime(runtime: &Runtime) -> String {
    let number = |threads: u32| if threads == 0 { "?".to_owned() } else { threads.to_string() };
    let (now, most) = (number(runtime.threads), number(runtime.most));
    format!("{}, {now} of {most} threads, {}: {}", runtime.name, runtime.promise, runtime.file)
}
