//! Metrics, from the latest moment and the ledger. docs/guide/metrics.md says what each is; a test holds it
//! to that.

use super::ledger::{Ledger, REST};
use crate::worth;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use scafd::control::Snapshot;
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

/// All metrics.
/// # Errors
/// Never, as far as known: the encoder writes into memory.
pub fn text(known: &Known<'_>, format: Format) -> Result<String, std::fmt::Error> {
    let mut page = Page(Registry::default());
    page.gauge("scaf_daemon_up", "Whether the daemon answers", f64::from(u8::from(known.now.is_some())));
    if let Some(now) = known.now {
        page.machine(now, known.clock_ns);
        page.programs(now, known.ledger);
        page.jobs(now);
    }
    page.sums(known.ledger);
    let mut text = String::new();
    encode(&mut text, &page.0)?;
    Ok(if format == Format::Classic { classic(&text) } else { text })
}

struct Page(Registry);

impl Page {
    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        let gauge = Number::default();
        gauge.set(value);
        self.0.register(name, help, gauge);
    }

    fn counter(&mut self, name: &str, help: &str, value: f64) {
        let counter = Sum::default();
        counter.inc_by(value.max(0.0));
        self.0.register(name, help, counter);
    }

    fn labelled(&mut self, name: &str, help: &str, values: impl Iterator<Item = (Labels, f64)>) {
        let family = Family::<Labels, Number>::default();
        values.for_each(|(labels, value)| _ = family.get_or_create(&labels).set(value));
        self.0.register(name, help, family);
    }

    fn machine(&mut self, now: &Snapshot, clock_ns: u64) {
        let labels = |pairs: &[(&str, &str)]| -> Labels {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let about = labels(&[("version", &now.version), ("scope", &now.scope), ("policy", &now.policy)]);
        self.labelled("scaf_daemon_info", "What daemon this is", std::iter::once((about, 1.0)));
        let seconds = |ns: u64| ns as f64 / 1e9;
        self.gauge("scaf_capacity_contexts", "Contexts to be given away now", f64::from(now.capacity));
        let granted =
            now.programs.iter().filter_map(|it| it.dop).fold(now.others.contexts, u32::saturating_add);
        self.gauge("scaf_granted_contexts", "Contexts that programs have", f64::from(granted));
        self.gauge("scaf_unmanaged_contexts", "Contexts that unmanaged processes use", now.unmanaged_load);
        self.gauge(
            "scaf_hidden_programs",
            "Programs of other users, of which no more is told",
            f64::from(now.others.programs),
        );
        self.gauge(
            "scaf_hidden_contexts",
            "Contexts of other users' programs, of which no more is told",
            f64::from(now.others.contexts),
        );
        let worth = worth::of(now);
        self.gauge("scaf_throughput", "Sum of programs' speedups over one context (STP)", worth.stp);
        self.gauge("scaf_throughput_with_equal_parts", "The same if all had equal parts", worth.equal);
        self.gauge("scaf_decision_seconds", "Time that the latest decision took", seconds(now.decision_ns));
        self.gauge(
            "scaf_moment_age_seconds",
            "Time since the daemon looked at its programs",
            seconds(clock_ns.saturating_sub(now.now_ns)),
        );
        self.counter("scaf_decisions", "Decisions since the daemon started", now.decisions as f64);
        self.counter("scaf_warnings", "Warnings and errors that the daemon logged", now.warnings as f64);
    }

    fn programs(&mut self, now: &Snapshot, ledger: &Ledger) {
        let equal = worth::equal_parts(now);
        let mut of: BTreeMap<String, Sums> = BTreeMap::new();
        for program in &now.programs {
            let sums = of.entry(ledger.name(program)).or_default();
            sums.processes += 1.0;
            sums.contexts += f64::from(program.dop.unwrap_or(0));
            sums.wanted += f64::from(program.natural);
            let part = equal.get(&program.id).copied();
            sums.equal += f64::from(part.unwrap_or(0));
            let Some(dop) = program.dop else { continue };
            let Some(speedup) = worth::speedup(program, dop) else { continue };
            *sums.speedup.get_or_insert(0.0) += speedup;
            let with_equal = part.and_then(|part| worth::speedup(program, part)).filter(|it| *it > 0.0);
            if let Some(ratio) = with_equal.map(|with_equal| speedup / with_equal) {
                sums.ratio = Some(sums.ratio.map_or(ratio, |least| least.min(ratio)));
            }
        }
        let mut each = |name: &str, help: &str, value: &dyn Fn(&Sums) -> Option<f64>| {
            let labels = |name: &str| vec![("program".to_owned(), name.to_owned())];
            let values = of.iter().filter_map(|(name, sums)| Some((labels(name), value(sums)?)));
            self.labelled(name, help, values);
        };
        each("scaf_program_processes", "Processes of that name", &|it| Some(it.processes));
        each("scaf_program_contexts", "Contexts that they have", &|it| Some(it.contexts));
        each("scaf_program_equal_contexts", "Contexts that equal parts would give", &|it| Some(it.equal));
        each("scaf_program_wanted_contexts", "Contexts that they would use alone", &|it| Some(it.wanted));
        each("scaf_program_speedup", "Sum of their speedups over one context", &|it| it.speedup);
        each(
            "scaf_program_speedup_ratio",
            "The least of their speedups over what equal parts would bring",
            &|it| it.ratio,
        );
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
            let labels = [("job", job.to_owned()), ("uid", uid.to_string())];
            (labels.map(|(key, value)| (key.to_owned(), value)).to_vec(), f64::from(contexts))
        });
        self.labelled("scaf_job_contexts", "Contexts that the programs of a Slurm step have", values);
    }

    fn sums(&mut self, ledger: &Ledger) {
        self.counter("scaf_arrivals", "Programs that came", ledger.arrivals as f64);
        self.counter("scaf_departures", "Programs that left", ledger.departures as f64);
        let family = Family::<Labels, Sum>::default();
        for (name, value) in ledger.context_seconds() {
            _ = family.get_or_create(&vec![("program".to_owned(), name.to_owned())]).inc_by(value);
        }
        self.0.register(
            "scaf_program_context_seconds",
            format!("Contexts that programs of that name had, times seconds; '{REST}' is the rest"),
            family,
        );
    }
}

#[derive(Default)]
struct Sums {
    processes: f64,
    contexts: f64,
    equal: f64,
    wanted: f64,
    speedup: Option<f64>,
    ratio: Option<f64>,
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
