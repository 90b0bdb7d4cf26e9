//! The editor, over many shapes of text.

use jsonc_parser::cst::CstInputValue;
use serde_json::json;

use super::{Document, remove, set};

const PATH: [&str; 2] = ["mcpServers", "new"];

fn entry() -> CstInputValue {
    let args = CstInputValue::from(vec!["mcp", "-x"]);
    vec![("command".to_owned(), "milepost".into()), ("args".to_owned(), args)].into()
}

fn value(document: &Document, path: &[&str]) -> serde_json::Value {
    document.find(path).unwrap().to_serde_value().unwrap()
}

/// Sets an entry, and checks that it is there, that setting it again changes nothing, and that
/// everything else means what it meant.
fn added(text: &str) -> String {
    let changed = set(text, &PATH, entry()).unwrap();
    let document = Document::parse(&changed).unwrap_or_else(|it| panic!("{it}\n{changed}"));
    assert_eq!(
        value(&document, &PATH),
        json!({"command": "milepost", "args": ["mcp", "-x"]}),
        "{changed}"
    );
    assert_eq!(set(&changed, &PATH, entry()).unwrap(), changed);
    let before = Document::parse(text).unwrap();
    for (name, value) in before.members(&[]).unwrap() {
        let now = document.members(&[]).unwrap();
        let same = now.iter().find(|it| it.0 == name).unwrap();
        if name != "mcpServers" {
            assert_eq!(same.1, value, "{changed}");
        }
    }
    changed
}

fn removed(text: &str) -> String {
    let changed = remove(text, &PATH).unwrap();
    let document = Document::parse(&changed).unwrap_or_else(|it| panic!("{it}\n{changed}"));
    assert!(document.find(&PATH).is_none(), "{changed}");
    assert_eq!(remove(&changed, &PATH).unwrap(), changed);
    changed
}

#[test]
fn a_text_without_a_value_gets_one() {
    let whole = "{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"milepost\",\n      \
                 \"args\": [\"mcp\", \"-x\"]\n    }\n  }\n}\n";
    assert_eq!(added(""), whole);
    assert_eq!(added(" \n\t\n"), whole);
    assert_eq!(added("// mine\n"), format!("// mine\n{whole}"));
    assert_eq!(added("/* mine */"), format!("/* mine */\n{whole}"));
    assert_eq!(added("\u{feff}"), format!("\u{feff}{whole}"));
    assert_eq!(added("{}\n"), whole);
    assert_eq!(added("{}"), whole.trim_end());
    assert_eq!(added("{\n}\n"), whole);
    assert_eq!(added("{\"mcpServers\": {}}\n").matches('\n').count(), 1);
}

#[test]
fn what_lies_on_the_way_is_made() {
    let path = ["mcp", "servers", "new"];
    let text = "{\n\t\"a\": 1\n}\n";
    let value = || CstInputValue::Array(Vec::new());
    let once = set(text, &path, value()).unwrap();
    assert_eq!(
        once,
        "{\n\t\"a\": 1,\n\t\"mcp\": {\n\t\t\"servers\": {\n\t\t\t\"new\": []\n\t\t}\n\t}\n}\n"
    );
    let half = "{\n\t\"mcp\": {\n\t\t\"inputs\": []\n\t}\n}\n";
    assert_eq!(
        set(half, &path, value()).unwrap(),
        "{\n\t\"mcp\": {\n\t\t\"inputs\": [],\n\t\t\"servers\": {\n\t\t\t\"new\": []\n\t\t}\n\t}\n}\n"
    );
}

#[test]
fn comments_commas_and_blanks_stay_where_they_are() {
    let text = "\
// one
{ // two
  /* three */ \"a\" /* four */ : /* five */ 1 /* six */, // seven
  // eight
  \"mcpServers\": { // nine
    // ten
    \"old\": { \"command\": \"x\", }, // eleven
    // twelve
  }, // thirteen
  // fourteen
} // fifteen
// sixteen
";
    let changed = added(text);
    let new = "    \"new\": {\n      \"command\": \"milepost\",\n      \"args\": [\"mcp\", \"-x\"]\n    },\n";
    let at = text.find("    // twelve").unwrap();
    assert_eq!(changed, format!("{}{new}{}", &text[..at], &text[at..]));
    assert_eq!(removed(&changed), text);
}

#[test]
fn a_comma_is_added_right_behind_the_value() {
    let text = "{\n  \"mcpServers\": {\n    \"old\": {} // mine\n    // last\n  }\n}\n";
    let changed = added(text);
    assert!(changed.contains("\"old\": {}, // mine\n    \"new\": {\n"), "{changed}");
    assert!(changed.contains("    }\n    // last\n"), "{changed}");
    assert_eq!(removed(&changed), text);
    let block = "{\n  \"mcpServers\": {\n    \"old\": {} /* a\n    b */ }\n}\n";
    let changed = added(block);
    assert!(changed.contains("\"old\": {},\n") && changed.contains("/* a\n    b */"), "{changed}");
    removed(&changed);
}

#[test]
fn line_ends_and_tabs_are_kept() {
    let text = "{\r\n\t\"mcpServers\": {\r\n\t\t\"old\": {}\r\n\t}\r\n}\r\n";
    let changed = added(text);
    assert_eq!(changed.matches('\n').count(), changed.matches("\r\n").count());
    assert!(changed.contains("\r\n\t\t\"new\": {\r\n\t\t\t\"command\""), "{changed}");
    assert_eq!(removed(&changed), text);
    let four = "{\n    \"a\": {\n        \"b\": 1\n    }\n}";
    assert!(added(four).contains("\n    \"mcpServers\": {\n        \"new\": {\n            \"com"));
}

#[test]
fn what_stands_on_one_line_stays_there() {
    let text = "{\"a\":1,\"mcpServers\":{\"old\":{}}}";
    let changed = added(text);
    assert_eq!(
        changed,
        "{\"a\":1,\"mcpServers\":{\"old\":{}, \
         \"new\": {\"command\": \"milepost\", \"args\": [\"mcp\", \"-x\"]}}}"
    );
    assert_eq!(removed(&changed), text);
    assert_eq!(
        removed("{\"mcpServers\": {\"new\": 1, \"b\": 2}}"),
        "{\"mcpServers\": { \"b\": 2}}"
    );
    assert_eq!(
        removed("{\"mcpServers\": {\"b\": 2, \"new\": 1, }}"),
        "{\"mcpServers\": {\"b\": 2, }}"
    );
    assert_eq!(removed("{\"mcpServers\": { \"new\": 1 }}"), "{\"mcpServers\": {}}");
    let commented = added("{\"a\": 1, // x\n\"mcpServers\": {\"b\": 2 // y\n}}");
    removed(&commented);
}

#[test]
fn only_the_member_goes() {
    let text = "\
{
  \"mcpServers\": {
    \"a\": 1, // one
    // about the new one
    \"new\": { \"x\": [1, 2], }, // two
    // about b
    \"b\": 2
  }
}
";
    let expected = text.replace("    \"new\": { \"x\": [1, 2], }, // two\n", "");
    assert_eq!(removed(text), expected);
    let last = "{\n  \"mcpServers\": {\n    \"a\": 1, // one\n    \"new\": 2\n  }\n}\n";
    assert_eq!(removed(last), "{\n  \"mcpServers\": {\n    \"a\": 1 // one\n  }\n}\n");
    let only = "{\n  \"mcpServers\": {\n    \"new\": 2,\n  }\n}\n";
    assert_eq!(removed(only), "{\n  \"mcpServers\": {}\n}\n");
    let held = "{\n  \"mcpServers\": {\n    // mine\n    \"new\": 2\n  }\n}\n";
    assert_eq!(removed(held), "{\n  \"mcpServers\": {\n    // mine\n  }\n}\n");
    let leading = "{ \"mcpServers\":\n  { \"a\": 1\n  , \"new\": 2\n  }\n}\n";
    removed(leading);
    let close = "{\n  \"mcpServers\": {\n    \"a\": 1, // one\n    \"new\": 2 }\n}\n";
    removed(close);
    for absent in ["", "{}", "{\"mcpServers\": {}}", "{\"mcpServers\": []}", "[]"] {
        assert_eq!(remove(absent, &PATH).unwrap(), absent);
    }
}

#[test]
fn a_value_is_replaced_in_its_place() {
    let text =
        "{\n  \"mcpServers\": {\n    \"new\": /* was */ {\"command\": \"old\"}, // here\n  },\n}\n";
    let path = ["mcpServers", "new", "command"];
    let changed = set(text, &path, "a\"b".into()).unwrap();
    assert_eq!(changed, text.replace("\"old\"", "\"a\\\"b\""));
    let with_args = set(text, &["mcpServers", "new", "args"], vec!["mcp"].into());
    assert!(with_args.unwrap().contains("{\"command\": \"old\", \"args\": [\"mcp\"]}, // here"));
    assert!(added(text).contains("\"new\": /* was */ {\n      \"command\""));
}

#[test]
fn of_two_members_of_one_name_the_last_counts_and_both_go() {
    let text = "{\"mcpServers\": {\"new\": 1, \"new\": 2}}";
    let document = Document::parse(text).unwrap();
    assert_eq!(value(&document, &PATH), json!(2));
    assert_eq!(removed(text), "{\"mcpServers\": {}}");
}

#[test]
fn names_mean_what_their_escapes_say() {
    let text = r#"{"mcpServ\u0065rs": {"n\u0065w": 1, "a\\\"{": "// no comment", "b": "/*"}}"#;
    added(text);
    removed(text);
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let told = |text: &str| Document::parse(text).unwrap_err();
    assert_eq!(told("{\n  \"a\": 1\n  \"b\": 2\n}"), "line 2, column 9: Expected comma");
    assert!(told("{\"a\" 1}").starts_with("line 1, column 6: Expected colon"));
    assert!(told("{} {}").contains("more than one JSON value"));
    assert!(told("{\"a\": 'b'}").starts_with("line 1, column 7: Single-quoted"));
    assert!(told("{\"a\": \"b").starts_with("line 1, column 7: Unterminated string"));
    assert!(told("{\"a\": /* b").starts_with("line 1, column 7: Unterminated comment"));
    for broken in ["{", "[", "{\"a\"", "{\"a\":", "{,}", "[,]", "{a: 1}", "{\"a\": 01}", "/", "é"]
    {
        told(broken);
    }
    let deep = "[".repeat(100_000);
    assert!(told(&deep).contains("nesting depth"));
}

#[test]
fn only_an_object_gets_members() {
    for (text, expected) in [
        ("[]", "the whole text is not an object"),
        ("3", "the whole text is not an object"),
        ("{\"mcpServers\": []}", "`mcpServers` is not an object"),
        ("{\"mcpServers\": null}", "`mcpServers` is not an object"),
    ] {
        assert_eq!(set(text, &PATH, entry()).unwrap_err(), expected);
        let members = Document::parse(text).unwrap().members(&["mcpServers"]);
        assert_eq!(members.unwrap_err(), expected);
    }
}

#[test]
fn any_cut_of_a_text_is_refused_or_understood() {
    let text =
        "{ // a\n  \"b\": [1, {\"c\": \"é\\n\"},], /* d */\n  \"mcpServers\": {\"e\": {}, },\n}\n";
    let cuts = (0..text.len()).filter(|it| text.is_char_boundary(*it));
    for cut in cuts {
        if Document::parse(&text[..cut]).is_ok() {
            added(&text[..cut]);
        }
    }
    removed(&added(text));
}

#[test]
fn comments_and_blanks_may_stand_anywhere() {
    const TOKENS: &str = "| { | \"a\" | : | [ | 1 | ] | , | \"mcpServers\" | : | { | \"b\" | : | 2 |COMMA } |COMMA } |";
    const GAPS: [&str; 5] = ["", "\n  ", "// c\n", "\r\n\t// c\r\n", "/* c\n */ "];
    for commas in [["", ""], [",", ","]] {
        let tokens =
            commas.iter().fold(TOKENS.to_owned(), |it, comma| it.replacen("COMMA", comma, 1));
        let parts: Vec<String> = tokens.split('|').map(|it| it.trim().to_owned()).collect();
        for first in 1..parts.len() {
            for second in first..parts.len() {
                for (one, other) in GAPS.iter().flat_map(|it| GAPS.map(|other| (*it, other))) {
                    let mut parts = parts.clone();
                    parts[first].insert_str(0, one);
                    parts[second].insert_str(0, other);
                    check_round(&parts.concat());
                }
            }
        }
    }
}

/// Adds an entry and removes it again: every comment is there in between, and all is as before.
fn check_round(text: &str) {
    let changed = added(text);
    for mark in ["// c", "/* c"] {
        let count = |text: &str| text.matches(mark).count();
        assert_eq!(count(&changed), count(text), "{text}\n=>\n{changed}");
    }
    let back = removed(&changed);
    let value = |text: &str| value(&Document::parse(text).unwrap(), &[]);
    assert_eq!(value(&back), value(text), "{text}\n=>\n{changed}\n=>\n{back}");
    let old = remove(text, &["mcpServers"]).unwrap();
    assert_eq!(value(&old), json!({"a": [1]}), "{text}\n=>\n{old}");
    let old = remove(text, &["a"]).unwrap();
    assert_eq!(value(&old), json!({"mcpServers": {"b": 2}}), "{text}\n=>\n{old}");
}
