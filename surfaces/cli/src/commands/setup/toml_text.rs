//! The table of servers in a TOML file, edited so that comments, order and line ends stay.

use serde_json::Value;
use similar::ChangeTag;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

use super::notation::Entry;
use crate::output::diff;

/// The table that holds a table for each server.
const SERVERS: &str = "mcp_servers";
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Returns the entries, with what they mean.
pub(super) fn entries(text: &str) -> Result<Vec<(String, Value)>, String> {
    parse(text)?;
    let plain = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let table: toml::Table =
        plain.parse().map_err(|it: toml::de::Error| it.message().to_owned())?;
    let Some(servers) = table.get(SERVERS) else { return Ok(Vec::new()) };
    let servers = servers.as_table().ok_or_else(no_table)?;
    let meaning = |it: &toml::Value| serde_json::to_value(it).unwrap_or_default();
    Ok(servers.iter().map(|(name, it)| (name.clone(), meaning(it))).collect())
}

/// Returns the text with the entry called `name` set. What else an entry of that name has stays.
pub(super) fn set(text: &str, name: &str, entry: &Entry) -> Result<String, String> {
    let mut document = parse(text)?;
    let servers = servers_mut(&mut document)?;
    let existing = servers.get_mut(name).and_then(Item::as_table_like_mut);
    if let Some(existing) = existing {
        update(existing, entry);
    } else {
        let mut table = Table::new();
        update(&mut table, entry);
        place(servers, name, Item::Table(table));
    }
    Ok(restyled(text, &document))
}

/// Returns the text without the entry called `name`: as it was, if it has none.
pub(super) fn remove(text: &str, name: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    let servers = document.get_mut(SERVERS).and_then(Item::as_table_like_mut);
    let Some(gone) = servers.and_then(|it| it.remove(name)) else { return Ok(text.to_owned()) };
    if let Item::Table(table) = &gone {
        keep_comments(&mut document, table);
    }
    Ok(restyled(text, &document))
}

/// Returns `text` with the entry called `name` as `source` has it, or without it.
pub(super) fn transplant(source: &str, text: &str, name: &str) -> Result<String, String> {
    let source = parse(source)?;
    let found = source.get(SERVERS).and_then(|it| it.get(name));
    let Some(found) = found else { return remove(text, name) };
    let mut document = parse(text)?;
    let servers = servers_mut(&mut document)?;
    let mut found = found.clone();
    // It takes the place that the other had, or the last.
    let position = servers.get(name).and_then(Item::as_table).and_then(Table::position);
    if let Item::Table(table) = &mut found {
        table.set_position(position);
    }
    place(servers, name, found);
    Ok(restyled(text, &document))
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |it| it.start);
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        format!("line {line}: {}", error.message().trim().replace('\n', ", "))
    })
}

fn no_table() -> String {
    format!("`{SERVERS}` is not a table")
}

/// Returns the table of servers, which is made if it is not there.
fn servers_mut(document: &mut DocumentMut) -> Result<&mut Item, String> {
    let servers = document.entry(SERVERS).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    if servers.is_table_like() { Ok(servers) } else { Err(no_table()) }
}

/// Sets the members that are ours. An entry that named an address before is made again.
fn update(table: &mut dyn TableLike, entry: &Entry) {
    if table.contains_key("url") {
        table.clear();
    }
    let args: Array = entry.args.iter().map(String::as_str).collect();
    let ours = [("command", entry.command.as_str().into()), ("args", toml_edit::Value::from(args))];
    for (name, mut value) in ours {
        let existing = table.get_mut(name).and_then(Item::as_value_mut);
        let Some(existing) = existing else {
            table.insert(name, Item::Value(value));
            continue;
        };
        if plain(existing) != plain(&value) {
            *value.decor_mut() = existing.decor().clone();
            *existing = value;
        }
    }
}

/// Returns a value without the blanks and comments around it.
fn plain(value: &toml_edit::Value) -> String {
    let mut value = value.clone();
    value.decor_mut().clear();
    value.to_string()
}

/// Puts a table into the servers; into those that are written in one line, in one line too.
fn place(servers: &mut Item, name: &str, item: Item) {
    let item = match item {
        Item::Table(table) if servers.is_inline_table() => table.into_inline_table().into(),
        Item::Table(_) | Item::None | Item::Value(_) | Item::ArrayOfTables(_) => item,
    };
    if let Some(existing) = servers.get_mut(name) {
        *existing = item;
    } else if let Some(servers) = servers.as_table_like_mut() {
        servers.insert(name, item);
    }
}

/// Gives the comments above a table that is gone to whatever followed it.
fn keep_comments(document: &mut DocumentMut, gone: &Table) {
    let prefix = gone.decor().prefix().and_then(|it| it.as_str()).unwrap_or_default();
    if prefix.trim().is_empty() {
        return;
    }
    let next = next_position(document.as_table(), gone.position().unwrap_or(isize::MAX));
    let next = next.and_then(|it| find_at(document.as_table_mut(), it));
    if let Some(next) = next {
        let own = next.decor().prefix().and_then(|it| it.as_str()).unwrap_or_default();
        let both = format!("{prefix}{own}");
        next.decor_mut().set_prefix(both);
        return;
    }
    let own = document.trailing().as_str().unwrap_or_default();
    let both = format!("{prefix}{own}");
    document.set_trailing(both);
}

fn next_position(table: &Table, from: isize) -> Option<isize> {
    let positions = table.iter().flat_map(|(_, item)| tables(item)).flat_map(|inner| {
        let own = inner.position().filter(|it| from < *it && !inner.is_implicit());
        [own, next_position(inner, from)]
    });
    positions.flatten().min()
}

fn tables(item: &Item) -> Vec<&Table> {
    match item {
        Item::Table(table) => vec![table],
        Item::ArrayOfTables(tables) => tables.iter().collect(),
        Item::None | Item::Value(_) => Vec::new(),
    }
}

fn find_at(table: &mut Table, position: isize) -> Option<&mut Table> {
    for (_, item) in table.iter_mut() {
        let inner: Vec<&mut Table> = match item {
            Item::Table(table) => vec![table],
            Item::ArrayOfTables(tables) => tables.iter_mut().collect(),
            Item::None | Item::Value(_) => Vec::new(),
        };
        for table in inner {
            if table.position() == Some(position) && !table.is_implicit() {
                return Some(table);
            }
            if let Some(found) = find_at(table, position) {
                return Some(found);
            }
        }
    }
    None
}

/// Returns the changed document as text, in which every line that did not change is as it was: the
/// library writes all ends of lines alike.
fn restyled(text: &str, document: &DocumentMut) -> String {
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK } else { "" };
    let changed = document.to_string();
    let old = diff::split(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    let alike: Vec<String> = old.iter().map(|it| it.replace('\r', "")).collect();
    let alike: Vec<&str> = alike.iter().map(String::as_str).collect();
    let new = diff::split(&changed);
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let compared = diff::compare(&alike, &new);
    let changes = compared.iter().flat_map(|it| it.iter_changes(&*alike, &*new));
    let lines = changes.filter_map(|it| match it.tag() {
        ChangeTag::Equal => old.get(it.old_index()?).map(|it| (*it).to_owned()),
        ChangeTag::Insert => Some(it.value().replace('\n', line_end)),
        ChangeTag::Delete => None,
    });
    format!("{mark}{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry() -> Entry {
        Entry { command: "milepost".to_owned(), args: vec!["mcp".to_owned()] }
    }

    /// Sets an entry and checks that it is there, and that all else means what it meant.
    fn added(text: &str) -> String {
        let changed = set(text, "new", &entry()).unwrap();
        let found = entries(&changed).unwrap().into_iter().find(|it| it.0 == "new").unwrap();
        assert_eq!(found.1["command"], "milepost", "{changed}");
        assert_eq!(found.1["args"], json!(["mcp"]), "{changed}");
        let others = |text: &str| {
            let all = entries(text).unwrap().into_iter().filter(|it| it.0 != "new");
            all.collect::<Vec<_>>()
        };
        assert_eq!(others(&changed), others(text), "{changed}");
        changed
    }

    #[test]
    fn an_entry_is_added_and_removed_and_the_rest_stays() {
        let new = "[mcp_servers.new]\ncommand = \"milepost\"\nargs = [\"mcp\"]\n";
        assert_eq!(added(""), new);
        let text = "# mine\nmodel = 'x' # why\n\n[mcp_servers.old] # old\ncommand = \"x\"\n\n[b]\ny=1\n# end\n";
        let changed = added(text);
        assert_eq!(changed, text.replace("\n[b]", &format!("\n{new}\n[b]")));
        assert_eq!(remove(&changed, "new").unwrap(), text);
        assert_eq!(remove(text, "new").unwrap(), text);
        let marked = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let changed = added(&marked);
        assert!(changed.starts_with('\u{feff}'));
        assert_eq!(changed.matches('\n').count(), changed.matches("\r\n").count());
        assert_eq!(remove(&changed, "new").unwrap(), marked);
        let mixed = "a = 1\r\nb = 2\n[mcp_servers.old]\r\ncommand = \"x\"\n";
        assert!(added(mixed).starts_with(mixed));
    }

    #[test]
    fn only_what_is_ours_changes_in_an_entry_that_is_there() {
        let text = "[mcp_servers.new]\n# which\ncommand = \"old\" # mine\nstartup = 9\n[mcp_servers.new.env]\nA = \"b\"\n";
        let expected = text
            .replace("\"old\"", "\"milepost\"")
            .replace("startup = 9\n", "startup = 9\nargs = [\"mcp\"]\n");
        assert_eq!(added(text), expected);
        let address = "[mcp_servers.new]\nurl = \"http://x\"\n";
        assert!(!added(address).contains("url"));
    }

    #[test]
    fn every_way_to_write_the_table_is_understood() {
        for text in [
            "mcp_servers = { old = { command = \"x\" } }\n",
            "mcp_servers.old.command = \"x\"\n",
            "[mcp_servers]\nold = { command = \"x\" }\n",
            "[mcp_servers]\nnew = { command = \"x\" }\n",
            "[mcp_servers]\nold.command = \"x\"\n[z]\n",
            "[mcp_servers]\n",
            "[[a]]\n[[a]]\n[mcp_servers.\"old one\"]\ncommand = '''\nx\n'''\n[a.b]\n",
            "a = 1",
        ] {
            let changed = added(text);
            let back = remove(&changed, "new").unwrap();
            assert!(entries(&back).unwrap().iter().all(|it| it.0 != "new"), "{back}");
        }
    }

    #[test]
    fn comments_above_an_entry_outlive_it() {
        let text = "[a]\n\n# about it\n[mcp_servers.new]\ncommand = \"x\"\n\n# about b\n[b]\n";
        assert_eq!(remove(text, "new").unwrap(), "[a]\n\n# about it\n\n# about b\n[b]\n");
        let last = "[a]\n\n# about it\n[mcp_servers.new]\ncommand = \"x\"\n";
        assert_eq!(remove(last, "new").unwrap(), "[a]\n\n# about it\n");
    }

    #[test]
    fn an_entry_is_put_back_as_it_was() {
        let before = "[mcp_servers.new] # mine\ncommand = 'x'\n\n[b]\n";
        let after = added(before);
        assert_eq!(transplant(before, &after, "new").unwrap(), before);
        assert_eq!(transplant(&after, before, "new").unwrap(), after);
        let fresh = added("[b]\ny = 1\n");
        assert_eq!(transplant(&fresh, "[b]\ny = 1\n", "new").unwrap(), fresh);
    }

    #[test]
    fn what_is_no_table_of_servers_is_refused() {
        assert_eq!(
            set("mcp_servers = 3\n", "new", &entry()).unwrap_err(),
            "`mcp_servers` is not a table"
        );
        assert!(set("a = 1\nb = = 2\n", "new", &entry()).unwrap_err().starts_with("line 2: "));
    }
}
