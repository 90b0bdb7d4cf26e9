//! Lists of few runs, lists that are not in the order of changes, or of only some keys; and how many
//! runs fit.
//!
//! The newest run of each key lies in an index of its own, with all that it can be picked by: to
//! count them or to find a page of them does not touch the runs. Other lists are sorted when they
//! are asked for.

use rusqlite::{Connection, params_from_iter, types::Value};

use super::row::{listed, number, run_columns};
use crate::{Filter, Order, Row, StoreError};

/// Returns a page of runs in the order of the filter.
pub(super) fn sort(connection: &Connection, filter: &Filter) -> Result<Vec<Row>, StoreError> {
    let mut asked = Asked::of(filter);
    if let (Order::Changed, Some((at, run))) = (filter.order, &filter.after) {
        let place = [Value::Integer(at.0), Value::Blob(run.as_bytes().to_vec())];
        asked.add("(updated_at, run) < (?, ?)", place);
    }
    let order = match filter.order {
        Order::Changed => "updated_at DESC, run DESC",
        Order::Started => "started_at DESC, key, run",
        Order::Key => "key, run",
        Order::Status => "status, key, run",
    };
    let sql = asked.select("id") + &format!(" ORDER BY {order} LIMIT ? OFFSET ?");
    asked.values.extend([filter.limit, filter.offset].map(|it| Value::Integer(it.into())));
    let mut statement = connection.prepare_cached(&sql)?;
    let ids = statement.query_map(params_from_iter(&asked.values), |row| row.get(0))?;
    let ids: Vec<i64> = ids.collect::<Result<_, _>>()?;
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        run_columns!(),
        " FROM runs WHERE id = ?1"
    ))?;
    let rows = ids.iter().map(|id| statement.query_row([id], listed));
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns how many runs fit, on whatever page they are.
pub(super) fn count(connection: &Connection, filter: &Filter) -> Result<u64, rusqlite::Error> {
    let asked = Asked::of(filter);
    let mut statement = connection.prepare_cached(&asked.select("count(*)"))?;
    statement.query_row(params_from_iter(&asked.values), |row| row.get(0)).map(number)
}

/// What is asked of a run. Only that is written down, so that an index is found for it.
struct Asked {
    from: &'static str,
    /// One after the other, each with an `AND` before it.
    terms: String,
    values: Vec<Value>,
}

impl Asked {
    fn of(filter: &Filter) -> Self {
        let from = match filter {
            Filter { key: Some(_), .. } => "runs INDEXED BY runs_by_key",
            Filter { due_by: Some(_), .. } => "runs INDEXED BY runs_by_due",
            Filter { ids: Some(_), .. } => "runs INDEXED BY sqlite_autoindex_runs_1",
            Filter { is_newest_of_key: true, .. } => "runs INDEXED BY runs_newest",
            _ => "runs",
        };
        let mut asked = Self { from, terms: String::new(), values: Vec::new() };
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        asked.add("project = ?", text(&filter.project));
        asked.add("workflow = ?", text(&filter.workflow));
        asked.add("root = ?", text(&filter.root));
        asked.add("key = ?", text(&filter.key));
        let statuses = serde_json::Value::from(filter.statuses.as_slice()).to_string();
        let statuses = (!filter.statuses.is_empty()).then_some(Value::Text(statuses));
        asked.add("status IN (SELECT value FROM json_each(?))", statuses);
        let ids = filter.ids.map(|(first, last)| [first, last]).into_iter().flatten();
        asked.add("run BETWEEN ? AND ?", ids.map(|id| Value::Blob(id.as_bytes().to_vec())));
        asked.add("due_at <= ?", filter.due_by.map(|it| Value::Integer(it.0)));
        if filter.is_newest_of_key {
            asked.terms += " AND key IS NOT NULL AND NOT is_shadowed";
        }
        asked.add_scope(filter.scope.as_deref());
        asked
    }

    /// Adds a term, if there are values for it.
    fn add(&mut self, term: &str, values: impl IntoIterator<Item = Value>) {
        let before = self.values.len();
        self.values.extend(values);
        if before < self.values.len() {
            self.terms += " AND ";
            self.terms += term;
        }
    }

    /// Compares bytes, since the functions for text end at the first nul.
    fn add_scope(&mut self, scope: Option<&str>) {
        let Some(scope) = scope else { return };
        if scope.is_empty() {
            self.terms += " AND instr(CAST(key AS BLOB), x'40') = 0";
            return;
        }
        let end = format!("@{scope}").into_bytes();
        let length = i64::try_from(end.len()).unwrap_or(i64::MAX);
        let values = [Value::Integer(-length), Value::Blob(end)];
        self.add("substr(CAST(key AS BLOB), ?) = ?", values);
    }

    fn select(&self, columns: &str) -> String {
        format!("SELECT {columns} FROM {} WHERE 1{}", self.from, self.terms)
    }
}

#[cfg(test)]
mod tests {
    use engine::{RunId, Timestamp};

    use super::*;
    use crate::sqlite::schema;

    fn plan(connection: &Connection, asked: &Asked, sql: &str) -> String {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = statement.query_map(params_from_iter(&asked.values), |row| row.get(3)).unwrap();
        rows.collect::<Result<Vec<String>, _>>().unwrap().join("; ")
    }

    #[test]
    fn the_newest_of_each_key_are_read_from_an_index() {
        let connection = Connection::open_in_memory().unwrap();
        schema::fill(&connection).unwrap();
        let text = |text: &str| Some(text.to_owned());
        let run = RunId::from_bytes([7; 16]);
        let newest = Filter { is_newest_of_key: true, ..Filter::default() };
        let here = Filter { project: text("p"), workflow: text("w"), ..newest.clone() };
        let fixed = "SEARCH runs USING COVERING INDEX runs_newest (project=? AND workflow=?)";
        for (filter, index) in [
            (here.clone(), fixed),
            (Filter { scope: text("e"), root: text("/"), ..here.clone() }, fixed),
            (Filter { scope: text(""), statuses: vec!["s".to_owned()], ..here.clone() }, fixed),
            (newest, "SCAN runs USING COVERING INDEX runs_newest"),
            (Filter { key: text("k"), ..here.clone() }, "INDEX runs_by_key (key=? AND project=?"),
            (Filter { key: text("k"), ..Filter::default() }, "INDEX runs_by_key (key=?)"),
            (
                Filter { ids: Some((run, run)), project: text("p"), ..Filter::default() },
                "INDEX sqlite_autoindex_runs_1 (run>? AND run<?)",
            ),
            (
                Filter { due_by: Some(Timestamp(9)), project: text("p"), ..Filter::default() },
                "INDEX runs_by_due (due_at<?)",
            ),
        ] {
            let asked = Asked::of(&filter);
            let plan = plan(&connection, &asked, &asked.select("count(*)"));
            assert!(plan.contains(index), "{filter:?}\n{plan}");
        }
        let asked = Asked::of(&here);
        let sql = asked.select("id") + " ORDER BY started_at DESC, key, run LIMIT 9";
        let plan = plan(&connection, &asked, &sql);
        assert!(plan.contains(fixed) && !plan.contains("TEMP B-TREE"), "{plan}");
    }
}
