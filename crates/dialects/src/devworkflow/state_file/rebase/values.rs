//! What two changes to one section come to, value by value.

use std::collections::{HashMap, HashSet};

use super::super::{Part, Row, StateFile};

/// One section in three versions, each as a file of its own.
pub(super) struct Sides {
    pub base: StateFile,
    pub theirs: StateFile,
    pub ours: StateFile,
}

/// A row's id, and how many rows of that id came before it.
type RowKey = (u64, usize);

impl Sides {
    /// Joins the title and the date. The later date stays.
    pub(super) fn join_preamble(mut self) -> Option<StateFile> {
        let date = self.ours.date().max(self.theirs.date()).map(str::to_owned)?;
        for file in [&mut self.base, &mut self.theirs, &mut self.ours] {
            file.set_date(&date);
        }
        let text = three(&self.base.text, self.theirs.text, self.ours.text)?;
        Some(StateFile::from(text))
    }

    /// Joins the fields, each for itself.
    pub(super) fn join_state(self) -> Option<StateFile> {
        let Self { base, theirs, ours } = self;
        let mut file = theirs.clone();
        // A status is one of its phase.
        let place = |it: &'_ StateFile| (it.phase().to_owned(), it.status().to_owned());
        let (phase, status) = three(&place(&base), place(&theirs), place(&ours))?;
        file.set_phase(&phase);
        file.set_status(&status);
        let item = three(&base.current_item(), theirs.current_item(), ours.current_item())?;
        file.set_current_item(item.as_deref());
        Some(file)
    }

    /// Joins the plan, which is changed as a whole.
    pub(super) fn join_plan(self) -> Option<StateFile> {
        let Self { base, mut theirs, ours } = self;
        let plan = three_texts(&base.plan(), theirs.plan(), ours.plan())?;
        theirs.set_plan(&plan);
        Some(theirs)
    }

    /// Joins what was added to a log, ours first.
    pub(super) fn join_log(self, part: Part) -> Option<StateFile> {
        let Self { base, mut theirs, ours } = self;
        let (base, mine, yours) = (base.free(part), ours.free(part), theirs.free(part));
        let log = match (appended(&base, &mine), appended(&base, &yours)) {
            (Some(first), Some(second)) => lines(&[&base, first, second]),
            (Some(first), None) => lines(&[&yours, first]),
            (None, Some(second)) => lines(&[&mine, second]),
            (None, None) => three(&base, yours, mine)?,
        };
        theirs.set_free(part, &log);
        Some(theirs)
    }

    /// Joins the items, row by row.
    pub(super) fn join_items(self) -> Option<StateFile> {
        let Self { base, mut theirs, ours } = self;
        let rows = join_rows(&keyed(base.items()), &keyed(theirs.items()), &keyed(ours.items()))?;
        theirs.set_items(&rows);
        Some(theirs)
    }
}

fn join_rows(
    base: &[(RowKey, Row)],
    theirs: &[(RowKey, Row)],
    ours: &[(RowKey, Row)],
) -> Option<Vec<Row>> {
    let bases: HashMap<RowKey, &Row> = base.iter().map(|(key, row)| (*key, row)).collect();
    let others: HashMap<RowKey, &Row> = ours.iter().map(|(key, row)| (*key, row)).collect();
    let is_new = |key: &RowKey| !bases.contains_key(key);
    let given: HashSet<u64> = others.keys().filter(|it| is_new(it)).map(|(id, _)| *id).collect();
    let mut placed: HashSet<RowKey> = HashSet::new();
    let (mut rows, mut moved) = (Vec::new(), Vec::new());
    for (key, row) in theirs {
        let joined = match (bases.get(key), others.get(key)) {
            (Some(base), Some(ours)) => join_row(base, row, ours)?,
            (Some(base), None) if *base == row => continue,
            (Some(_), None) => return None,
            (None, Some(ours)) if *ours == row => row.clone(),
            (None, _) if given.contains(&row.id) => {
                moved.push(row.clone());
                continue;
            }
            (None, _) => row.clone(),
        };
        placed.insert(*key);
        rows.push(joined);
    }
    for (key, row) in ours.iter().filter(|(key, _)| !placed.contains(key)) {
        match bases.get(key) {
            None => rows.push(row.clone()),
            Some(base) if *base == row => {}
            Some(_) => return None,
        }
    }
    let all = base.iter().chain(theirs).chain(ours);
    let mut last = all.map(|it| it.1.id).max().unwrap_or_default();
    for row in moved {
        last = last.checked_add(1)?;
        rows.push(Row { id: last, ..row });
    }
    Some(rows)
}

fn join_row(base: &Row, theirs: &Row, ours: &Row) -> Option<Row> {
    let description = three(&&base.description, &theirs.description, &ours.description)?;
    let status = three(&&base.status, &theirs.status, &ours.status)?;
    Some(Row { id: base.id, description: description.clone(), status: status.clone() })
}

fn keyed(rows: Vec<Row>) -> Vec<(RowKey, Row)> {
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let mut key = |id| {
        let count = seen.entry(id).or_default();
        *count += 1;
        (id, *count)
    };
    rows.into_iter().map(|row| (key(row.id), row)).collect()
}

/// Returns the value of the side that changed it.
fn three<T: PartialEq>(base: &T, theirs: T, ours: T) -> Option<T> {
    if theirs == ours || *base == ours {
        return Some(theirs);
    }
    (*base == theirs).then_some(ours)
}

/// The same of texts, where one side may hold all that the other did: an editor that was not told
/// of what was taken in saves it again, with more.
fn three_texts(base: &str, theirs: String, ours: String) -> Option<String> {
    let holds = |whole: &str, part: &str| {
        let has = |text: &str, line: &str| text.lines().any(|it| it == line);
        let is_kept = part.lines().all(|it| has(base, it) || has(whole, it));
        is_kept && base.lines().all(|it| has(part, it) || !has(whole, it))
    };
    if theirs != base && ours != base && theirs != ours {
        if holds(&theirs, &ours) {
            return Some(theirs);
        }
        return holds(&ours, &theirs).then_some(ours);
    }
    three(&base.to_owned(), theirs, ours)
}

/// Returns what was added at the end of a text, if nothing else was done to it.
fn appended<'a>(base: &str, text: &'a str) -> Option<&'a str> {
    let added = text.strip_prefix(base)?;
    if base.is_empty() || added.is_empty() { Some(added) } else { added.strip_prefix('\n') }
}

fn lines(texts: &[&str]) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|it| !it.is_empty()).collect();
    texts.join("\n")
}
