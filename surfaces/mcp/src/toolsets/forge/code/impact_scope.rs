//! `impact_scope`: which files a change of something can reach, by who calls it.

use std::collections::BTreeSet;

use insight::code::{Graph, Language, Source, calls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ANSWER_BYTES_MAX, NARROW,
    looking::{Gathered, Seen, look, look_at_project},
    place,
};
use crate::{
    tool::{Call, Done, Hints},
    toolsets::forge::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
};

/// How many files are looked at closely, the nearest first.
const CALLERS_MAX: usize = 2_000;
/// What is written around the path of a file.
const LINE_BYTES: usize = 28;

pub(super) struct ImpactScope;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
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

impl DialectTool for ImpactScope {
    type Parameters = Parameters;
    const NAME: &'static str = "impact_scope";
    const TITLE: &'static str = "What a change reaches";
    const DESCRIPTION: &'static str = "Returns the files that call a symbol and how many imports \
        they are away from it (-1: not known).";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let root = Folder::named(call, place::filled("root_path", &parameters.root_path)?);
        let file = place::filled("file_path", &parameters.file_path)?;
        let symbol = place::filled("symbol_name", &parameters.symbol_name)?;
        let language = place::language(&parameters.language)?;
        // Calls are told apart by the last part of a name alone.
        let called = symbol.rsplit(['.', ':']).next().unwrap_or(symbol);
        let Gathered { graph, mut skipped, mut is_cut } =
            look_at_project(call, &root, language, Some(called)).await?;
        let target = target(call, &root, file, &graph)?;
        let mut callers = graph.callers(&target).unwrap_or_default();
        is_cut |= CALLERS_MAX < callers.len();
        callers.truncate(CALLERS_MAX);
        let found = confirmed(call, &root, (language, called), &callers).await?;
        is_cut |= found.is_cut;
        skipped += found.skipped;
        let mut bytes = 0;
        let mut affected_files = Vec::new();
        for (file, distance) in callers.into_iter().filter(|(it, _)| found.paths.contains(*it)) {
            bytes += file.len() + LINE_BYTES;
            if ANSWER_BYTES_MAX < bytes {
                is_cut = true;
                break;
            }
            affected_files.push(Line { file, distance: distance.map_or(-1, i64::from) });
        }
        let told = Told {
            target_file: &target,
            symbol,
            root: root.as_str(),
            lang: language.name(),
            affected_files,
            skipped: Some(skipped).filter(|it| 0 < *it),
            truncated: is_cut,
            note: is_cut.then_some(NARROW),
        };
        Ok(Answer::json(&told).into())
    }
}

/// Returns the path of the file from the root, however it was named.
fn target(call: &Call<'_>, root: &Folder, file: &str, graph: &Graph) -> Result<String, Failure> {
    let from_root = Folder::resolve(root.as_str(), file);
    let from_project = Folder::named(call, file);
    let is_known = |path: &String| graph.nodes().binary_search(path).is_ok();
    let mut paths = [from_root, from_project].into_iter().map(|it| it.seen_from(root));
    paths.find(is_known).ok_or_else(|| {
        let message = format!("`{file}` is not among the files of this language below `root_path`");
        let hint = "name it by its absolute path, or by its path from `root_path`";
        Failure::new("file_unknown", message, hint)
    })
}

/// The files that really call what is looked for.
#[derive(Default)]
struct Confirmed {
    paths: BTreeSet<String>,
    skipped: usize,
    is_cut: bool,
}

/// Looks closer at those who may call something.
async fn confirmed(
    call: &Call<'_>,
    root: &Folder,
    (language, called): (Language, &str),
    callers: &[(&str, Option<u32>)],
) -> Result<Confirmed, Failure> {
    let called = called.to_owned();
    let see = move |seen: &mut Confirmed, source: Seen<'_>| {
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
    let paths = callers.iter().map(|(path, _)| (*path).to_owned()).collect();
    let looked = look(call, root, paths, see).await?;
    let mut all = Confirmed { is_cut: looked.is_cut, ..Confirmed::default() };
    for mut seen in looked.seen {
        all.paths.append(&mut seen.paths);
        all.skipped += seen.skipped;
    }
    Ok(all)
}
