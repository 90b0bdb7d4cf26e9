//! The rows of `calls.txt`.

/// A call that is repeated, and what comes before it.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) tool: String,
    pub(crate) before: Vec<Step>,
    pub(crate) arguments: String,
}

/// What is done before a call.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A tool, and its arguments.
    Call(String, String),
    /// A path, and a text.
    Write(String, String),
}

/// Returns the rows of a toolset.
pub(crate) fn all(toolset: &str) -> Vec<Row> {
    let text = include_str!("calls.txt");
    let toolsets = text.split("\n@ ").skip(1);
    let rows = toolsets.filter_map(|it| it.split_once('\n')).find(|it| it.0 == toolset);
    rows.unwrap().1.split("== ").skip(1).map(read).collect()
}

fn read(text: &str) -> Row {
    let mut lines = text.lines().filter(|it| !it.is_empty());
    let mut row = Row {
        tool: lines.next().unwrap().to_owned(),
        before: Vec::new(),
        arguments: String::new(),
    };
    for line in lines {
        let (mark, rest) = line.split_once(' ').unwrap();
        let pair = || {
            let (one, two) = rest.split_once(' ').unwrap();
            (one.to_owned(), two.to_owned())
        };
        match mark {
            "-" => row.before.push(Step::Call(pair().0, pair().1)),
            "+" => row.before.push(Step::Write(pair().0, pair().1)),
            ">" => row.arguments = rest.to_owned(),
            _ => panic!("{line}"),
        }
    }
    row
}
