//! Metrics, from the latest moment and the ledger. Their names and descriptions stand at the fields: of the
//! daemon's snapshot (scafd's `control/snapshot.rs`), and here of what follows from it.
//! docs/guide/metrics.md has a table of all, which a test writes.

use super::ledger::{Ledger, REST};
use crate::worth;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use scafd::control::field::{Field, JSON, MetricKind, Value};
use scafd::control::{Program, Snapshot};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

/// Steps of Slurm's jobs that have a metric of their own, those with the most contexts first.
const MOST_JOBS: usize = 50;

type Labels = Vec<(String, String)>;
type Number = Gauge<f64, AtomicU64>;
type Sum = Counter<f64, AtomicU64>;

/// What metrics are made of.
#[derive(Debug)]
pub struct Known<'a> {
    /// The latest moment of a daemon that answers.
    pub now: Option<&'a Snapshot>,
    /// What adds up.
    pub ledger: &'a Ledger,
    /// What time it is, in nanoseconds of CLOCK_MONOTONIC.
    pub clock_ns: u64,
}

/// Who reads metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    Open,
    /// The text format of Prometheus before that, which node_exporter and promtool read.
    Classic,
}

impl Format {
    /// What somebody reads who sends this header.
    pub fn accepted(accept: &str) -> Format {
        if accept.contains("application/openmetrics-text") { Format::Open } else { Format::Classic }
    }

    /// Its name in HTTP.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Open => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Classic => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

scafd::shown! {
    /// Numbers of a moment that follow from its fields.
    struct Totals {
        /// Contexts that programs have, other users' included.
        granted: u32 = JSON.metric(MetricKind::Gauge, "scaf_granted_contexts");
        /// Sum of programs' speedups over one context each (STP), as far as known.
        stp: f64 = JSON.metric(MetricKind::Gauge, "scaf_throughput");
        /// What the throughput would be with equal parts, by the same curves.
        equal: f64 = JSON.metric(MetricKind::Gauge, "scaf_throughput_with_equal_parts");
        /// Time since the daemon looked at its programs, which it does four times a second.
        age_ns: u64 = JSON.unit("ns").metric(MetricKind::Gauge, "scaf_moment_age_seconds");
    }
}

scafd::shown! {
    /// Numbers of a program that follow from its fields; they are added up for all of one name.
    struct OfProgram {
        /// Processes of that name.
        processes: u32 = JSON.metric(MetricKind::Sum, "scaf_program_processes");
        /// Contexts that equal parts would give processes of that name.
        equal: u32 = JSON.metric(MetricKind::Sum, "scaf_program_equal_contexts");
        /// Sum of the speedups over one context of processes of that name, as far as known.
        speedup: Option<f64> = JSON.metric(MetricKind::SumOfKnown, "scaf_program_speedup");
        /// The least speedup over what equal parts would bring, of processes of that name.
        ratio: Option<f64> = JSON.metric(MetricKind::Least, "scaf_program_speedup_ratio");
    }
}

/// All metrics.
/// # Errors
/// Never, as far as known: the encoder writes into memory.
pub fn text(known: &Known<'_>, format: Format) -> Result<String, std::fmt::Error> {
    let mut page = Page(Registry::default());
    let up = f64::from(u8::from(known.now.is_some()));
    page.one("scaf_daemon_up", "1 if the daemon answers, else 0", false, up);
    if let Some(now) = known.now {
        let labels = [("version", &now.version), ("scope", &now.scope), ("policy", &now.policy)];
        page.each("scaf_daemon_info", "Version, scope and policy of the daemon", false, [(&labels, 1.0)]);
        page.fields(now.values().chain(now.others.values()));
        page.fields(totals(now, known.clock_ns).values());
        page.programs(now, known.ledger);
        page.jobs(now);
    }
    page.fields(known.ledger.counts.values());
    let seconds = known.ledger.context_seconds().map(|(name, value)| ([("program", name)], value));
    let help = format!(
        "Contexts times seconds that programs of that name had since scaf web started, or ten minutes \
         before; '{REST}' is the rest"
    );
    page.each("scaf_program_context_seconds", &help, true, seconds);
    let mut text = String::new();
    encode(&mut text, &page.0)?;
    Ok(if format == Format::Classic { classic(&text) } else { text })
}

fn totals(now: &Snapshot, clock_ns: u64) -> Totals {
    let dops = now.programs.iter().filter_map(|it| it.dop);
    let granted = dops.fold(now.others.contexts, u32::saturating_add);
    let worth = worth::of(now);
    Totals { granted, stp: worth.stp, equal: worth.equal, age_ns: clock_ns.saturating_sub(now.now_ns) }
}

fn of_program(program: &Program, part: Option<u32>) -> OfProgram {
    let speedup = program.dop.and_then(|dop| worth::speedup(program, dop));
    let with_equal = part.and_then(|part| worth::speedup(program, part)).filter(|it| *it > 0.0);
    let ratio = speedup.zip(with_equal).map(|(speedup, with_equal)| speedup / with_equal);
    OfProgram { processes: 1, equal: part.unwrap_or(0), speedup, ratio }
}

/// A field's name and description as a metric, and its value in the unit of its name.
fn metric(field: &Field, value: &dyn Value) -> Option<(&'static str, &'static str, MetricKind, Option<f64>)> {
    let metric = field.shown.metric?;
    let help = if metric.help.is_empty() { field.about } else { metric.help };
    let number = value.number().map(|number| if field.shown.unit == "ns" { number / 1e9 } else { number });
    Some((metric.name, help.trim().trim_end_matches('.'), metric.kind, number))
}

struct Page(Registry);

impl Page {
    fn one(&mut self, name: &str, help: &str, counts: bool, value: f64) {
        if counts {
            let counter = Sum::default();
            counter.inc_by(value.max(0.0));
            self.0.register(name, help, counter);
        } else {
            let gauge = Number::default();
            gauge.set(value);
            self.0.register(name, help, gauge);
        }
    }

    fn each<K: AsRef<[(&'static str, V)]>, V: ToString>(
        &mut self,
        name: &str,
        help: &str,
        counts: bool,
        values: impl IntoIterator<Item = (K, f64)>,
    ) {
        let (gauges, counters) = (Family::<Labels, Number>::default(), Family::<Labels, Sum>::default());
        for (labels, value) in values {
            let labels =
                labels.as_ref().iter().map(|(key, of)| ((*key).to_owned(), of.to_string())).collect();
            if counts {
                _ = counters.get_or_create(&labels).inc_by(value);
            } else {
                _ = gauges.get_or_create(&labels).set(value);
            }
        }
        match counts {
            true => self.0.register(name, help, counters),
            false => self.0.register(name, help, gauges),
        }
    }

    fn fields<'a>(&mut self, values: impl Iterator<Item = (&'static Field, &'a dyn Value)>) {
        for (name, help, kind, number) in values.filter_map(|(field, value)| metric(field, value)) {
            self.one(name, help, kind == MetricKind::Counter, number.unwrap_or(0.0));
        }
    }

    fn programs(&mut self, now: &Snapshot, ledger: &Ledger) {
        let equal = worth::equal_parts(now);
        let mut all: BTreeMap<&str, (&str, BTreeMap<String, f64>)> = BTreeMap::new();
        for program in &now.programs {
            let more = of_program(program, equal.get(&program.id).copied());
            for (field, value) in program.values().chain(more.values()) {
                let Some((name, help, kind, number)) = metric(field, value) else { continue };
                let by_name = &mut all.entry(name).or_insert((help, BTreeMap::new())).1;
                let Some(number) = number.or((kind == MetricKind::Sum).then_some(0.0)) else { continue };
                let add = |sum: f64| if kind == MetricKind::Least { sum.min(number) } else { sum + number };
                by_name.entry(ledger.name(program)).and_modify(|sum| *sum = add(*sum)).or_insert(number);
            }
        }
        for (name, (help, values)) in all {
            self.each(name, help, false, values.into_iter().map(|(of, value)| ([("program", of)], value)));
        }
    }

    fn jobs(&mut self, now: &Snapshot) {
        let mut of: BTreeMap<(&str, u32), u32> = BTreeMap::new();
        for program in &now.programs {
            if let Some(job) = &program.job {
                *of.entry((job, program.uid)).or_default() += program.dop.unwrap_or(0);
            }
        }
        let mut jobs: Vec<_> = of.into_iter().collect();
        jobs.sort_by_key(|(_, contexts)| std::cmp::Reverse(*contexts));
        let values = jobs.into_iter().take(MOST_JOBS).map(|((job, uid), contexts)| {
            ([("job", job.to_owned()), ("uid", uid.to_string())], f64::from(contexts))
        });
        let help = "Contexts that a user's programs in a Slurm step have now, of the 50 steps with the most";
        self.each("scaf_job_contexts", help, false, values);
    }
}

/// OpenMetrics' text in the format before it: there, what is said about a counter names its sample.
fn classic(open: &str) -> String {
    let mut text = String::with_capacity(open.len());
    let is_counter = |name: &str| open.contains(&format!("# TYPE {name} counter\n"));
    for line in open.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("EOF"), ..) => continue,
            (Some("#"), Some(what), Some(name), Some(rest)) if is_counter(name) => {
                text.push_str(&format!("# {what} {name}_total {rest}"));
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
