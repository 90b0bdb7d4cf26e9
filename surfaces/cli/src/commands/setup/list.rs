//! `setup list`: where each client keeps its file, and which servers are in it.

use serde_json::{Value, json};

use super::{
    SERVER,
    client::{Client, Reach},
    file,
};
use crate::{
    config::Config,
    output::{ALERT, DIM, GOOD, Output, Reply, table::Grid, text},
};

/// What was found in a file.
enum Found {
    Missing,
    Unreadable(String),
    Servers(Vec<String>),
}

/// Lists them.
pub(super) fn perform(config: &Config, output: Output) -> Reply {
    let mut grid = Grid::new(&["CLIENT", "FOR", "SERVERS", "FILE"]);
    let mut rows = Vec::new();
    for client in Client::ALL {
        for reach in Reach::ALL {
            let Some(path) = client.file(reach, config) else { continue };
            let found = match file::read(&path) {
                Ok(Some(text)) => match client.notation(&path).entries(&text) {
                    Ok(entries) => Found::Servers(entries.into_iter().map(|it| it.0).collect()),
                    Err(reason) => Found::Unreadable(reason),
                },
                Ok(None) => Found::Missing,
                Err(failure) => Found::Unreadable(failure.message),
            };
            let file = text::line(&config.places.short(&path));
            let cell = cell(&mut grid, &found);
            grid.add(vec![client.name().to_owned(), reach.word().to_owned(), cell, file]);
            let mut row = found.to_json();
            if let Value::Object(map) = &mut row {
                map.insert("client".to_owned(), client.name().into());
                map.insert("title".to_owned(), client.title().into());
                map.insert("link".to_owned(), client.link().into());
                map.insert("reach".to_owned(), reach.word().into());
                map.insert("is_usual".to_owned(), (client.usual() == reach).into());
                map.insert("file".to_owned(), path.display().to_string().into());
            }
            rows.push(row);
        }
    }
    Reply::new(json!({"files": rows}), output.draw(grid))
}

fn cell(grid: &mut Grid, found: &Found) -> String {
    match found {
        Found::Missing => grid.paint(DIM, "no file"),
        Found::Unreadable(_) => grid.paint(ALERT, "unreadable"),
        Found::Servers(names) if names.is_empty() => grid.paint(DIM, "none"),
        Found::Servers(names) if names.iter().any(|it| it == SERVER) => {
            grid.paint(GOOD, &names.join(", "))
        }
        Found::Servers(names) => text::line(&names.join(", ")),
    }
}

impl Found {
    fn to_json(&self) -> Value {
        match self {
            Self::Missing => json!({"state": "missing", "servers": [], "has_entry": false}),
            Self::Unreadable(reason) => {
                json!({"state": "unreadable", "reason": reason, "servers": [], "has_entry": false})
            }
            Self::Servers(names) => {
                let has_entry = names.iter().any(|it| it == SERVER);
                json!({"state": "read", "servers": names, "has_entry": has_entry})
            }
        }
    }
}
