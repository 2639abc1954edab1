//! A record without the bytes that were unpacked from it.

use std::borrow::Cow;

use super::Resource;

/// The record without the bytes that stand in it by value, where it also says where they can be got. What it says of
/// them stays. The resources are those that were read from this very record.
pub fn without_values<'a>(record: &'a [u8], resources: &[Resource<'_>]) -> Cow<'a, [u8]> {
    let referred = resources
        .iter()
        .filter(|resource| resource.reference.is_some() && resource.value.is_some());
    let mut elements: Vec<_> = referred.map(|resource| resource.element.clone()).collect();
    if elements.is_empty() {
        return Cow::Borrowed(record);
    }
    elements.sort_by_key(|element| element.start);
    let mut rest = Vec::new();
    let mut end = 0;
    for element in elements {
        rest.extend_from_slice(record.get(end..element.start).unwrap_or_default());
        end = element.end;
    }
    rest.extend_from_slice(record.get(end..).unwrap_or_default());
    Cow::Owned(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unpack::resources;

    #[test]
    fn only_bytes_that_can_be_got_elsewhere_are_cut_out() {
        let record = "<record><DIDL xmlns='urn:mpeg:mpeg21:2002:02-DIDL-NS'><Item>\
            <Component><Resource encoding='base64'>aGVsbG8=</Resource><Resource ref='http://a.example/1'/></Component>\
            <Component><Descriptor><Statement mimeType='text/xml'><Identifier xmlns='urn:mpeg:mpeg21:2002:01-DII-NS'>\
            http://a.example/2</Identifier></Statement></Descriptor>\
            <Resource encoding='base64'>aGVsbG8=</Resource></Component></Item></DIDL></record>";
        let found = resources(record.as_bytes()).unwrap();

        let rest = without_values(record.as_bytes(), &found);

        let expected = record.replacen("<Resource encoding='base64'>aGVsbG8=</Resource>", "", 1);
        assert_eq!(String::from_utf8_lossy(&rest), expected);
        assert_eq!(resources(&rest).unwrap().len(), 2);
    }
}
