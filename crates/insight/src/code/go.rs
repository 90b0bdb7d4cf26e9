//! Go. An import is the path of a package.

use super::{
    Import,
    excerpt::{begins_with, code_lines},
    outline::Entry,
    resolve::{Files, folders_above, inside},
    syntax::{Part, Rules},
    walk::Around,
};

pub(super) struct Go;

impl Rules for Go {
    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_go::LANGUAGE.into()
    }

    fn outline<'t>(&self, part: Part<'t>, around: Around<'_, 't>, found: &mut Vec<Entry<'t>>) {
        match part.kind() {
            "function_declaration" | "method_declaration" if is_exported(part) => {
                found.push(Entry::function(part.before("body")));
            }
            "type_declaration" if around.parent_kind() == "source_file" => {
                let exported = part.children().into_iter().filter(|it| is_exported(*it));
                found.extend(exported.map(|it| Entry::kind(it.text())));
            }
            "const_declaration" if around.parent_kind() == "source_file" => constants(part, found),
            _ => {}
        }
    }

    fn declared<'t>(&self, part: Part<'t>, _: Around<'_, 't>) -> Option<(&'t str, &'t str)> {
        match part.kind() {
            "function_declaration" | "method_declaration" | "type_spec" | "type_alias" => {
                Some((part.field_text("name"), part.text()))
            }
            _ => None,
        }
    }

    fn is_call(&self, part: Part<'_>, name: &str) -> bool {
        let called = match part.kind() {
            "call_expression" => part.field("function"),
            // What is called with types in brackets looks like a conversion.
            "type_conversion_expression" => part.field("type"),
            _ => None,
        };
        called.is_some_and(|it| it.last_name() == name)
    }

    /// Imports come before all else, so they are in what is above the first declaration.
    fn excerpt(&self, text: &str) -> String {
        const DECLARATIONS: [&str; 4] = ["func", "type", "var", "const"];
        let is_declaration = |line: &str| DECLARATIONS.iter().any(|it| begins_with(line, it));
        let first = code_lines(text).find(|(_, line)| is_declaration(line));
        let end = first.map_or(text.len(), |(at, _)| at);
        text.get(..end).unwrap_or_default().to_owned()
    }

    fn imports<'t>(&self, part: Part<'t>, _: Around<'_, 't>, found: &mut Vec<Import>) {
        if part.kind() == "import_spec" {
            found.push(Import::of(part.field_text("path").trim_matches(['"', '`'])));
        }
    }

    /// An import is the path of a module and a folder in it. The first file of the folder stands for
    /// the package.
    fn resolve(&self, _from: &str, import: &Import, files: &Files<'_>) -> Option<u32> {
        let path = import.path.as_str();
        // The longest name of a module that the path begins with.
        let (folder, rest) = folders_above(path).find_map(|name| {
            let folder = files.package(name)?;
            Some((folder, path.strip_prefix(name)?))
        })?;
        files.first_in(&inside(folder, rest.trim_start_matches('/')))
    }
}

/// Shows each exported constant of a group, but the first line of one that stands alone.
fn constants<'t>(declaration: Part<'t>, found: &mut Vec<Entry<'t>>) {
    let specs: Vec<Part<'t>> =
        declaration.children().into_iter().filter(|it| it.kind() == "const_spec").collect();
    let is_group = declaration.first_line().trim_end().ends_with('(') || 1 < specs.len();
    for spec in specs {
        let mut names = spec.children().into_iter().filter(|it| it.kind() == "identifier");
        if !names.any(|it| is_exported_name(it.text())) {
            continue;
        }
        let (keyword, shown) = if is_group { ("const ", spec) } else { ("", declaration) };
        found.push(Entry::constant(keyword, shown.first_line()));
    }
}

fn is_exported(part: Part<'_>) -> bool {
    is_exported_name(part.field_text("name"))
}

fn is_exported_name(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

pub(super) fn is_test(path: &str) -> bool {
    path.ends_with("_test.go")
}
