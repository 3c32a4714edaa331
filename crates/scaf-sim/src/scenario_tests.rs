use super::*;
use proptest::prelude::*;

const SMALL: &str = r#"
name = "small"
machine = "core:4 pu:1"
[[programs]]
name = "a"
[[programs.phases]]
times = 3
serial_s = 1.0
[[programs.phases.regions]]
seconds = 2.0
times = 5
speedup = { points = [[2, 2.0], [4, 2.5]] }
"#;

#[test]
fn a_scenario_is_read_with_what_is_measured_for_what_it_leaves_out() {
    let scenario = Scenario::parse(SMALL).unwrap();
    assert_eq!(scenario.mechanisms, Mechanisms::default());
    let program = &scenario.programs[0];
    assert_eq!((program.work_s(), program.time_s(2), program.weight), (33.0, 18.0, 1.0));
    assert_eq!(scenario.topology().unwrap().pus.len(), 4);
}

#[test]
fn a_part_of_the_machine_may_be_there_for_a_while() {
    let text = SMALL.replace("[[programs]]", "capacity = [[1.0, 2], [3.0, 9]]\n[[programs]]");
    let scenario = Scenario::parse(&text).unwrap();
    assert_eq!([0.0, 1.0, 2.9, 3.0].map(|now_s| scenario.capacity_at(now_s, 4)), [4, 2, 2, 4]);
}

#[test]
fn a_key_that_there_is_not_is_refused() {
    for line in ["colour = 1", "arives_s = 2", "name = 3"] {
        assert!(Scenario::parse(&SMALL.replace("name = \"a\"", line)).is_err(), "{line}");
    }
}

#[test]
fn a_value_that_makes_no_sense_is_told_with_its_place() {
    let wrong = |from: &str, to: &str| Scenario::parse(&SMALL.replace(from, to)).unwrap_err().to_string();
    assert!(wrong("serial_s = 1.0", "serial_s = -1.0").contains("a: serial_s"));
    assert!(wrong("seconds = 2.0", "seconds = nan").contains("a: region"));
    assert!(wrong("[4, 2.5]", "[2, 2.5]").contains("growing DoPs"));
    assert!(wrong("times = 5", "times = 0").contains("times"));
    assert!(
        wrong("[[programs]]", "capacity = [[2.0, 1], [1.0, 2]]\n[[programs]]").contains("in their order")
    );
}

#[test]
fn a_machine_that_there_is_not_is_told() {
    let scenario = Scenario::parse(&SMALL.replace("core:4 pu:1", "bogus:3")).unwrap();
    assert!(scenario.topology().unwrap_err().to_string().contains("bogus"));
}

proptest! {
    #[test]
    fn any_text_is_a_scenario_or_an_error(text in "\\PC{0,200}", cut in 0usize..300) {
        let _ = Scenario::parse(&text);
        let cut = cut.min(SMALL.len());
        let _ = Scenario::parse(&format!("{}{text}{}", &SMALL[..cut], &SMALL[cut..]));
    }

    #[test]
    fn what_is_written_is_read_again(seconds in 1e-6f64..1e3, times in 1u32..1000, serial_s in 0.0f64..1e3) {
        let mut scenario = Scenario::parse(SMALL).unwrap();
        scenario.programs[0].phases[0].serial_s = serial_s;
        scenario.programs[0].phases[0].regions[0].seconds = seconds;
        scenario.programs[0].phases[0].regions[0].times = times;
        let text = toml::to_string(&scenario).unwrap();
        prop_assert_eq!(Scenario::parse(&text).unwrap(), scenario);
    }
}
