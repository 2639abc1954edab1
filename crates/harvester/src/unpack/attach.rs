//! Joins the values that were taken out of a record to the resources of that record.

use super::{Resource, SpooledValue, Value};

/// Gives each value to the resource in whose element its text stood. The resources are those that were read from the very
/// record that the values were taken out of. Returns the values that belong to no resource.
pub fn attach(resources: &mut [Resource<'_>], values: Vec<SpooledValue>) -> Vec<SpooledValue> {
    let mut left = Vec::new();
    for mut value in values {
        let mut owners = resources.iter_mut();
        let owner = owners
            .find(|resource| resource.value.is_some() && resource.element.contains(&value.at()));
        match owner {
            Some(resource) => {
                // A comment or a second stretch of digits: the bytes are only a part.
                let is_all =
                    matches!(&resource.value, Some(Value::Inline(rest)) if rest.is_blank());
                if !is_all {
                    value.refuse();
                }
                resource.value = Some(Value::Spooled(value));
            }
            None => left.push(value),
        }
    }
    left
}
