use super::*;
use scaf_inspect::Origin;

fn verdict(why: &str, others: &str) -> Verdict {
    let origin = Some(Origin { executable: "ab12".into(), arguments: 0, modules: vec![] });
    let (resizable, why, others) = (why.is_empty(), why.into(), others.into());
    Verdict { resizable, why, others, origin, ..Verdict::default() }
}

fn checked(executable: &str, resizable: bool) -> Checked {
    let [executable, name, date] = [executable, "cg", "2026-11-25"].map(str::to_owned);
    Checked { executable, name, resizable, date, runs: 10 }
}

#[test]
fn what_was_checked_counts_in_place_of_the_verdict_about_the_executable() {
    let mut code = Code::pending(1, false, None);
    code.checked(checked("ab12", true));
    assert_eq!(code.teams, Teams::Pending);
    code.inspected(&verdict("it stores the size", ""), 1);
    assert_eq!(code.teams, Teams::Resizable);
    assert!(code.permission().contains("10 runs on 2026-11-25"));
    code.inspected(&verdict("it stores the size", "libx does"), 2);
    assert_eq!(code.teams, Teams::Fixed("libx does".into()));
    assert!(code.permission().is_empty());
}

#[test]
fn it_counts_for_that_executable_only_and_may_say_no() {
    let mut code = Code::pending(1, false, None);
    code.inspected(&verdict("it stores the size", ""), 1);
    code.checked(checked("cd34", true));
    assert_eq!(code.teams, Teams::Fixed("it stores the size".into()));
    code.inspected(&verdict("", ""), 1);
    assert_eq!((code.teams.clone(), code.permission()), (Teams::Resizable, String::new()));
    code.checked(checked("ab12", false));
    assert!(matches!(&code.teams, Teams::Fixed(why) if why.contains("a check on 2026-11-25")));
}

#[test]
fn exact_results_count_for_more() {
    let mut code = Code::pending(1, true, None);
    code.checked(checked("ab12", true));
    code.inspected(&verdict("it stores the size", ""), 1);
    assert!(matches!(&code.teams, Teams::Fixed(why) if why.contains("--exact")));
    assert!(code.permission().is_empty());
}
