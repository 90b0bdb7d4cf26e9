//! Tables of what was measured, and of the targets it is held against.

use std::{fmt::Write as _, fs};

use crate::rig::Rig;

/// Everything that was measured of one thing.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    /// How it was measured, in a sentence or two.
    pub(crate) note: String,
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) targets: Vec<Target>,
    /// How many cores other processes kept busy meanwhile.
    pub(crate) others: f64,
}

/// Something that was promised.
pub(crate) struct Target {
    pub(crate) promise: String,
    pub(crate) found: String,
    pub(crate) is_met: bool,
}

impl Section {
    pub(crate) fn new(title: &'static str, note: impl Into<String>, head: &[&str]) -> Self {
        let head = head.iter().map(|it| (*it).to_owned()).collect();
        Self { title, note: note.into(), head, rows: Vec::new(), targets: Vec::new(), others: 0.0 }
    }

    pub(crate) fn row<T: ToString>(&mut self, cells: &[T]) {
        self.rows.push(cells.iter().map(ToString::to_string).collect());
    }

    pub(crate) fn target(&mut self, promise: impl Into<String>, found: String, is_met: bool) {
        self.targets.push(Target { promise: promise.into(), found, is_met });
    }
}

/// Returns all sections as one page.
pub(crate) fn report(rig: &Rig, sections: &[Section]) -> String {
    let mut page = format!("# What it costs\n\n{}\n", machine());
    page.push_str("Figures of one run; compare the ratios, not the absolute numbers.\n");
    page.push_str("`bench/README.md` says how to read them.\n");
    if rig.is_quick {
        page.push_str("\nThis was a quick run: shorter, and less exact.\n");
    }
    page.push_str("\n## Targets\n\n");
    let mut targets = vec![vec!["target".to_owned(), "found".to_owned(), "met".to_owned()]];
    for target in sections.iter().flat_map(|it| &it.targets) {
        let met = if target.is_met { "yes" } else { "NO" };
        targets.push(vec![target.promise.clone(), target.found.clone(), met.to_owned()]);
    }
    page.push_str(&markdown(&targets));
    for section in sections {
        let rows: Vec<Vec<String>> =
            std::iter::once(&section.head).chain(&section.rows).cloned().collect();
        write_section(&mut page, section, &rows);
    }
    page
}

fn write_section(page: &mut String, section: &Section, rows: &[Vec<String>]) {
    let Section { title, note, others, .. } = section;
    let table = markdown(rows);
    write!(
        page,
        "\n## {title}\n\n{note}\nOther processes kept {others:.1} cores busy meanwhile.\n\n{table}"
    )
    .expect("a text takes whatever is written to it");
}

/// Returns rows as a Markdown table whose columns are aligned; the first row is its head.
fn markdown(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |row: &[String], at: usize| row.get(at).cloned().unwrap_or_default();
    let width = |at: usize| rows.iter().map(|row| cell(row, at).chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut table = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> =
            (0..).zip(&widths).map(|(at, width)| format!("{:width$}", cell(row, at))).collect();
        table.push_str(&format!("| {} |\n", cells.join(" | ")));
        if number == 0 {
            let lines: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            table.push_str(&format!("| {} |\n", lines.join(" | ")));
        }
    }
    table
}

/// Returns what kind of machine this is, in general words.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = memory.split_whitespace().nth(1).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    let gib = kib.div_ceil(1024 * 1024);
    format!("A machine with {cores} cores and {gib} GiB, {}.", std::env::consts::OS)
}
