//! TypeScript, with its flavour for elements in angle brackets. An import is a module's specifier.

use super::{
    Import,
    excerpt::{LINES_MAX, begins_with, code_lines},
    outline::Entry,
    resolve::{Files, folder_of, follow},
    syntax::{Part, Rules},
    walk::Around,
};

const ENDINGS: [&str; 5] = ["ts", "tsx", "d.ts", "mts", "cts"];

pub(super) struct TypeScript;

impl Rules for TypeScript {
    fn grammar(&self, path: &str) -> tree_sitter::Language {
        if path.ends_with(".tsx") {
            return tree_sitter_typescript::LANGUAGE_TSX.into();
        }
        tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()
    }

    fn outline<'t>(&self, part: Part<'t>, around: Around<'_, 't>, found: &mut Vec<Entry<'t>>) {
        let entry = match part.kind() {
            "function_declaration" | "generator_function_declaration" | "function_signature" => {
                Entry::function(part.before("body").trim_end_matches(';'))
            }
            "interface_declaration" | "type_alias_declaration" => {
                Entry::kind(part.text().trim_end_matches(';'))
            }
            _ => return,
        };
        if is_exported(around) {
            found.push(entry);
        }
    }

    fn declared<'t>(&self, part: Part<'t>, around: Around<'_, 't>) -> Option<(&'t str, &'t str)> {
        let name = part.field_text("name");
        match part.kind() {
            "function_declaration"
            | "generator_function_declaration"
            | "function_signature"
            | "interface_declaration"
            | "type_alias_declaration"
            | "class_declaration"
            | "abstract_class_declaration"
            | "enum_declaration"
            | "method_definition"
            | "abstract_method_signature" => Some((name, part.text())),
            "variable_declarator" => {
                let value = part.field("value").map_or("", Part::kind);
                let is_function = matches!(value, "arrow_function" | "function_expression");
                is_function.then(|| (name, around.parent().unwrap_or(part).text()))
            }
            _ => None,
        }
    }

    fn is_call(&self, part: Part<'_>, name: &str) -> bool {
        let called = match part.kind() {
            "call_expression" => part.field("function"),
            "new_expression" => part.field("constructor"),
            // An element in angle brackets is a function that is called to draw it.
            "jsx_opening_element" | "jsx_self_closing_element" => part.field("name"),
            _ => None,
        };
        called.is_some_and(|it| it.last_name() == name)
    }

    fn excerpt(&self, text: &str) -> String {
        let mut excerpt = String::new();
        let mut lines_left = 0;
        for (_, line) in code_lines(text) {
            let start = line.trim_start();
            if lines_left == 0 && is_import(start) {
                lines_left = LINES_MAX;
            }
            if 0 < lines_left {
                excerpt.push_str(start);
                let is_over = start.contains(['\'', '"', ';', '}']);
                lines_left = if is_over { 0 } else { lines_left - 1 };
                continue;
            }
            // A module can be asked for anywhere; `*` leads the lines of a comment.
            for word in ["require(", "import("] {
                let mut rest = if start.starts_with('*') { "" } else { line };
                // Each call is taken once, also where calls are inside each other: otherwise the
                // excerpt could be far longer than the text.
                while let Some(at) = rest.find(word) {
                    let (_, call) = rest.split_at(at);
                    let (call, after) =
                        call.split_at(call.find(')').map_or(call.len(), |it| it + 1));
                    excerpt.push_str(call);
                    excerpt.push_str(";\n");
                    rest = after;
                }
            }
        }
        excerpt
    }

    fn imports<'t>(&self, part: Part<'t>, _: Around<'_, 't>, found: &mut Vec<Import>) {
        let specifier = match part.kind() {
            "import_statement" | "import_require_clause" | "export_statement" => {
                part.field("source")
            }
            "call_expression" if matches!(part.field_text("function"), "require" | "import") => {
                part.field("arguments").and_then(|it| it.children().first().copied())
            }
            _ => None,
        };
        if let Some(specifier) = specifier.filter(|it| it.kind() == "string") {
            found.push(Import::of(specifier.text().trim_matches(['\'', '"'])));
        }
    }

    /// A specifier that begins with a dot is a file, named without its ending or with that of the
    /// JavaScript made from it, or a folder with an index. Others are packages from elsewhere.
    fn resolve(&self, from: &str, import: &Import, files: &Files<'_>) -> Option<u32> {
        let specifier = import.path.as_str();
        if !specifier.starts_with('.') {
            return None;
        }
        let named = follow(folder_of(from), specifier)?;
        if let Some(found) = files.find(&named) {
            return Some(found);
        }
        let made = ["js", "jsx", "mjs", "cjs"];
        let made = made.iter().find_map(|it| named.strip_suffix(it)?.strip_suffix('.'));
        let stems = made.into_iter().chain([named.as_str()]);
        let files_named = stems.flat_map(|stem| ENDINGS.map(|it| format!("{stem}.{it}")));
        let folder = if named.is_empty() { String::new() } else { format!("{named}/") };
        files.any(files_named.chain(ENDINGS.map(|it| format!("{folder}index.{it}"))))
    }
}

/// What a file offers is what stands right behind the word `export`.
fn is_exported(around: Around<'_, '_>) -> bool {
    let mut outer = around.outer().map(Part::kind);
    match outer.next() {
        Some("export_statement") => true,
        Some("ambient_declaration") => outer.next() == Some("export_statement"),
        _ => false,
    }
}

/// Of what is exported only that matters which comes from elsewhere: a list, or all.
fn is_import(line: &str) -> bool {
    if let Some(imported) = line.strip_prefix("import").filter(|_| begins_with(line, "import")) {
        return !imported.trim_start().starts_with(['(', '.']);
    }
    let Some(exported) = line.strip_prefix("export") else { return false };
    let exported = exported.trim_start();
    exported.strip_prefix("type").unwrap_or(exported).trim_start().starts_with(['{', '*'])
}
