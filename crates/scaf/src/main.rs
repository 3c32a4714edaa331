//! The `scaf` command.

use clap::Parser;
use scaf_cli::bench::interrupt::Interrupt;
use scaf_cli::bench::{self, mix};
use scaf_cli::{
    adopt, advise, cdi, check, cli, complete, doctor, lab, launch, policy, profile, ps, record, slurm, top,
    web, why,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    run(cli::Cli::parse()).unwrap_or_else(|error| scaf_cli::failure("scaf", &error))
}

fn run(cli: cli::Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        cli::Command::Run(flags) => launch::run(&flags),
        cli::Command::Ps(flags) => ps::run(&flags),
        cli::Command::Top(flags) => top::run(&flags),
        cli::Command::Web(flags) => web::run(&flags),
        cli::Command::Adopt(flags) => adopt::run(&flags),
        cli::Command::Policy(flags) => policy::run(&flags),
        cli::Command::Why(flags) => why::run(&flags),
        cli::Command::Record(flags) => record::run(&flags),
        cli::Command::Check(flags) => check::run(&flags),
        cli::Command::Profile(flags) => profile::run(&flags),
        cli::Command::Advise(flags) => advise::run(&flags),
        cli::Command::Doctor(flags) => doctor::run(&flags),
        cli::Command::Cdi(flags) => cdi::run(&flags),
        cli::Command::Bench(cli::Bench::Ours(measure)) => match measure {
            cli::Measure::Overhead(flags) => bench::overhead::run(&flags),
            cli::Measure::Solo(flags) => bench::solo::run(&flags),
            cli::Measure::Mix(flags) if flags.contexts.is_some() => lab::become_it(),
            cli::Measure::Mix(flags) => mix::run(&flags, &mix::ThisMachine, Interrupt::install()?),
        },
        cli::Command::Bench(cli::Bench::Lab(_)) | cli::Command::Sim { .. } => lab::become_it(),
        cli::Command::Slurm(cli::Slurm::Env(flags)) => slurm::environment(&flags),
        cli::Command::Slurm(cli::Slurm::Watch(flags)) => slurm::watch(&flags),
        cli::Command::Completions { shell } => complete::completions(shell),
        cli::Command::Man { dir } => complete::man(&dir),
    }
}
