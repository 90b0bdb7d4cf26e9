//! A state file as these tests write and read it: by the words of the contract, and with no code of
//! the program.

/// What a state file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FileText {
    pub(crate) phase: String,
    pub(crate) status: String,
    pub(crate) item: Option<String>,
    pub(crate) plan: String,
    pub(crate) items: Vec<(u64, String, String)>,
    pub(crate) log: String,
    pub(crate) archive: String,
}

/// Returns a state in which one item is worked on and another waits.
///
/// Where the work is `COMPLETED`, the first item is completed too.
pub(crate) fn file_text(phase: &str, status: &str) -> FileText {
    let first = if status == "COMPLETED" { "completed" } else { "pending" };
    FileText {
        phase: phase.to_owned(),
        status: status.to_owned(),
        item: Some("Add: login".to_owned()),
        plan: "1. write `login.rs`".to_owned(),
        items: vec![row(1, "Add: login", first), row(2, "Add: logout", "pending")],
        log: "[2025-05-28T19:17:37Z] looked around".to_owned(),
        archive: String::new(),
    }
}

pub(crate) fn row(id: u64, description: &str, status: &str) -> (u64, String, String) {
    (id, description.to_owned(), status.to_owned())
}

impl FileText {
    /// Returns the file that says so. Cells are written as they are.
    pub(crate) fn text(&self) -> String {
        let rows: Vec<String> = self
            .items
            .iter()
            .map(|(id, text, status)| format!("| {id} | {text} | {status} |\n"))
            .collect();
        let rows = rows.concat();
        let item = self.item.as_deref().unwrap_or("null");
        let or = |text: &str, hint: &str| {
            if text.is_empty() { format!("<!-- {hint} -->") } else { text.to_owned() }
        };
        format!(
            "# workflow_state.md\n_Last updated: 2025-05-28_\n\n## State\nPhase: {}\nStatus: \
             {}\nCurrentItem: {item}\n\n## Plan\n{}\n\n## Rules\n### RULE_INIT_01\nTrigger ▶ \
             `Phase == INIT`\nAction ▶ ask for a task\n\n## Items\n| id | description | status \
             |\n|----|-------------|--------|\n{rows}\n## Log\n{}\n\n## ArchiveLog\n{}\n",
            self.phase,
            self.status,
            or(&self.plan, "filled in during BLUEPRINT"),
            or(&self.log, "appended by the AI"),
            or(&self.archive, "RULE_LOG_ROTATE_01 stores condensed summaries here"),
        )
    }

    /// Reads a file.
    #[track_caller]
    pub(crate) fn read(text: &str) -> Self {
        let part = |name: &str| {
            section(text, name).unwrap_or_else(|| panic!("there is no section {name} in:\n{text}"))
        };
        let state = part("State");
        let field = |name: &str| {
            let line = state.lines().find_map(|it| it.strip_prefix(name));
            line.unwrap_or_else(|| panic!("there is no {name} in:\n{text}")).trim().to_owned()
        };
        let item = Some(unescape(&field("CurrentItem:"))).filter(|it| it != "null");
        let items = part("Items");
        let items = items.lines().filter_map(|line| {
            let [id, description, status] = cells(line).try_into().ok()?;
            Some((id.parse().ok()?, unescape(&description), status))
        });
        Self {
            phase: field("Phase:"),
            status: field("Status:"),
            item,
            plan: plain(&part("Plan")),
            items: items.collect(),
            log: plain(&part("Log")),
            archive: plain(&part("ArchiveLog")),
        }
    }

    /// Returns the statuses of the items, in order.
    pub(crate) fn statuses(&self) -> Vec<&str> {
        self.items.iter().map(|(_, _, status)| status.as_str()).collect()
    }
}

/// Returns the content of a section, without the blank lines around it, if there is one.
pub(crate) fn section(text: &str, name: &str) -> Option<String> {
    let (mut fence, mut found, mut is_in) = ("", None::<String>, false);
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|it| start.starts_with(it)).unwrap_or_default();
        if fence.is_empty() && line.starts_with("## ") {
            let rest = line.strip_prefix("## ").and_then(|it| it.strip_prefix(name));
            is_in = rest.is_some_and(|it| it.trim().is_empty() || it.trim().starts_with('('));
            if is_in {
                found = Some(String::new());
            }
            continue;
        }
        if fence.is_empty() {
            fence = mark;
        } else if fence == mark {
            fence = "";
        }
        if is_in && let Some(found) = &mut found {
            found.push_str(line);
            found.push('\n');
        }
    }
    found.map(|it| it.trim_matches('\n').trim_end().to_owned())
}

/// Returns a text of its own: no placeholder, and no backslash that guards a heading.
fn plain(text: &str) -> String {
    if text.starts_with("<!--") && text.ends_with("-->") && text.matches("-->").count() == 1 {
        return String::new();
    }
    let line = |line: &str| {
        let bare = line.trim_start_matches('\\');
        let is_guarded =
            bare.len() < line.len() && ["# ", "## "].iter().any(|it| bare.starts_with(it));
        line.strip_prefix('\\').filter(|_| is_guarded).unwrap_or(line).to_owned()
    };
    text.lines().map(line).collect::<Vec<String>>().join("\n")
}

/// Splits a row at the bars that are not escaped.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_escaped) = (vec![String::new()], false);
    for letter in line.trim().chars() {
        if letter == '|' && !is_escaped {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(letter);
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    let inner = cells.into_iter().skip(1).map(|it| it.trim().to_owned());
    let mut inner: Vec<String> = inner.collect();
    inner.pop();
    inner
}

fn unescape(text: &str) -> String {
    let (mut rest, mut out) = (text, String::new());
    let marks = [("\\\\", "\\"), ("\\|", "|"), ("\\<br>", "<br>"), ("<br>", "\n")];
    while let Some(first) = rest.chars().next() {
        let mark = marks.iter().find(|(mark, _)| rest.starts_with(mark));
        let (length, letters) =
            mark.map_or((first.len_utf8(), None), |(mark, it)| (mark.len(), Some(*it)));
        match letters {
            Some(letters) => out.push_str(letters),
            None => out.push(first),
        }
        rest = &rest[length..];
    }
    out
}
