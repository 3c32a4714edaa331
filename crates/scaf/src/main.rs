//! The `scaf` command.

use clap::Parser;
use scaf_cli::{
    advise, bench, cdi, check, cli, complete, doctor, launch, policy, profile, ps, record, sim, slurm,
    target, top, web, why,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("scaf: {error:#}");
            if error.chain().any(bench::is_interrupt) {
                return ExitCode::from(128 + 2); // as shells say it of SIGINT
            }
            let unstartable = error.chain().find_map(|cause| cause.downcast_ref::<target::Unstartable>());
            ExitCode::from(unstartable.map_or(1, target::Unstartable::exit_status))
        }
    }
}

fn run(cli: cli::Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        cli::Command::Run(flags) => launch::run(&flags),
        cli::Command::Ps(flags) => ps::run(&flags),
        cli::Command::Top(flags) => top::run(&flags),
        cli::Command::Web(flags) => web::run(&flags),
        cli::Command::Policy(flags) => policy::run(&flags),
        cli::Command::Why(flags) => why::run(&flags),
        cli::Command::Record(flags) => record::run(&flags),
        cli::Command::Check(flags) => check::run(&flags),
        cli::Command::Profile(flags) => profile::run(&flags),
        cli::Command::Advise(flags) => advise::run(&flags),
        cli::Command::Doctor(flags) => doctor::run(&flags),
        cli::Command::Cdi(flags) => cdi::run(&flags),
        cli::Command::Bench(cli::Bench::Overhead(flags)) => bench::overhead::run(&flags),
        cli::Command::Bench(cli::Bench::Solo(flags)) => bench::solo::run(&flags),
        cli::Command::Bench(cli::Bench::Estimate(flags)) => bench::estimate::run(&flags),
        cli::Command::Bench(cli::Bench::Effective(flags)) => bench::effective::run(&flags),
        cli::Command::Bench(cli::Bench::Mix(flags)) => bench::mix::run(&flags),
        cli::Command::Bench(cli::Bench::Decide(flags)) => bench::decide::run(&flags),
        cli::Command::Bench(cli::Bench::Gang(flags)) => bench::gang::run(&flags),
        cli::Command::Sim(cli::Sim::Run(flags)) => sim::scenario::run(&flags),
        cli::Command::Sim(cli::Sim::Paper(flags)) => sim::paper::run(&flags),
        cli::Command::Sim(cli::Sim::Replay(flags)) => sim::replay::run(&flags),
        cli::Command::Sim(cli::Sim::Mixes(flags)) => sim::mixes::run(&flags),
        cli::Command::Sim(cli::Sim::Cluster(flags)) => sim::cluster::run(&flags),
        cli::Command::Slurm(cli::Slurm::Env(flags)) => slurm::environment(&flags),
        cli::Command::Slurm(cli::Slurm::Watch(flags)) => slurm::watch(&flags),
        cli::Command::Completions { shell } => complete::completions(shell),
        cli::Command::Man { dir } => complete::man(&dir),
    }
}
