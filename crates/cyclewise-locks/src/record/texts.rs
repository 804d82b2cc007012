//! Replacing the texts of a document, whatever fields it has.

use super::Locks;
use crate::error::{Error, Result};
use serde_json::Value;

/// The document with each of its texts replaced.
///
/// # Errors
/// Exit 3: a number that JSON has not, or a replacement that leaves no such document.
pub fn with_texts(locks: &Locks, by: &dyn Fn(&str) -> String) -> Result<Locks> {
    let failed = |e| Error::unsupported(format!("the document's texts cannot be replaced: {e}; run again"));
    let mut document = serde_json::to_value(locks).map_err(failed)?;
    replace(&mut document, by);
    serde_json::from_value(document).map_err(failed)
}

fn replace(value: &mut Value, by: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = by(text),
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, by)),
        Value::Object(fields) => fields.iter_mut().for_each(|(_, value)| replace(value, by)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up;

    #[test]
    fn texts_are_replaced_and_nothing_else() {
        let locks = made_up::cplusplus();
        assert_eq!(with_texts(&locks, &str::to_owned).unwrap(), locks);
        let function = &locks.profile.sites[0].frames[0].function;
        let hidden = with_texts(&locks, &|text| text.replace(function.as_str(), "hidden")).unwrap();
        assert!(hidden.profile.sites[0].frames[0].function == "hidden" && hidden != locks);
        assert_eq!(hidden.profile.instructions, locks.profile.instructions);
        // A class is a text as well, and one that nobody knows makes no document.
        let error = with_texts(&locks, &|_| "x".to_owned()).unwrap_err();
        assert!(error.message.contains("cannot be replaced"), "{error}");
    }
}
