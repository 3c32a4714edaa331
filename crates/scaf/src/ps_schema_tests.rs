//! Makes docs/guide/ps.schema.json from the fields' descriptions, and holds `scaf ps --json` against it, by a
//! reader of the part of JSON Schema that is used there. It refuses keywords that it doesn't know, so
//! nothing passes because it is overlooked.

use super::tests::{program, snapshot};
use crate::generated::{DOCS, same};
use scafd::control::field::{Field, Kind, Table};
use scafd::control::{Counters, CurvePoint, Experiments, Program, Snapshot, Tried, Turns};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

fn schema() -> Value {
    serde_json::from_str(
        &std::fs::read_to_string(std::path::Path::new(DOCS).join("guide/ps.schema.json")).unwrap(),
    )
    .unwrap()
}

/// Of a value; structs are added to `tables`.
fn kind(kind: &Kind, tables: &mut BTreeMap<&str, &'static Table>) -> Value {
    match kind {
        Kind::Integer => json!({ "type": "integer", "minimum": 0 }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Struct(table) | Kind::Flat(table) => {
            if tables.insert(table.name, table).is_none() {
                table.fields.iter().for_each(|field| _ = self::kind(&field.kind, tables));
            }
            json!({ "$ref": format!("#/$defs/{}", table.name) })
        }
        Kind::List(of) => json!({ "type": "array", "items": self::kind(of, tables) }),
        Kind::OrNull(of @ (Kind::Integer | Kind::Number | Kind::Text)) => {
            let mut value = self::kind(of, tables);
            value["type"] = json!([value["type"], "null"]);
            value
        }
        Kind::OrNull(of) => json!({ "anyOf": [self::kind(of, tables), { "type": "null" }] }),
    }
}

/// All of it, a line a field.
fn generated() -> String {
    let mut tables = BTreeMap::from([("Snapshot", &Snapshot::TABLE)]);
    Snapshot::TABLE.fields.iter().for_each(|field| _ = kind(&field.kind, &mut tables));
    let mut unused = tables.clone();
    let flat = |field: &'static Field| match field.kind {
        Kind::Flat(table) => table.fields,
        _ => std::slice::from_ref(field),
    };
    let line = |value: &Value| serde_json::to_string(value).unwrap();
    let texts = tables.values().filter(|table| !table.about.is_empty()).map(|table| {
        let fields: Vec<&Field> = table.fields.iter().flat_map(flat).collect();
        let properties = fields.iter().map(|field| {
            let mut value = kind(&field.kind, &mut unused);
            let unit =
                if field.shown.unit.is_empty() { String::new() } else { format!(" ({})", field.shown.unit) };
            value["description"] = format!("{}{unit}", field.about.trim().trim_end_matches('.')).into();
            format!("{}: {}", line(&field.key.into()), line(&value))
        });
        let properties = properties.collect::<Vec<_>>().join(",\n    ");
        let required = line(&fields.iter().map(|field| field.key).collect());
        let about = line(&table.about.trim().trim_end_matches('.').into());
        format!(
            "  {}: {{\"description\": {about}, \"type\": \"object\", \"additionalProperties\": false,\n   \
             \"required\": {required},\n   \"properties\": {{\n    {properties}}}}}",
            line(&table.name.into()),
        )
    });
    format!(
        r##"{{
 "$schema": "https://json-schema.org/draft/2020-12/schema",
 "$id": "https://github.com/scaf-project/scaf/docs/ps.schema.json",
 "title": "scaf ps --json",
 "description": {},
 "$ref": "#/$defs/Snapshot",
 "$defs": {{
{}
 }}
}}
"##,
        line(
            &"The daemon's snapshot. Times end in _ns and are nanoseconds of CLOCK_MONOTONIC. Further keys \
              may come; those that are here stay."
                .into()
        ),
        texts.collect::<Vec<_>>().join(",\n")
    )
}

#[test]
fn the_schema_is_made_from_the_fields() {
    same("guide/ps.schema.json", |_| generated());
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("there is no type {other}"),
    }
}

/// What is wrong with `value`, at `at`.
fn wrong(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let fail = |what: &str| Err(format!("{at}: {what}: {value}"));
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    for (keyword, said) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "$ref" => {
                let path = said.as_str().unwrap().strip_prefix('#').unwrap();
                wrong(root, root.pointer(path).unwrap(), value, at)?;
            }
            "type" => {
                let fits = match said {
                    Value::Array(kinds) => kinds.iter().any(|kind| is(kind.as_str().unwrap(), value)),
                    kind => is(kind.as_str().unwrap(), value),
                };
                if !fits {
                    return fail("another type");
                }
            }
            "enum" if !said.as_array().unwrap().contains(value) => return fail("not one of these"),
            "minimum" if value.as_f64() < said.as_f64() => return fail("too small"),
            "anyOf" => {
                let all = said.as_array().unwrap();
                if all.iter().all(|one| wrong(root, one, value, at).is_err()) {
                    return fail("none of these");
                }
            }
            "required" => {
                for key in said.as_array().unwrap() {
                    if value.get(key.as_str().unwrap()).is_none() {
                        return fail(&format!("{key} is missing"));
                    }
                }
            }
            "additionalProperties" => {
                assert_eq!(*said, Value::Bool(false));
                for key in value.as_object().map_or_else(Vec::new, |it| it.keys().collect()) {
                    if !properties.contains_key(key) {
                        return fail(&format!("{key} isn't documented"));
                    }
                }
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    wrong(root, said, item, &format!("{at}/{number}"))?;
                }
            }
            "properties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = properties.get(key) {
                        wrong(root, schema, value, &format!("{at}/{key}"))?;
                    }
                }
            }
            "$schema" | "$id" | "$defs" | "title" | "description" | "enum" | "minimum" => {}
            other => panic!("what does {other} mean?"),
        }
    }
    Ok(())
}

/// One with everything in it.
fn full() -> Value {
    let rates = r#"{"instructions_per_s":1e9,"cycles_per_s":null,"ipc":1.5,"stall_ratio":null,
        "l2_hit_ratio":null,"llc_hit_ratio":null,"contention_ratio":null,"counted_ratio":1.0}"#;
    let counters = Counters {
        rates: serde_json::from_str(rates).unwrap(),
        speedup: Some(2.0),
        speedup_dop: Some(4),
        error_ratio: None,
    };
    let point = CurvePoint {
        dop: 4,
        speedup: 2.5,
        error_ratio: 0.1,
        observed: None,
        sources: vec![scaf_policy::fusion::Source::Useful, scaf_policy::fusion::Source::Curve],
    };
    let whole = Program {
        counters: Some(counters),
        curve: vec![point],
        experiments: Experiments { made: 1, measured: 0, latest: "too long".into() },
        ..program()
    };
    let turn = scaf_policy::Turn { slices: 1, members: vec![scaf_policy::ProgramId(1)] };
    let by = scafd::apply::gang::stop::Way::FreezeV2;
    let tried = Tried { pid: 1, uid: 2, executable: "/x".into(), sizes: vec![3], elsewhere: false };
    let unmanaged = Program { dop: None, ..program() };
    serde_json::to_value(Snapshot {
        turns: Some(Turns { by, slice_ms: 50, round: vec![turn] }),
        tried: vec![tried],
        other_versions: vec![scafd::control::OtherVersion { pid: 1, uid: 2, protocol: 8 }],
        quota: Some(1.5),
        ..snapshot(vec![whole, unmanaged])
    })
    .unwrap()
}

#[test]
fn what_is_printed_is_what_is_documented() {
    let schema = schema();
    wrong(&schema, &schema, &full(), "").unwrap();
    let plain = serde_json::to_value(snapshot(vec![])).unwrap();
    wrong(&schema, &schema, &plain, "").unwrap();
}

#[test]
fn what_is_missing_new_or_of_another_type_is_noticed() {
    let schema = schema();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value = full();
        change(&mut value);
        wrong(&schema, &schema, &value, "")
    };
    assert!(with(&|it| it["more"] = 1.into()).unwrap_err().contains("more isn't documented"));
    assert!(with(&|it| it["programs"][0]["more"] = 1.into()).is_err());
    assert!(with(&|it| it["capacity"] = "3".into()).unwrap_err().contains("/capacity"));
    assert!(with(&|it| it["programs"][0]["mechanism"] = "magic".into()).is_err());
    assert!(with(&|it| _ = it.as_object_mut().unwrap().remove("others")).is_err());
    assert!(with(&|it| it["turns"]["by"] = 3.into()).is_err());
}

#[test]
fn every_mechanism_is_documented() {
    let schema = schema();
    let names = schema["$defs"]["Program"]["properties"]["mechanism"]["enum"].as_array().unwrap();
    let known: Vec<&str> =
        (0..=255).filter_map(|it| Some(scafd::control::Mechanism::from_number(it)?.name())).collect();
    assert!(!known.is_empty() && known.iter().all(|name| names.contains(&Value::from(*name))), "{known:?}");
}
