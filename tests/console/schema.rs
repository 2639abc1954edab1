//! JSON held against a schema of an OpenAPI description: as much of JSON Schema as such descriptions use, and stricter
//! in one thing: what is not described must not be there.

use std::collections::BTreeSet;

use serde_json::Value;

/// A description.
pub(super) struct Description(pub(super) Value);

impl Description {
    /// The faults of a value, each with its place.
    pub(super) fn wrong(&self, schema: &Value, value: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        self.check(schema, value, "$", &mut wrong);
        self.check_names(schema, value, "$", &mut wrong);
        wrong
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let Some(reference) = schema["$ref"].as_str() else {
            return schema;
        };
        let pointer = reference.strip_prefix('#').unwrap();
        let found = self.0.pointer(pointer);
        self.resolved(found.unwrap_or_else(|| panic!("{reference} leads nowhere")))
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
        let schema = self.resolved(schema);
        let types = match &schema["type"] {
            Value::String(one) => vec![one.as_str()],
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if !types.is_empty() && !types.iter().any(|one| is_a(value, one)) {
            wrong.push(format!("{at}: {value} is not {types:?}"));
            return;
        }
        if let Some(allowed) = schema["enum"].as_array()
            && !allowed.contains(value)
        {
            wrong.push(format!("{at}: {value} is none of {allowed:?}"));
        }
        if let (Some(text), "date-time") = (
            value.as_str(),
            schema["format"].as_str().unwrap_or_default(),
        ) && !is_date(text)
        {
            wrong.push(format!("{at}: {text} is no date"));
        }
        if let (Some(number), Some(least)) = (value.as_f64(), schema["minimum"].as_f64())
            && number < least
        {
            wrong.push(format!("{at}: {number} is less than {least}"));
        }
        for part in list(&schema["allOf"]) {
            self.check(part, value, at, wrong);
        }
        for choice in ["oneOf", "anyOf"] {
            let parts = list(&schema[choice]);
            let reasons: Vec<_> = parts.iter().map(|part| self.wrong(part, value)).collect();
            if !parts.is_empty() && !reasons.iter().any(Vec::is_empty) {
                wrong.push(format!("{at}: no choice fits: {reasons:?}"));
            }
        }
        if let Some(members) = value.as_object() {
            for name in list(&schema["required"]).iter().filter_map(Value::as_str) {
                if !members.contains_key(name) {
                    wrong.push(format!("{at}: {name} is missing"));
                }
            }
            for (name, member) in members {
                let described = &schema["properties"][name];
                if !described.is_null() {
                    self.check(described, member, &format!("{at}.{name}"), wrong);
                    self.check_names(described, member, &format!("{at}.{name}"), wrong);
                }
            }
        }
        if let (Some(items), described @ Value::Object(_)) = (value.as_array(), &schema["items"]) {
            for (number, item) in items.iter().enumerate() {
                self.check(described, item, &format!("{at}[{number}]"), wrong);
                self.check_names(described, item, &format!("{at}[{number}]"), wrong);
            }
        }
    }

    /// Finds members that no part of a schema describes.
    fn check_names(&self, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
        let Some(members) = value.as_object() else {
            return;
        };
        let mut names = BTreeSet::new();
        if self.names(schema, &mut names) {
            return;
        }
        let unknown = members.keys().filter(|name| !names.contains(*name));
        wrong.extend(unknown.map(|name| format!("{at}: {name} is not described")));
    }

    /// Gathers the names that a schema describes; whether it takes any.
    fn names(&self, schema: &Value, names: &mut BTreeSet<String>) -> bool {
        let schema = self.resolved(schema);
        if let Some(properties) = schema["properties"].as_object() {
            names.extend(properties.keys().cloned());
        }
        let choices = ["allOf", "oneOf", "anyOf"].map(|choice| list(&schema[choice]));
        let parts: Vec<_> = choices.iter().flat_map(|parts| parts.iter()).collect();
        let is_open =
            schema["properties"].is_null() && parts.is_empty() && schema["type"] != "null";
        let more = &schema["additionalProperties"];
        let takes_more = *more == Value::Bool(true) || more.is_object();
        let mut any = is_open || takes_more;
        for part in parts {
            any |= self.names(part, names);
        }
        any
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("{other} is no type"),
    }
}

fn is_date(text: &str) -> bool {
    let shape: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    shape == "0000-00-00T00:00:00Z"
}

#[test]
fn what_does_not_fit_a_schema_is_found() {
    let description = Description(serde_json::json!({ "components": { "schemas": {
        "Thing": { "type": "object", "required": ["id"], "properties": {
            "id": { "type": "integer", "minimum": 1 },
            "at": { "type": ["string", "null"], "format": "date-time" },
            "kind": { "enum": ["a", "b"] },
            "parts": { "type": "array", "items": { "$ref": "#/components/schemas/Thing" } },
        } },
    } } }));
    let schema = serde_json::json!({ "$ref": "#/components/schemas/Thing" });
    let good = serde_json::json!({ "id": 1, "at": null, "kind": "a", "parts": [{ "id": 2, "at": "2026-01-31T12:00:00Z" }] });
    assert_eq!(description.wrong(&schema, &good), Vec::<String>::new());
    for bad in [
        serde_json::json!({}),
        serde_json::json!({ "id": "1" }),
        serde_json::json!({ "id": 0 }),
        serde_json::json!({ "id": 1, "at": "yesterday" }),
        serde_json::json!({ "id": 1, "kind": "c" }),
        serde_json::json!({ "id": 1, "more": 1 }),
        serde_json::json!({ "id": 1, "parts": [{ "id": 2, "more": 1 }] }),
    ] {
        assert_eq!(description.wrong(&schema, &bad).len(), 1, "{bad}");
    }
}
