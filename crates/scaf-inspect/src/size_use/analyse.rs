//! Taint analysis of one module: sources are the team-size and thread-number queries.

use super::code::Code;
use super::flow::Analysis;
use super::frame::Finding;
use super::llvm;
use super::state::NOTHING;
use super::verdict::SizeUse;
use crate::decode::abi;
use crate::elf::{Elf, SlotKind};
use crate::functions::{QUERY_PREFIXES, Tells};
use crate::functions::{
    is_answered, is_known_to_tell, is_outlined_by_name, is_query, makes_threads_wait, starts_region, tells,
};
use memchr::memmem;
use std::collections::BTreeSet;

/// Prefix of calls that run code on a device.
const TARGET: &str = "GOMP_target";
/// Most functions that turn out to return the team size or thread number.
const MAX_RETURNING: usize = 32;
/// Most bytes of a name that are compared.
const LONGEST_NAME: usize = 64;
/// Where the second result's register stands in `SCRATCH`.
const SECOND: usize = 2;
const _: () = assert!(abi::SCRATCH[SECOND] == abi::SECOND_RESULT);

/// Proves the effects of all regions, or says which code can't be, and why.
type Prove<'p, 'e> = dyn Fn(&Code<'e>) -> Result<(), (u64, String)> + 'p;

pub(crate) fn analyse<'e>(code: &Code<'e>, prove: &Prove<'_, 'e>) -> SizeUse {
    if !starts_regions(code.elf) || !code.elf.machine_supported {
        return verdict(code).unwrap_or_else(|early| early);
    }
    if let Err(early) = imports(code) {
        return early;
    }
    if !code.knows_functions() {
        return SizeUse::unknown("it starts regions and has no table of its functions (.eh_frame_hdr)");
    }
    let found = match prove(code) {
        Ok(()) => return asked(code).unwrap_or_else(|early| early),
        Err((address, what)) => SizeUse::depends(format!("{} {what}", code.describe(address))),
    };
    // What is done with the size says more.
    match verdict(code) {
        Err(why) if matches!(why, SizeUse::Depends { .. }) => why,
        _ => found,
    }
}

/// Calls of queries in a module whose regions are proved, if they are calls.
fn asked(code: &Code<'_>) -> Result<SizeUse, SizeUse> {
    if !code.elf.imports.keys().any(|name| is_query(name)) {
        return Ok(SizeUse::None);
    }
    let mentions = code.mentions().map_err(SizeUse::unknown)?;
    match mentions.other {
        Some((address, what)) => Err(SizeUse::depends(format!("{} {what}", code.describe(address)))),
        None => Ok(SizeUse::OwnLoops { sites: mentions.calls.into_values().map(|sites| sites.len()).sum() }),
    }
}

/// What the names of functions tell, before any code is looked at.
fn imports(code: &Code<'_>) -> Result<(), SizeUse> {
    let elf = code.elf;
    if elf.has_dynamic && !elf.dynamic_is_listed {
        return Err(SizeUse::unknown("its section headers are missing, so that its imports are not known"));
    }
    looked_up_by_name(elf)?;
    if let Some(objection) = llvm::objection(elf) {
        return Err(objection);
    }
    if starts_regions(elf)
        && let Some(name) = elf.imports.keys().find(|name| makes_threads_wait(name))
    {
        return Err(SizeUse::depends(format!("its threads may wait for each other ({name})")));
    }
    // Run on the host, such code starts outside of any team, which the client doesn't see.
    if let Some(name) = elf.imports.keys().find(|name| is_answered(name))
        && elf.imports.keys().any(|name| name.starts_with(TARGET))
    {
        return Err(SizeUse::depends(format!("it asks {name}, and has code for devices")));
    }
    for (name, address_taken) in elf.imports.iter().filter(|(name, _)| is_query(name)) {
        match tells(name) {
            Tells::Inquiry => return Err(SizeUse::depends(format!("it asks {name}"))),
            _ if *address_taken => return Err(SizeUse::depends(format!("it takes the address of {name}"))),
            _ => {}
        }
    }
    let mut kept = elf.slots.iter().filter(|slot| slot.kind == SlotKind::Data);
    if let Some(slot) = kept.find(|slot| is_query(&slot.symbol)) {
        return Err(SizeUse::depends(format!("it keeps the address of {}", slot.symbol)));
    }
    Ok(())
}

/// The error is a verdict that ended the analysis early.
fn verdict(code: &Code<'_>) -> Result<SizeUse, SizeUse> {
    let elf = code.elf;
    imports(code)?;
    if !elf.imports.keys().any(|name| is_query(name)) {
        return Ok(SizeUse::None);
    }
    if !elf.machine_supported {
        return Err(SizeUse::unknown(abi::NOT_UNDERSTOOD));
    }
    if !code.knows_functions() {
        let why = "it asks about its team and has no table of its functions (.eh_frame_hdr)";
        return Err(SizeUse::unknown(why));
    }
    let mentions = code.mentions().map_err(SizeUse::unknown)?;
    if let Some((address, what)) = mentions.other {
        return Err(SizeUse::depends(format!("{} {what}", code.describe(address))));
    }
    let as_verdict = |finding: Finding| {
        let why = format!("{} {}", code.describe(finding.address), finding.what);
        if finding.unknown { SizeUse::unknown(why) } else { SizeUse::depends(why) }
    };
    let mut analysis = Analysis::new(code, mentions.calls.keys().copied().collect());
    let mut work: BTreeSet<u64> = analysis.querying.clone();
    while let Some(function) = work.pop_first() {
        let returned = analysis.summary(function, &NOTHING).map_err(as_verdict)?;
        let Some(passed) = returned else { continue };
        // The second register has a result, or what was left in it.
        let second = passed[SECOND];
        let returns_it = passed[0].reveals_team() || second.is_thread() || second.is_team();
        if !returns_it || is_outlined(code, function) || analysis.returning.contains(&function) {
            continue;
        }
        let callers = code.callers(function).filter(|callers| {
            !(code.is_exported(function) || callers.is_empty() || analysis.returning.len() >= MAX_RETURNING)
        });
        let Some(callers) = callers else {
            return Err(as_verdict(Finding::depends(function, "returns the team size or thread number")));
        };
        analysis.add_returning(function);
        work.extend(callers);
    }
    let sites: Vec<u64> = mentions.calls.into_values().flatten().collect();
    if let Some(missed) = sites.iter().find(|site| !analysis.visited.contains(site)) {
        return Err(as_verdict(Finding::unknown(
            *missed,
            "asks about the team on a path that was not found",
        )));
    }
    Ok(SizeUse::OwnLoops { sites: sites.len() })
}

/// Outlined functions return nothing, whatever is left in the result's register.
fn is_outlined(code: &Code<'_>, function: u64) -> bool {
    match code.elf.functions.get(&function) {
        Some(name) => is_outlined_by_name(name),
        None => code.is_passed_to_runtime(function),
    }
}

fn starts_regions(elf: &Elf<'_>) -> bool {
    elf.imports.keys().any(|name| starts_region(name.as_bytes()))
}

/// A program that looks a function up has its name in its data.
fn looked_up_by_name(elf: &Elf<'_>) -> Result<(), SizeUse> {
    let tables = [".dynstr", ".dynsym", ".gnu.hash", ".eh_frame", ".eh_frame_hdr"];
    for piece in elf.data.iter().filter(|piece| !tables.contains(&piece.name.as_str())) {
        if let Some(name) = QUERY_PREFIXES.iter().find_map(|start| query_name(piece.data, start.as_bytes())) {
            let why = format!("it can look up {name} by its name, which stands in {}", piece.name);
            return Err(SizeUse::depends(why));
        }
    }
    Ok(())
}

/// The first name in `data` with this prefix that is a known query about the team.
fn query_name<'d>(data: &'d [u8], start: &[u8]) -> Option<&'d str> {
    memmem::find_iter(data, start).find_map(|begin| {
        // Before it there may be any constant.
        let before = data[..begin].last();
        let is_whole = before.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let text = data.get(begin..).filter(|_| is_whole)?;
        let text = &text[..text.len().min(LONGEST_NAME)];
        let name = std::str::from_utf8(text.split(|byte| *byte == 0).next()?).ok()?;
        (text.get(name.len()) == Some(&0) && is_known_to_tell(name)).then_some(name)
    })
}
