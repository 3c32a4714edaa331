//! The facts by which a region's mechanism and team size are chosen ([`scaf_team::choice`]).

use super::float_words;
use super::kind::{Kind, Region};
use super::mechanisms::{experiment, gather, resize};
use super::thread::Thread;
use crate::link::attachment;
use crate::program::masters::{ask_natural, in_teams, natural, one_master};
use crate::program::{permission, promise};
use crate::runtimes::entries::Runtime;
use crate::sys::{settings, stacks};
use scaf_proto::grant::Word;
use scaf_proto::report::fact;
use scaf_team::choice::{self, Choice, Facts, Length, Mechanism};
use scaf_team::permission::Permission;

/// Chooses for a region that isn't nested, as for one of that length, under the grant `word`. Leaves in
/// `this.records` whether its run is to record the workers' TLS bases.
#[inline(always)]
pub fn choose(this: &Thread, region: &Region, length: Length, word: Word) -> Choice {
    let &Region { code, requested, kind, .. } = region;
    let inspected = resize::is_inspected(code, word);
    this.records.set(0);
    // An opened region's threads can't all turn `dyn-var` on again.
    let permission = if kind == Kind::Opened { None } else { permission::of(code.runtime) };
    let tried = permission::is_tried();
    let alike =
        requested == 1 || natural() == 1 || float_words::are_the_teams(&this.first_words, code.runtime);
    let may_resize = || inspected && word.resizable() && alike && has_stack(this, code.runtime);
    // Sections may wait for each other, and a team that is too small would wait for ever.
    let may = !kind.is_sections() && !settings::is_in_block();
    let mut facts = Facts {
        requested,
        // As last seen: the runtime is asked about once a second. Only a smaller team needs the exact number.
        natural: natural(),
        budget: word.dop().map(|dop| match tried {
            true => permission::any_size(natural()),
            false => dop.saturating_sub(in_teams()).saturating_sub(experiment::contexts()),
        }),
        kept: promise::is_kept(),
        resizable: may && (permission.is_some() || may_resize()),
        word: permission.is_some_and(Permission::is_word) && may && !promise::is_strict(),
        gathers: false,
        length,
        lent: word.lent() && requested != 1 && attachment::ask_back(word.epoch()),
        // What is tried out begins with the size that is granted, however long it takes.
        only_master: one_master() && !tried,
        spins: word.spins() && !gather::yielding_loops::make_at_region(code.runtime, word),
    };
    let mut choice = choice::choose(&facts);
    if let Some(budget) = facts.budget
        && choice.team > budget.max(1)
    {
        let readiness = match choice.mechanism {
            Mechanism::Fold if !facts.spins => gather::readiness(this, region, length, choice.team),
            _ => gather::Readiness::No,
        };
        match readiness {
            gather::Readiness::Unrecorded => this.records.set(1),
            gather::Readiness::Ready => {
                facts.gathers = true;
                choice = choice::choose(&facts);
            }
            gather::Readiness::No => {}
        }
    }
    if requested > 1 {
        promise::record(fact::NUM_THREADS_CLAUSE);
    } else if requested == 0 && choice.pass != 0 {
        facts.natural = ask_natural(code.runtime);
        // Its workers are recorded for another size.
        facts.gathers &= facts.natural == choice.ids;
        choice = choice::choose(&facts);
    }
    let resized = choice.mechanism == Mechanism::Resize;
    this.first_words.team_is(code.runtime, resized && requested == 0 && choice.team < facts.natural);
    if tried && resized {
        permission::tell_size(code.module, choice.team, natural());
    }
    choice
}

/// Whether the thread's stack is as large as its workers' are: in a smaller team it executes iterations that
/// would be theirs.
#[inline(always)]
fn has_stack(this: &Thread, runtime: &Runtime) -> bool {
    if this.stack.get() == 0 {
        this.stack.set(stacks::own());
    }
    let own = this.stack.get();
    let of_llvms = || if runtime.is_llvms() { runtime.ask_stack_size().unwrap_or(0) } else { 0 };
    own == usize::MAX || (own >= settings::get().stacks.unwrap_or_else(stacks::usual) && own >= of_llvms())
}
