//! What is shipped agrees with the daemon: the configuration file's commented-out lines are the defaults, and
//! it has the keys that the documentation has.

use scafd::config::{Config, Gang};
use std::path::Path;

const SHIPPED: &str = include_str!("../../../packaging/scafd.toml");
const DOCUMENTED: &str = include_str!("../../../docs/guide/configuration.md");

/// The file with its keys in force: a key's line begins with "#" and no blank.
fn uncommented() -> String {
    let lines = SHIPPED.lines().map(|line| match line.strip_prefix('#') {
        Some(key) if !key.is_empty() && !key.starts_with(' ') => key,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_shipped_file_changes_nothing() {
    assert_eq!(Config::parse(Path::new("shipped"), SHIPPED).unwrap(), Config::default());
}

#[test]
fn what_it_has_commented_out_are_the_defaults() {
    let config = Config::parse(Path::new("shipped"), &uncommented()).unwrap();
    // These have no default, or one by the daemon's scope: what it shows of them is an example.
    let expected = Config {
        idle_exit_s: Some(0),
        gang: Some(Gang::Off),
        memory_dir: Some(scafd::paths::SYSTEM_MEMORY.into()),
        verdicts: Some("/etc/scaf/verdicts.toml".into()),
        events: config.events.clone(),
        profiles: config.profiles.clone(),
        ..Config::default()
    };
    assert_eq!(config, expected);
    assert!(config.profiles.len() == 1 && config.events.iter().flatten().count() == 1);
}

#[test]
fn it_has_every_key_that_is_documented() {
    let table = DOCUMENTED.split("\n## ").next().unwrap();
    let documented = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    for key in documented {
        let (plain, group) = (format!("\n#{key} = "), format!("\n#[{key}]"));
        assert!(SHIPPED.contains(&plain) || SHIPPED.contains(&group), "{key} is missing");
    }
}
