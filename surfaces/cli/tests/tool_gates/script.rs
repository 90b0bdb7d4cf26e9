//! The tables of `calls.txt`: how a run gets to each state of its gate, and what is then called.

use std::collections::BTreeSet;

use crate::row;

/// What is played for one gate.
pub(crate) struct Table {
    /// The toolsets that are offered.
    pub(crate) toolsets: String,
    /// The step with the gate.
    pub(crate) gate: String,
    /// The steps that it guards.
    pub(crate) behind: Vec<String>,
    /// The answer by which it is passed.
    pub(crate) answer: String,
    pub(crate) states: Vec<State>,
    pub(crate) rows: Vec<Row>,
}

/// A state of the gate.
pub(crate) struct State {
    pub(crate) name: String,
    /// The state that it comes after.
    pub(crate) after: Option<String>,
    pub(crate) deeds: Vec<Deed>,
}

/// What is done at every state of the gate.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) deeds: Vec<Deed>,
}

#[derive(Debug, Clone)]
pub(crate) enum Deed {
    /// A tool, and its arguments.
    Call(String, String),
    /// A path, and a text.
    Write(String, String),
    /// A path of a JSON file, and the members that it gets.
    Merge(String, String),
    /// A path, a text in that file, and the text in its place.
    Replace(String, String, String),
    Remove(String),
    /// A person's answer at the gate.
    Answer(String),
}

impl Row {
    /// Returns the tools that it calls.
    pub(crate) fn tools(&self) -> Vec<&str> {
        self.deeds.iter().filter_map(Deed::tool).collect()
    }
}

impl Deed {
    fn tool(&self) -> Option<&str> {
        if let Self::Call(tool, _) = self { Some(tool) } else { None }
    }
}

/// Returns the table of that name, with a row for each of its toolset's tools.
pub(crate) fn table(name: &str) -> Table {
    let text = include_str!("calls.txt");
    let tables = text.split("\n@ ").skip(1);
    let text = tables.into_iter().find(|it| it.split(' ').next() == Some(name)).unwrap();
    let mut lines = text.lines().filter(|it| !it.is_empty());
    let head: Vec<&str> = lines.next().unwrap().split(' ').collect();
    let [_, toolsets, gate, behind, answer] = head[..] else { panic!("{head:?}") };
    let mut table = Table {
        toolsets: toolsets.to_owned(),
        gate: gate.to_owned(),
        behind: behind.split(',').map(str::to_owned).collect(),
        answer: answer.to_owned(),
        states: Vec::new(),
        rows: Vec::new(),
    };
    for line in lines {
        let (mark, rest) = line.split_once(' ').unwrap();
        match mark {
            "=" => table.states.push(state(rest)),
            "==" => table.rows.push(Row { name: rest.to_owned(), deeds: Vec::new() }),
            _ => match table.rows.last_mut() {
                Some(row) => row.deeds.push(deed(mark, rest)),
                None => table.states.last_mut().unwrap().deeds.push(deed(mark, rest)),
            },
        }
    }
    if toolsets.split(',').any(|it| it == name) {
        add_missing(&mut table, name);
    }
    table
}

/// Adds the calls of `repeats/calls.txt` for the tools that no row calls.
fn add_missing(table: &mut Table, toolset: &str) {
    let called: BTreeSet<String> =
        table.rows.iter().flat_map(Row::tools).map(str::to_owned).collect();
    for row in row::all(toolset).into_iter().filter(|it| !called.contains(&it.tool)) {
        let deeds = vec![Deed::Call(row.tool.clone(), row.arguments)];
        table.rows.push(Row { name: row.tool, deeds });
    }
}

fn state(line: &str) -> State {
    let (name, after) = match line.split_once(" < ") {
        Some((name, after)) => (name, Some(after.to_owned())),
        None => (line, None),
    };
    State { name: name.to_owned(), after, deeds: Vec::new() }
}

fn deed(mark: &str, rest: &str) -> Deed {
    let pair = || {
        let (one, two) = rest.split_once(' ').unwrap();
        (one.to_owned(), two.to_owned())
    };
    match mark {
        "-" => Deed::Call(pair().0, pair().1),
        "+" => Deed::Write(pair().0, pair().1),
        "~" => Deed::Merge(pair().0, pair().1),
        "%" => {
            let (path, texts) = pair();
            let (old, new) = texts.split_once(" => ").unwrap();
            Deed::Replace(path, old.to_owned(), new.to_owned())
        }
        "x" => Deed::Remove(rest.to_owned()),
        "!" => Deed::Answer(rest.to_owned()),
        _ => panic!("{mark} {rest}"),
    }
}
