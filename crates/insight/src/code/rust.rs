//! Rust. An import is a path as it is seen from the file, whichever module of the file it stands in,
//! or the name of a file that a module is told to be in.

use super::{
    Import,
    excerpt::{LINES_MAX, begins_with, code_lines, is_of_name},
    outline::Entry,
    project::PATH_BYTES_MAX,
    resolve::{Files, folder_of, follow, inside},
    syntax::{Part, Rules},
    walk::Around,
};

/// How many paths one `use` may hold.
const PATHS_MAX: usize = 1_000;
/// How far a `use` is looked at from outside. A module is two levels, and few are nested.
const DEPTH_MAX: usize = 32;

/// How many modules may be inside each other.
const MODULES_MAX: usize = 64;

pub(super) struct Rust;

impl Rules for Rust {
    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_rust::LANGUAGE.into()
    }

    fn outline<'t>(&self, part: Part<'t>, around: Around<'_, 't>, found: &mut Vec<Entry<'t>>) {
        match part.kind() {
            "function_item" | "function_signature_item"
                if is_public(part) || is_promised(around) =>
            {
                found.push(Entry::function(part.before("body").trim_end_matches(';')));
            }
            "struct_item" | "enum_item" | "union_item" | "type_item" if is_public(part) => {
                found.push(Entry::kind(part.text().trim_end_matches(';')));
            }
            // Its functions are listed as such.
            "trait_item" if is_public(part) => found.push(Entry::kind(part.before("body"))),
            "const_item" | "static_item" if is_public(part) => {
                found.push(Entry::constant("", part.first_line().trim_end_matches(';')));
            }
            _ => {}
        }
    }

    fn declared<'t>(&self, part: Part<'t>, _: Around<'_, 't>) -> Option<(&'t str, &'t str)> {
        match part.kind() {
            "function_item"
            | "function_signature_item"
            | "struct_item"
            | "enum_item"
            | "union_item"
            | "trait_item"
            | "type_item"
            | "const_item"
            | "static_item"
            | "macro_definition" => Some((part.field_text("name"), part.text())),
            "mod_item" if part.field("body").is_some() => {
                Some((part.field_text("name"), part.text()))
            }
            _ => None,
        }
    }

    fn is_call(&self, part: Part<'_>, name: &str) -> bool {
        let called = match part.kind() {
            "call_expression" => part.field("function"),
            "macro_invocation" => part.field("macro"),
            "token_tree" => return is_called_within(part, name),
            _ => None,
        };
        called.is_some_and(|it| it.last_name() == name)
    }

    /// Keeps `use`, `mod` and the modules around them, and makes a `use` of a path that stands in
    /// other code.
    fn excerpt(&self, text: &str) -> String {
        let mut cut = Cut::default();
        for (_, line) in code_lines(text) {
            cut.take(line);
        }
        cut.finish()
    }

    fn imports<'t>(&self, part: Part<'t>, around: Around<'_, 't>, found: &mut Vec<Import>) {
        match part.kind() {
            "mod_item" if part.field("body").is_none() => {
                let name = part.field_text("name");
                let attribute = around.previous().filter(|it| it.kind() == "attribute_item");
                let file = attribute.and_then(|it| it.text().split('"').nth(1).map(str::to_owned));
                let inner = || seen_from_file(around, &format!("self::{name}"));
                found.push(Import::of(file.unwrap_or_else(inner)));
            }
            "use_declaration" => {
                let mut paths = Vec::new();
                if let Some(argument) = part.field("argument") {
                    spread(argument, &mut paths);
                }
                found.extend(paths.iter().map(|it| Import::of(seen_from_file(around, it))));
            }
            _ => {}
        }
    }

    /// A path is followed from the crate, from the module at hand or from another crate of the
    /// project, as far as modules have files of their own.
    fn resolve(&self, from: &str, import: &Import, files: &Files<'_>) -> Option<u32> {
        let path = import.path.as_str();
        if path.contains('.') {
            return files.find(&follow(folder_of(from), path)?);
        }
        let mut names = path.split("::").filter(|it| !it.is_empty()).peekable();
        let mut file = match names.next()? {
            "crate" => crate_root(from, files),
            "self" => from.to_owned(),
            "super" => {
                let mut file = parent(from, files)?;
                while names.next_if_eq(&"super").is_some() {
                    file = parent(&file, files)?;
                }
                file
            }
            name => child(from, name, files).or_else(|| other_crate(name, files))?,
        };
        for name in names.take(MODULES_MAX) {
            match child(&file, name, files) {
                Some(inner) => file = inner,
                None => break,
            }
        }
        files.find(&file)
    }
}

fn is_public(part: Part<'_>) -> bool {
    part.children().first().is_some_and(|it| it.kind() == "visibility_modifier")
}

/// What a public trait has is public without saying so.
fn is_promised(around: Around<'_, '_>) -> bool {
    let owner = around.outer().nth(1);
    owner.is_some_and(|it| it.kind() == "trait_item" && is_public(it))
}

/// Inside a macro there are no expressions yet: a call is a name before round brackets.
fn is_called_within(tokens: Part<'_>, name: &str) -> bool {
    tokens.children().array_windows().any(|[first, second]| {
        first.kind() == "identifier"
            && first.text() == name
            && second.kind() == "token_tree"
            && second.text().starts_with('(')
    })
}

/// Returns every path of a `use`, whose lists may hold lists.
fn spread(argument: Part<'_>, found: &mut Vec<String>) {
    let mut open = vec![(String::new(), argument)];
    while let Some((prefix, part)) = open.pop() {
        if PATHS_MAX <= found.len() {
            return;
        }
        // Each list in a list makes the path longer.
        if PATH_BYTES_MAX < prefix.len() {
            continue;
        }
        let joined = |it: &str| {
            if prefix.is_empty() { it.to_owned() } else { format!("{prefix}::{it}") }
        };
        match part.kind() {
            "scoped_use_list" => {
                let prefix = joined(part.field_text("path"));
                open.extend(part.field("list").map(|it| (prefix, it)));
            }
            "use_list" => {
                open.extend(part.children().into_iter().rev().map(|it| (prefix.clone(), it)));
            }
            "use_as_clause" => found.push(joined(part.field_text("path"))),
            "use_wildcard" => found.push(joined(part.text().trim_end_matches("::*"))),
            "self" if !prefix.is_empty() => found.push(prefix),
            _ => found.push(joined(part.text())),
        }
    }
}

/// Returns a path as it is seen from the file: what stands in a module of it is one further in.
fn seen_from_file(inside: Around<'_, '_>, path: &str) -> String {
    let path: String = path.split_whitespace().collect();
    let mut around = Vec::new();
    let outer = inside.outer().take(DEPTH_MAX);
    for module in outer.filter(|it| it.kind() == "mod_item") {
        around.insert(0, module.field_text("name").to_owned());
    }
    let first = path.split("::").next().unwrap_or_default();
    if around.is_empty() || !matches!(first, "self" | "super") {
        return path;
    }
    let mut seen = around;
    let mut above = 0;
    for name in path.split("::") {
        match name {
            "self" => {}
            "super" if seen.pop().is_none() => above += 1,
            "super" => {}
            name => seen.push(name.to_owned()),
        }
    }
    let start = if above == 0 { "self".to_owned() } else { vec!["super"; above].join("::") };
    seen.into_iter().fold(start, |path, name| format!("{path}::{name}"))
}

/// An excerpt in the making.
#[derive(Default)]
struct Cut {
    text: String,
    /// How many more lines the `use` at hand may take.
    lines_left: usize,
    /// How far the modules are indented that are open.
    open: Vec<usize>,
}

impl Cut {
    fn take(&mut self, line: &str) {
        let start = line.trim_start();
        let indent = line.len() - start.len();
        if 0 < self.lines_left {
            return self.keep(start);
        }
        if start.starts_with('}') {
            if self.open.last() == Some(&indent) {
                self.open.pop();
                self.text.push_str("}\n");
            }
            return;
        }
        if start.starts_with("#[path") {
            self.text.push_str(start);
            return;
        }
        let item = without_visibility(start);
        if begins_with(item, "use") {
            self.lines_left = LINES_MAX;
            return self.keep(item);
        }
        if begins_with(item, "mod") {
            let item = item.trim_end();
            if item.ends_with('{') {
                self.open.push(indent);
            }
            if item.ends_with(['{', ';', '}']) {
                self.text.push_str(item);
                self.text.push('\n');
            }
            return;
        }
        self.take_paths(start);
    }

    /// Keeps a line of a `use`.
    fn keep(&mut self, line: &str) {
        self.text.push_str(line);
        self.lines_left = if line.contains(';') { 0 } else { self.lines_left - 1 };
    }

    /// Takes the paths of a line that can be told from others by how they begin.
    fn take_paths(&mut self, line: &str) {
        let mut rest = line;
        while let Some(at) = rest.find("::") {
            let (before, after) = rest.split_at(at);
            let word = before.rsplit(|it| !is_of_name(it)).next().unwrap_or_default();
            let tail = after.trim_start_matches(|it| is_of_name(it) || it == ':');
            let path = after.get(..after.len() - tail.len()).unwrap_or_default();
            let word = word.trim_start_matches('$');
            if matches!(word, "crate" | "super" | "self") {
                let path = path.trim_end_matches(':');
                self.text.push_str(&format!("use {word}{path};\n"));
            }
            rest = tail;
        }
    }

    /// Closes what is open.
    fn finish(mut self) -> String {
        self.open.iter().for_each(|_| self.text.push_str("}\n"));
        self.text
    }
}

/// Returns a line without the word that makes its item visible.
fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    match rest.strip_prefix('(') {
        Some(inner) => inner.split_once(')').map_or(line, |(_, item)| item.trim_start()),
        None => rest.trim_start(),
    }
}

/// Finds the file of a module that is right in another.
fn child(file: &str, name: &str, files: &Files<'_>) -> Option<String> {
    let folder = inner_folder(file, files);
    let plain = inside(&folder, &format!("{name}.rs"));
    if files.has(&plain) && plain != file {
        return Some(plain);
    }
    Some(inside(&folder, &format!("{name}/mod.rs"))).filter(|it| files.has(it))
}

/// Returns the folder that the modules of a file are in.
fn inner_folder(file: &str, files: &Files<'_>) -> String {
    if matches!(stem(file), "mod" | "lib" | "main") || parent(file, files).is_none() {
        return folder_of(file).to_owned();
    }
    file.trim_end_matches(".rs").to_owned()
}

/// Finds the file of the module that a file's module is in; a crate's own file has none.
fn parent(file: &str, files: &Files<'_>) -> Option<String> {
    let folder = match stem(file) {
        "lib" | "main" => return None,
        "mod" => folder_of(folder_of(file)),
        _ => folder_of(file),
    };
    let owners = ["mod.rs", "lib.rs", "main.rs"].map(|it| inside(folder, it));
    owners.into_iter().chain([format!("{folder}.rs")]).find(|it| files.has(it) && it != file)
}

fn crate_root(file: &str, files: &Files<'_>) -> String {
    let mut root = file.to_owned();
    for _ in 0..MODULES_MAX {
        match parent(&root, files) {
            Some(outer) => root = outer,
            None => break,
        }
    }
    root
}

/// Finds the file of a crate of the project.
fn other_crate(name: &str, files: &Files<'_>) -> Option<String> {
    let folder = files.package(name)?;
    let roots = ["src/lib.rs", "src/main.rs"].map(|it| inside(folder, it));
    roots.into_iter().find(|it| files.has(it))
}

fn stem(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs")
}
