//! What a user of the library calls first has an example: functions, macros, and types that can be made by name.
//!
//! An item has one where its documentation has a program, or where a program in the documentation of its module or of the
//! crate names it. What only comes out of calls (guards, answers, errors) is shown with what it comes out of.

use serde_json::Value;

/// The public items that have no example, by path.
pub(super) fn lacking(json: &Value) -> Vec<String> {
    let index = Index(&json["index"]);
    let mut found = Vec::new();
    if let Some(root) = index.get(&json["root"]) {
        index.search(root, "", "", &mut found);
    }
    found.sort();
    found.dedup();
    found
}

/// The items by number.
struct Index<'a>(&'a Value);

impl<'a> Index<'a> {
    fn get(&self, id: &Value) -> Option<&'a Value> {
        self.0.get(id.as_u64()?.to_string())
    }

    /// Searches an item, and the public items of a module; `around` has the programs of the modules that it is in.
    fn search(&self, item: &'a Value, path: &str, around: &str, found: &mut Vec<String>) {
        let name = item["name"].as_str().unwrap_or("?");
        let path = if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}::{name}")
        };
        let programs = programs(item["docs"].as_str().unwrap_or(""));
        if let Some(module) = item["inner"].get("module") {
            let around = format!("{around}\n{programs}");
            for id in list(&module["items"]) {
                if let Some(member) = self.get(id).and_then(|member| self.resolved(member)) {
                    self.search(member, &path, &around, found);
                }
            }
        } else if self.comes_first(item) && programs.is_empty() && !names(around, name) {
            found.push(path);
        }
    }

    /// What a `pub use` of a single item of this crate names; the item itself otherwise.
    fn resolved(&self, item: &'a Value) -> Option<&'a Value> {
        match item["inner"].get("use") {
            Some(import) => self.get(&import["id"]),
            None => Some(item),
        }
    }

    fn comes_first(&self, item: &Value) -> bool {
        let inner = &item["inner"];
        if inner.get("function").is_some() || inner.get("macro").is_some() {
            return true;
        }
        let of_type = ["struct", "enum", "union"].iter().find_map(|kind| inner.get(kind));
        let impls = of_type.map_or(&[][..], |of_type| list(&of_type["impls"]));
        impls
            .iter()
            .filter_map(|id| self.get(id))
            .any(|block| self.makes(&block["inner"]["impl"]))
    }

    /// Whether an inherent `impl` has a public function that makes the type without having one.
    fn makes(&self, block: &Value) -> bool {
        let functions = list(&block["items"]).iter().filter_map(|id| self.get(id));
        let mut public = functions.filter(|f| f["visibility"] == "public");
        block["trait"].is_null()
            && public.any(|f| {
                let signature = &f["inner"]["function"]["sig"];
                let of_self = list(&signature["inputs"])
                    .first()
                    .is_some_and(|input| input[0] == "self");
                !of_self && is_self(&signature["output"], &block["for"])
            })
    }
}

/// `Self`, the type by its name, or an `Option` or a `Result` of it.
fn is_self(output: &Value, this: &Value) -> bool {
    let path = &output["resolved_path"];
    output["generic"] == "Self"
        || (!path["id"].is_null() && path["id"] == this["resolved_path"]["id"])
        || (["Option", "Result"]
            .iter()
            .any(|name| path["path"].as_str().is_some_and(|path| path.ends_with(name)))
            && list(&path["args"]["angle_bracketed"]["args"])
                .first()
                .is_some_and(|first| is_self(&first["type"], this)))
}

/// The Rust programs of a documentation, which are documentation tests.
fn programs(docs: &str) -> String {
    let blocks = docs.split("```").skip(1).step_by(2);
    blocks
        .filter(|block| {
            !["text", "ignore", "compile_fail"]
                .iter()
                .any(|kind| block.starts_with(kind))
        })
        .collect()
}

/// Whether a text has the word.
fn names(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|other| other == word)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::lacking;
    use serde_json::{Value, json};

    /// A crate whose module `m` has a function, a type with a constructor, and a guard that calls return.
    fn library(of_module: &str, of_function: &str, of_type: &str) -> Value {
        let returns = |output: Value, inputs: Value| json!({ "visibility": "public", "inner": { "function": { "sig": { "inputs": inputs, "output": output } } } });
        let this = json!({ "resolved_path": { "path": "Lock", "id": 4 } });
        let option = json!({ "resolved_path": { "path": "core::option::Option", "id": 99, "args":
            { "angle_bracketed": { "args": [{ "type": { "generic": "Self" } }] } } } });
        json!({
            "root": 0,
            "index": {
                "0": { "name": "c", "docs": "", "inner": { "module": { "items": [1] } } },
                "1": { "name": "m", "docs": of_module, "inner": { "module": { "items": [2, 3, 5] } } },
                "2": { "name": "f", "docs": of_function, "inner": { "function": {} } },
                "3": { "name": null, "inner": { "use": { "id": 4 } } },
                "4": { "name": "Lock", "docs": of_type, "inner": { "struct": { "impls": [6] } } },
                "5": { "name": "Guard", "docs": "", "inner": { "struct": { "impls": [8] } } },
                "6": { "inner": { "impl": { "trait": null, "for": this, "items": [7] } } },
                "7": returns(option, json!([["value", {}]])),
                "8": { "inner": { "impl": { "trait": null, "for": {}, "items": [9] } } },
                "9": returns(json!({ "generic": "Self" }), json!([["self", {}]])),
            }
        })
    }

    #[test]
    fn an_example_of_the_item_or_one_of_the_module_that_names_it_will_do() {
        assert_eq!(
            lacking(&library("", "```\nf();\n```", "```no_run\nLock::new();\n```")),
            [""; 0]
        );
        assert_eq!(lacking(&library("```\nf(Lock::new());\n```", "", "")), [""; 0]);
    }

    #[test]
    fn items_without_one_are_named() {
        assert_eq!(lacking(&library("", "", "")), ["c::m::Lock", "c::m::f"]);
        // Words and diagrams are no programs, and a longer name is another one.
        assert_eq!(
            lacking(&library("f", "`f`", "```text\nLock\n```")),
            ["c::m::Lock", "c::m::f"]
        );
        assert_eq!(
            lacking(&library("```\nff(Locked);\n```", "", "")),
            ["c::m::Lock", "c::m::f"]
        );
    }
}
