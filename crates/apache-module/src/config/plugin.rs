//! One `OaiPlugin`: options as `key=value`, then the program with its arguments.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use site::plugin::{OutputForm, Plugin, PluginFormat, PluginRule};

/// Reads the arguments of the directive.
pub(super) fn parse(words: &[String]) -> Result<PluginRule, String> {
    let Some((name, words)) = words.split_first() else {
        return Err(USAGE.to_owned());
    };
    let program = words.iter().position(|word| word.starts_with('/'));
    let (options, command) = words.split_at(program.ok_or(USAGE)?);
    let mut rule = PluginRule {
        name: name.clone(),
        media_types: Vec::new(),
        url_pattern: None,
        command: command.to_vec(),
        output: OutputForm::Xml,
        separator: None,
        map: BTreeMap::new(),
        timeout_seconds: 10,
        memory_mb: 512,
        output_kb: 256,
        confined: true,
        readable: Vec::new(),
        format: None,
    };
    for option in options {
        let (key, value) = option.split_once('=').ok_or(USAGE)?;
        set(&mut rule, key, value)?;
    }
    if rule.media_types.is_empty() {
        rule.media_types.push("*/*".to_owned());
    }
    // Tried here, so that what cannot work stops the start with its line.
    Plugin::compile(rule.clone(), Path::new("/")).map_err(|error| error.to_string())?;
    match rule.command.first() {
        Some(program) if !Path::new(program).is_file() => {
            Err(format!("there is no program `{program}`"))
        }
        _ => Ok(rule),
    }
}

fn set(rule: &mut PluginRule, key: &str, value: &str) -> Result<(), String> {
    match key {
        "type" => rule.media_types.push(value.to_owned()),
        "url" => rule.url_pattern = Some(value.to_owned()),
        "output" => {
            rule.output = match value {
                "xml" => OutputForm::Xml,
                "text" => OutputForm::Text,
                "key-value" => OutputForm::KeyValue,
                _ => return Err(format!("output is xml, text or key-value, not `{value}`")),
            }
        }
        "separator" => rule.separator = Some(value.to_owned()),
        "map" => {
            let (from, to) = value
                .split_once(':')
                .ok_or("map is written as key:dc:element, such as map=Title:dc:title")?;
            rule.map.insert(from.to_owned(), to.to_owned());
        }
        "timeout" => rule.timeout_seconds = number(key, value)?,
        "memory" => rule.memory_mb = number(key, value)?,
        "size" => rule.output_kb = number(key, value)?,
        "confined" => {
            rule.confined = match value {
                "on" => true,
                "off" => false,
                _ => return Err(format!("confined is on or off, not `{value}`")),
            }
        }
        "readable" => rule.readable.push(value.into()),
        "format" => format(rule).prefix = value.to_owned(),
        "namespace" => format(rule).namespace = value.to_owned(),
        "schema" => format(rule).schema = value.to_owned(),
        _ => return Err(format!("there is no option `{key}`; {USAGE}")),
    }
    Ok(())
}

fn format(rule: &mut PluginRule) -> &mut PluginFormat {
    rule.format.get_or_insert_with(|| PluginFormat {
        prefix: String::new(),
        namespace: String::new(),
        schema: String::new(),
    })
}

fn number<T: FromStr>(key: &str, value: &str) -> Result<T, String> {
    let number = value.parse();
    number.map_err(|_| format!("{key} takes a number, not `{value}`"))
}

const USAGE: &str = "it takes a name, options (type=, url=, output=, separator=, map=, timeout= in seconds, \
     memory= in MB, size= in KB, confined=, readable=, format=, namespace=, schema=), and the program by its absolute path with its arguments; {file} and {url} stand for \
     the file";
