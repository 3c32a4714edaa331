use super::*;
use scaf_inspect::Origin;

/// Of an executable ab12 and a library 1b, and why their teams may not be resized if there is something.
fn verdict(own: &str, library: &str) -> Verdict {
    let origin = Some(Origin { executable: "ab12".into(), arguments: 0, modules: vec![] });
    let object =
        |module: &str, is_own, why: &str| Objection { module: Some(module.into()), is_own, why: why.into() };
    let mut objections = vec![object("ab12", true, own), object("1b", false, library)];
    objections.retain(|objection| !objection.why.is_empty());
    Verdict { objections, origin, ..Verdict::default() }
}

fn checked(executable: &str, resizable: bool) -> Checked {
    let [executable, name, date] = [executable, "cg", "2026-11-25"].map(str::to_owned);
    Checked { executable, name, resizable, date, runs: 10, ..Checked::default() }
}

#[test]
fn what_was_checked_counts_in_place_of_the_verdict_about_the_executable() {
    let mut code = Code::pending(1, false, None);
    code.checked(checked("ab12", true));
    assert_eq!(code.teams, Teams::Pending);
    code.inspected(&verdict("it stores the size", ""), 1, vec![]);
    assert_eq!(code.teams, Teams::Resizable);
    assert!(code.permission().contains("10 runs on 2026-11-25"));
    code.inspected(&verdict("it stores the size", "libx does"), 2, vec![]);
    assert_eq!(code.teams, Teams::Fixed("libx does".into()));
    assert!(code.permission().is_empty());
}

#[test]
fn it_counts_for_that_executable_only_and_may_say_no() {
    let mut code = Code::pending(1, false, None);
    code.inspected(&verdict("it stores the size", ""), 1, vec![]);
    code.checked(checked("cd34", true));
    assert_eq!(code.teams, Teams::Fixed("it stores the size".into()));
    code.inspected(&verdict("", ""), 1, vec![]);
    assert_eq!((code.teams.clone(), code.permission()), (Teams::Resizable, String::new()));
    code.checked(checked("ab12", false));
    assert!(matches!(&code.teams, Teams::Fixed(why) if why.contains("a check on 2026-11-25")));
}

#[test]
fn exact_results_count_for_more() {
    let mut code = Code::pending(1, true, None);
    code.checked(checked("ab12", true));
    code.inspected(&verdict("it stores the size", ""), 1, vec![]);
    assert!(matches!(&code.teams, Teams::Fixed(why) if why.contains("--exact")));
    assert!(code.permission().is_empty());
}

#[test]
fn what_was_shown_of_a_file_counts_for_the_code_of_that_file() {
    let both = || verdict("it stores the size", "libx does");
    let mut code = Code::pending(1, false, None);
    code.inspected(&both(), 1, vec![checked("1b", true)]);
    assert_eq!(code.teams, Teams::Fixed("it stores the size".into()));
    code.inspected(&both(), 1, vec![checked("ab12", true), checked("1b", true)]);
    assert_eq!(code.teams, Teams::Resizable);
    assert!(code.permission().contains("10 runs on 2026-11-25"));
    // What is shown of another build says nothing.
    code.inspected(&both(), 1, vec![checked("ab12", true), checked("1c", true)]);
    assert_eq!(code.teams, Teams::Fixed("libx does".into()));
    // Nor does anything overrule what no file says.
    let mut verdict = verdict("", "");
    verdict.objections.push(Objection { why: "its code can't be read".into(), ..Objection::default() });
    code.inspected(&verdict, 1, vec![checked("ab12", true), checked("1b", true)]);
    assert_eq!(code.teams, Teams::Fixed("its code can't be read".into()));
}

#[test]
fn what_a_check_of_ones_own_refuses_nothing_else_permits() {
    let mut code = Code::pending(1, false, None);
    code.inspected(&verdict("it stores the size", ""), 1, vec![checked("ab12", true)]);
    assert_eq!(code.teams, Teams::Resizable);
    code.checked(checked("ab12", false));
    assert!(matches!(&code.teams, Teams::Fixed(why) if why.contains("a check on 2026-11-25")));
    // The same of a library.
    let mut code = Code::pending(1, false, None);
    code.inspected(&verdict("", ""), 1, vec![checked("1b", false)]);
    assert!(matches!(&code.teams, Teams::Fixed(why) if why.contains("a check on 2026-11-25")));
}
