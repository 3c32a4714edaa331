//! May a member of a gathered team call this function?

use scaf_functions::calls::{self, Use};
use scaf_functions::system_calls;

/// The first arguments of a call, where they are constants.
pub(super) type Arguments = [Option<u64>; 3];

pub(super) enum Verdict {
    May,
    /// It calls back functions that it was handed.
    CallsBack,
    /// What it does, after "it".
    MayNot(String),
    /// The same, where the code surely comes to it.
    Hardly(String),
    /// It looks up the function whose name is at this address, if that is known.
    Named(Option<u64>),
    /// No table has it.
    Unlisted,
}

/// Whether the verdict depends on the call's arguments.
pub(super) fn wants_arguments(its_use: Use) -> bool {
    matches!(its_use, Use::BySystemCall | Use::ByOption | Use::ByName)
}

/// The verdict on a function that members may use so, in the library of that file name.
pub(super) fn import(file: &str, name: &str, its_use: Use, arguments: Option<Arguments>) -> Verdict {
    let [first, second, third] = arguments.unwrap_or_default();
    let calls = |name: &str| format!("calls {name}");
    let may_if = |may: bool| if may { Verdict::May } else { Verdict::MayNot(calls(name)) };
    match its_use {
        Use::May => Verdict::May,
        Use::CallsBack => Verdict::CallsBack,
        Use::MayNot => may_if(calls::is_offered(file.as_bytes(), name.as_bytes())),
        Use::Tunes => Verdict::Hardly(calls(name)),
        Use::Unlisted => Verdict::Unlisted,
        Use::ByName => Verdict::Named(second),
        Use::ByOption => match first {
            Some(option) if system_calls::prctl_tunes(option) => Verdict::Hardly(calls(name)),
            Some(option) => may_if(system_calls::may_prctl(option)),
            None => may_if(false),
        },
        Use::BySystemCall => match first {
            Some(number) if system_calls::may(number, third) => Verdict::May,
            Some(number) if system_calls::tunes(number) => Verdict::Hardly(calls(system_calls::name(number))),
            Some(number) => Verdict::MayNot(calls(system_calls::name(number))),
            None => Verdict::MayNot("calls syscall for a call that isn't known".into()),
        },
    }
}
