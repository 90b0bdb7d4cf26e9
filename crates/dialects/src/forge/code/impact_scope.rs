//! `impact_scope`: which files a change of something can reach, by who calls it.

use std::collections::BTreeSet;

use insight::code::{Graph, Source, calls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        answer::{Answer, Failure},
        place,
    },
    ANSWER_BYTES_MAX, NARROW, language,
    looking::{Gathered, Scope, look_at_project, unreadable},
};
use crate::kit::{Ask, Caller, Folder, Hints, Seeing, Sight, Tool};

/// How many files are looked at closely, the nearest first.
const CALLERS_MAX: usize = 2_000;
/// What is written around the path of a file.
const LINE_BYTES: usize = 28;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ImpactScope {
    /// Folder: absolute, or from the project's root.
    root_path: String,
    /// File that declares it: absolute, or from `root_path`.
    file_path: String,
    /// Name of what is to be changed.
    symbol_name: String,
    /// go, typescript, python, bash or rust.
    language: String,
}

/// What is told.
#[derive(Serialize)]
struct Told<'a> {
    target_file: &'a str,
    symbol: &'a str,
    root: &'a str,
    lang: &'a str,
    affected_files: Vec<Line<'a>>,
    /// Files that could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    /// How many imports away it is; -1 where no import leads from there.
    distance: i64,
}

impl Tool for ImpactScope {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "impact_scope";
    const TITLE: &'static str = "What a change reaches";
    const DESCRIPTION: &'static str = "Returns the files that call a symbol and how many imports \
        they are away from it (-1: not known).";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let root = place::named(caller, language::filled("root_path", &self.root_path)?);
        let file = language::filled("file_path", &self.file_path)?.to_owned();
        let symbol = language::filled("symbol_name", &self.symbol_name)?.to_owned();
        let language = language::language(&self.language)?;
        let from_project = place::named(caller, &file);
        let scope = Scope { project: place::project(caller), root, language };
        // Calls are told apart by the last part of a name alone.
        let called = symbol.rsplit(['.', ':']).next().unwrap_or(&symbol).to_owned();
        let impact = look_at_project(scope.clone(), Some(&called)).and_then(move |gathered| {
            match target(&scope.root, &file, &from_project, &gathered.graph) {
                Ok(target) => Impact { scope, symbol, called, target }.confirm(gathered),
                Err(failure) => Seeing::Seen(Err(failure)),
            }
        });
        Ok(impact.then(|it| Self::tell(it).into()))
    }
}

/// Returns the path of the file from the root, however it was named.
fn target(
    root: &Folder,
    file: &str,
    from_project: &Folder,
    graph: &Graph,
) -> Result<String, Failure> {
    let from_root = Folder::resolve(root.as_str(), file);
    let is_known = |path: &String| graph.nodes().binary_search(path).is_ok();
    let mut paths = [&from_root, from_project].into_iter().map(|it| it.seen_from(root));
    paths.find(is_known).ok_or_else(|| {
        let message = format!("`{file}` is not among the files of this language below `root_path`");
        let hint = "name it by its absolute path, or by its path from `root_path`";
        Failure::new("file_unknown", message, hint)
    })
}

/// What a change is looked for that reaches other files.
struct Impact {
    scope: Scope,
    symbol: String,
    /// The last part of the symbol.
    called: String,
    /// The file that declares it, seen from the root.
    target: String,
}

/// The files that really call what is looked for.
#[derive(Default)]
struct Confirmed {
    paths: BTreeSet<String>,
    skipped: usize,
}

impl Impact {
    /// Looks closer at those who may call it.
    fn confirm(self, gathered: Gathered) -> Seeing<Result<Answer, Failure>> {
        let Gathered { graph, skipped, is_cut } = gathered;
        let callers = graph.callers(&self.target).unwrap_or_default();
        let is_cut = is_cut || CALLERS_MAX < callers.len();
        let callers = callers.into_iter().take(CALLERS_MAX);
        let callers: Vec<(String, Option<u32>)> =
            callers.map(|(path, distance)| (path.to_owned(), distance)).collect();
        let (language, called) = (self.scope.language, self.called.clone());
        let see = move |seen: &mut Confirmed, source: Sight<'_>| {
            let (path, stop) = (source.path, source.stop);
            let is_caller =
                source.text.map(|text| calls(Source { language, path, text, stop }, &called));
            match is_caller {
                Ok(Ok(true)) => {
                    seen.paths.insert(path.to_owned());
                }
                Ok(Ok(false)) => {}
                Ok(Err(_)) | Err(_) => seen.skipped += 1,
            }
        };
        let paths = callers.iter().map(|(path, _)| path.clone()).collect();
        self.scope.root.visit(paths, see).map(move |looked| {
            let (seen, was_cut) = looked.map_err(unreadable)?;
            let mut all = Confirmed { skipped, ..Confirmed::default() };
            for mut seen in seen {
                all.paths.append(&mut seen.paths);
                all.skipped += seen.skipped;
            }
            Ok(self.answer(&callers, &all, is_cut || was_cut))
        })
    }

    fn answer(
        &self,
        callers: &[(String, Option<u32>)],
        found: &Confirmed,
        mut is_cut: bool,
    ) -> Answer {
        let mut bytes = 0;
        let mut affected_files = Vec::new();
        for (file, distance) in callers.iter().filter(|(it, _)| found.paths.contains(it)) {
            bytes += file.len() + LINE_BYTES;
            if ANSWER_BYTES_MAX < bytes {
                is_cut = true;
                break;
            }
            affected_files.push(Line { file, distance: distance.map_or(-1, i64::from) });
        }
        Answer::json(&Told {
            target_file: &self.target,
            symbol: &self.symbol,
            root: self.scope.root.as_str(),
            lang: self.scope.language.name(),
            affected_files,
            skipped: Some(found.skipped).filter(|it| 0 < *it),
            truncated: is_cut,
            note: is_cut.then_some(NARROW),
        })
    }
}
