//! The `scaf-lab` command.

use clap::Parser;
use scaf_cli::bench::interrupt::Interrupt;
use scaf_cli::bench::mix::{self, Testbed, ThisMachine};
use scaf_cli::cli::Measure;
use scaf_lab::cli::{Bench, Cli, Command, Sim};
use scaf_lab::slow::SlowMachine;
use scaf_lab::{bench, sim};
use std::process::ExitCode;

fn main() -> ExitCode {
    run(Cli::parse().command).unwrap_or_else(|error| scaf_cli::failure("scaf-lab", &error))
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Bench(Bench::Users(Measure::Mix(flags))) => {
            // First, so that a machine in slow motion is taken down after Ctrl-C.
            let interrupt = Interrupt::install()?;
            let slow = flags.contexts.map(SlowMachine::start).transpose()?;
            let testbed: &dyn Testbed = slow.as_ref().map_or(&ThisMachine, |slow| slow);
            mix::run(&flags, testbed, interrupt)
        }
        Command::Bench(Bench::Users(Measure::Overhead(flags))) => scaf_cli::bench::overhead::run(&flags),
        Command::Bench(Bench::Users(Measure::Solo(flags))) => scaf_cli::bench::solo::run(&flags),
        Command::Bench(Bench::Estimate(flags)) => bench::estimate::run(&flags),
        Command::Bench(Bench::Effective(flags)) => bench::effective::run(&flags),
        Command::Bench(Bench::Decide(flags)) => bench::decide::run(&flags),
        Command::Bench(Bench::Gang(flags)) => bench::gang::run(&flags),
        Command::Sim(Sim::Run(flags)) => sim::scenario::run(&flags),
        Command::Sim(Sim::Paper(flags)) => sim::paper::run(&flags),
        Command::Sim(Sim::Replay(flags)) => sim::replay::run(&flags),
        Command::Sim(Sim::Mixes(flags)) => sim::mixes::run(&flags),
        Command::Sim(Sim::Cluster(flags)) => sim::cluster::run(&flags),
    }
}
