//! TACO's figure 2: the schedules of one to eight programs on two sockets of two cores.

use super::report::{Block, Error, Figure, Kind, Schedule};
use scaf_policy::place::{Style, Want, place_turns};
use scaf_policy::{Machine, Program, ProgramId, PuSet, Settings, Topology, Turn, by_name};

/// The machine of the paper's figure 1.
const MACHINE: &str = "pack:2 [numa] core:2 pu:1";
const MOST_PROGRAMS: u64 = 8;

pub(super) fn figure_2() -> Result<Vec<Figure>, Error> {
    let topology = scaf_topology::load(&scaf_topology::Source::Synthetic(MACHINE.into()))
        .map_err(crate::scenario::Error::Machine)?;
    let schedules = (1..=MOST_PROGRAMS).map(|count| schedule(&topology, count)).collect::<Result<_, _>>()?;
    let contexts = topology.pus.len() as u32;
    Ok(vec![Figure {
        file: "taco-figure-2".into(),
        title: "One to eight programs on two sockets of two cores (TACO, figure 2)".into(),
        axis: "core",
        kind: Kind::Schedules { contexts, schedules },
    }])
}

fn schedule(topology: &Topology, count: u64) -> Result<Schedule, Error> {
    let mut taco = by_name("taco", &Settings::default()).ok_or_else(|| Error::Policy("taco".into()))?;
    let contexts = topology.pus.len() as u32;
    let programs: Vec<Program> = (1..=count).map(|id| Program::new(ProgramId(id), contexts)).collect();
    let machine = Machine { units: topology.units(), ..Machine::new(contexts, 0.0) };
    let allocation = taco.allocate(&machine, &programs);
    let want = |program: &Program| Want {
        id: program.id,
        dop: allocation.contexts(program.id).unwrap_or(contexts),
        allowed: topology.all(),
        previous: PuSet::new(),
        weight: 1.0,
    };
    let wants: Vec<Want> = programs.iter().map(want).collect();
    let everyone = Turn { slices: 1, members: programs.iter().map(|program| program.id).collect() };
    let turns = if allocation.turns.is_empty() { vec![everyone] } else { allocation.turns };
    let places = place_turns(topology, &wants, &turns, Style::Compact);
    let (mut slices, mut blocks) = (0, Vec::new());
    for turn in &turns {
        for id in &turn.members {
            let place = &places[id.0 as usize - 1];
            let first = topology.pus.iter().position(|pu| place.contains(pu.os)).unwrap_or(0) as u32;
            let contexts = (first, place.iter().count() as u32);
            blocks.push(Block { program: id.0, slices: (slices, turn.slices), contexts });
        }
        slices += turn.slices;
    }
    Ok(Schedule { name: count.to_string(), slices, blocks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_context_has_one_program_in_every_slice_and_every_program_as_much_time() {
        let Kind::Schedules { contexts, schedules } = &figure_2().unwrap()[0].kind else { panic!() };
        for (schedule, count) in schedules.iter().zip(1u32..) {
            let mut taken = vec![0; (contexts * schedule.slices) as usize];
            let mut had = vec![0; count as usize];
            for block in &schedule.blocks {
                for slice in block.slices.0..block.slices.0 + block.slices.1 {
                    for context in block.contexts.0..block.contexts.0 + block.contexts.1 {
                        taken[(slice * contexts + context) as usize] += 1;
                        had[block.program as usize - 1] += count;
                    }
                }
            }
            assert!(taken.iter().all(|times| *times == 1), "{schedule:?}");
            assert!(had.iter().all(|time| *time == contexts * schedule.slices), "{schedule:?}");
        }
    }
}
