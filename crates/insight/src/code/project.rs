//! A project in the making: what each of its files imports, gathered one text at a time.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Graph, Import, Language, Source, Unparsed,
    calls::may_call,
    resolve::{Files, Package},
    syntax::Syntax,
};

/// How many imports are kept of one file.
const IMPORTS_MAX: usize = 2_000;
/// How long the path of an import may be. No system has a file with a longer path.
pub(super) const PATH_BYTES_MAX: usize = 4_096;

/// The files of a project in one language, and what is known of each.
#[derive(Debug, Clone)]
pub struct Project {
    language: Language,
    /// What the root's folder is called.
    root_name: String,
    /// Whose callers are looked for, if any are.
    called: Option<String>,
    files: BTreeMap<String, File>,
    packages: BTreeSet<Package>,
}

#[derive(Debug, Clone)]
struct File {
    imports: Vec<Import>,
    /// Whether it may call what is looked for.
    may_call: bool,
}

impl Project {
    /// Makes a project without files.
    pub fn new(language: Language, root_name: &str) -> Self {
        Self {
            language,
            root_name: root_name.to_owned(),
            called: None,
            files: BTreeMap::new(),
            packages: BTreeSet::new(),
        }
    }

    /// Looks for callers of what has this name, too.
    #[must_use]
    pub fn with_called(mut self, name: &str) -> Self {
        self.called = Some(name.to_owned());
        self
    }

    /// Takes a file in, which is in the project's language and has its path from the root.
    pub fn add(&mut self, source: Source<'_>) -> Result<(), Unparsed> {
        let rules = source.language.rules();
        let excerpt = rules.excerpt(source.text);
        let mut imports = Vec::new();
        if !excerpt.is_empty() {
            let syntax = Syntax::parse(Source { text: &excerpt, ..source })?;
            syntax.parts().each(|part, around| rules.imports(part, around, &mut imports))?;
        }
        imports.retain(|it| it.path.len() <= PATH_BYTES_MAX);
        imports.sort_unstable();
        imports.dedup();
        imports.truncate(IMPORTS_MAX);
        let may_call = self.called.as_ref().is_some_and(|it| may_call(source, it));
        self.files.insert(source.path.to_owned(), File { imports, may_call });
        Ok(())
    }

    /// Takes in the file that names a package, by the folder it is in.
    pub fn add_manifest(&mut self, folder: &str, text: &str) {
        let name = match self.language {
            Language::Go => go_module(text),
            Language::Rust => rust_crate(text),
            Language::Bash | Language::Python | Language::TypeScript => None,
        };
        if let Some(name) = name {
            self.packages.insert(Package { folder: folder.to_owned(), name });
        }
    }

    /// Takes in the file that names a package which the root lies in: as the folder `root` of it.
    pub fn add_outer_manifest(&mut self, root: &str, text: &str) {
        let Some(name) = go_module(text).filter(|_| self.language == Language::Go) else { return };
        let name = format!("{name}/{root}");
        self.packages.insert(Package { folder: String::new(), name });
    }

    /// Takes in what another has, which was made for the same.
    pub fn merge(&mut self, other: Self) {
        self.files.extend(other.files);
        self.packages.extend(other.packages);
    }

    /// Follows all imports.
    pub fn graph(self) -> Graph {
        let mut nodes = Vec::with_capacity(self.files.len());
        let mut files = Vec::with_capacity(self.files.len());
        for (path, file) in self.files {
            nodes.push(path);
            files.push(file);
        }
        let packages: Vec<Package> = self.packages.into_iter().collect();
        let known = Files::new(&nodes, &packages, &self.root_name);
        let rules = self.language.rules();
        let mut edges = Vec::new();
        for (from, (path, file)) in (0..).zip(nodes.iter().zip(&files)) {
            let targets = file.imports.iter().filter_map(|it| rules.resolve(path, it, &known));
            edges.extend(targets.filter(|to| *to != from).map(|to| (from, to)));
        }
        edges.sort_unstable();
        edges.dedup();
        let may_call = files.iter().map(|it| it.may_call).collect();
        Graph { language: self.language, nodes, edges, may_call }
    }
}

/// Returns the path of the module that a `go.mod` names.
fn go_module(text: &str) -> Option<String> {
    let named = text.lines().find_map(|it| it.trim().strip_prefix("module "))?;
    let path = named.split("//").next().unwrap_or_default().trim().trim_matches('"');
    Some(path.to_owned()).filter(|it| !it.is_empty())
}

/// Returns the name of the crate that a `Cargo.toml` names, as code writes it.
fn rust_crate(text: &str) -> Option<String> {
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let value = line.strip_prefix("name").map(str::trim_start);
        if let Some(value) = value.and_then(|it| it.strip_prefix('=')) {
            let name = value.trim().trim_matches(['"', '\'']).replace('-', "_");
            if section == "[package]" {
                return Some(name);
            }
        }
    }
    None
}
