use super::*;

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(Path::new("/etc/scaf/scafd.toml"), text).map_err(|e| e.to_string())
}

#[test]
fn an_empty_file_says_nothing_new() {
    assert_eq!(parse("").unwrap(), Config::default());
}

fn given(dop: u32, value: f64) -> Measured {
    Measured { dop, speedup: Estimate { value, error: GIVEN_ERROR } }
}

#[test]
fn every_key_is_taken_in() {
    let text = "policy = 'equi'\nobjective = 'fair'\nfloor = 0.25\nplacement = 'along'\nrate_hz = 10\n\
                idle_exit_s = 5\nrc_s = 0.5\nmax_clients_per_uid = 3\n\
                tell = 'all'\nusers = 'by-program'\nlease_s = 2\nreserve = 1\n\
                count_load = false\nexplore = true\nmemory = false\nmemory_dir = '/m'\nverdicts = '/v'\n\
                experiments = 'lazy'\nexperiment_again_s = 60\ngang = 'auto'\ngang_by = 'signal'\n\
                slice_ms = 100\nuser = 'daemon'\ncounters = 'off'\n[events]\ncycles = 'cpu-clock'\n\
                [profiles]\ncg = { 10 = 5, 2 = 1.9 }\n'my program'.4 = 3.5\n";
    let config = parse(text).unwrap();
    assert_eq!(
        config,
        Config {
            policy: "equi".into(),
            objective: Objective::Fair,
            floor: 0.25,
            profiles: BTreeMap::from([
                ("cg".into(), vec![given(2, 1.9), given(10, 5.0)]),
                ("my program".into(), vec![given(4, 3.5)]),
            ]),
            placement: Style::Along,
            rate_hz: 10.0,
            idle_exit_s: Some(5),
            rc_s: 0.5,
            max_clients_per_uid: 3,
            tell: Visible::All,
            users: Users::ByProgram,
            lease_s: 2.0,
            reserve: 1,
            count_load: false,
            explore: true,
            memory: false,
            memory_dir: Some("/m".into()),
            verdicts: Some("/v".into()),
            counters: false,
            events: std::array::from_fn(|at| {
                (at == Event::Cycles as usize).then(|| "cpu-clock".parse().unwrap())
            }),
            experiments: When::Lazy,
            experiment_again_s: 60,
            gang: Some(Gang::Auto),
            gang_by: GangBy::Signal,
            slice_ms: 100,
            user: "daemon".into(),
        }
    );
}

#[test]
fn an_unknown_key_is_named_with_its_line() {
    let error = parse("# mine\n\nspeed = 3\n").unwrap_err();
    assert!(error.starts_with("/etc/scaf/scafd.toml:3: "), "{error}");
    assert!(error.contains("speed"), "{error}");
}

#[test]
fn what_is_no_toml_is_named_with_its_line() {
    assert!(parse("rate_hz = 4\nrc_s = = 1\n").unwrap_err().starts_with("/etc/scaf/scafd.toml:2: "));
}

#[test]
fn a_value_out_of_range_is_named_with_its_line_and_the_range() {
    for (text, range) in [
        ("\nrate_hz = 0", "0.1 and 100"),
        ("\nrate_hz = nan", "0.1 and 100"),
        ("\nrc_s = inf", "0 and 60"),
        ("\nfloor = 1.5", "0 and 1"),
        ("\nfloor = nan", "0 and 1"),
        ("\nobjective = 'best'", "`throughput` or `fair`"),
        ("\nplacement = 'dense'", "`compact`, `spread`"),
        ("\nprofiles.cg = { 2 = -1 }", "profiles.cg: the speedup on 2 is -1"),
        ("\nprofiles.cg.2 = nan", "0.001 and 65535"),
        ("\nprofiles.cg = { two = 2 }", "'two' is no number of contexts"),
        ("\nprofiles.cg = { 0 = 2 }", "'0' is no number of contexts"),
        ("\nmax_clients_per_uid = 0", "1 and 1024"),
        ("\ntell = 'none'", "`own` or `all`"),
        ("\nlease_s = 0", "1 and 600"),
        ("\nmemory_dir = 'm'", "begin with /"),
        ("\nverdicts = 'v'", "verdicts is 'v'; it has to begin with /"),
        ("\nslice_ms = 5", "20 and 1000"),
        ("\ngang = 'on'", "`off`, `asked`, `spinning`, `auto`"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.starts_with("/etc/scaf/scafd.toml:2: ") && error.contains(range), "{error}");
    }
}

#[test]
fn an_unknown_policy_is_answered_with_those_there_are() {
    let error = parse("policy = 'best'").unwrap_err();
    assert!(error.contains("'best'") && error.contains("equi") && error.contains("unmanaged"), "{error}");
}

#[test]
fn a_wrong_event_is_named_with_its_line() {
    let error = parse("reserve = 1\n[events]\ncycles = 'cykles'\n").unwrap_err();
    assert!(error.starts_with("/etc/scaf/scafd.toml:3: events.cycles: 'cykles' names no event"), "{error}");
    let error = parse("[events]\nllc_hit = 'LLC-loads'\n").unwrap_err();
    assert!(error.starts_with("/etc/scaf/scafd.toml:2: ") && error.contains("llc_accesses"), "{error}");
    let error = parse("\ncounters = 'on'").unwrap_err();
    assert!(error.starts_with("/etc/scaf/scafd.toml:2: counters is 'on'"), "{error}");
    for event in Event::ALL {
        let config = parse(&format!("events.{} = 'task-clock'", event.key())).unwrap();
        assert!(config.events.iter().enumerate().all(|(at, name)| name.is_some() == (at == event as usize)));
    }
}

#[test]
fn a_missing_file_is_named() {
    assert!(Config::load(Path::new("/nonexistent")).unwrap_err().to_string().starts_with("/nonexistent: "));
}
