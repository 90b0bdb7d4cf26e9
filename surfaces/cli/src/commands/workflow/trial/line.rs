//! What can be typed in a trial.

use definition::PartId;
use engine::Answer;
use serde_json::Value;

/// What `help` prints.
pub(super) const HELP: &str = "  ok [MESSAGE]            report success
  fail [MESSAGE]          report a failure
  open [MESSAGE]          report that the step goes on
  next STEP               report success, and choose the step that comes next
  set KEY=VALUE           add to the context with the next report
  evidence KEY=TEXT       give evidence with the next report
  part ID                 the next report is about this part
  file PATH [TEXT]        write a file as the agent would; `\\n` is a new line
  approve, reject [TEXT]  answer the open gate, as a person
  answer NAME [TEXT]      the same, with one of its own answers
  show                    show again what to do now
  quit                    end the trial
";

/// A line that was typed.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    Nothing,
    Help,
    Show,
    Quit,
    Report(Said),
    Answer(Answer, String),
    Set(String, Value),
    Evidence(String, Value),
    Part(PartId),
    File(String, String),
}

/// What a report says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) status: String,
    pub(super) message: String,
    pub(super) next: Option<String>,
}

impl Line {
    /// Reads a line; the error says what is wrong with it.
    pub(super) fn read(line: &str) -> Result<Self, String> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let said = |status: &str| {
            Self::Report(Said { status: status.to_owned(), message: rest.to_owned(), next: None })
        };
        let (first, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        Ok(match word {
            "" => Self::Nothing,
            "help" | "?" => Self::Help,
            "show" => Self::Show,
            "quit" | "exit" => Self::Quit,
            "ok" | "success" => said("success"),
            "fail" | "failure" => said("failure"),
            "open" => said("in_progress"),
            "next" if !rest.is_empty() => {
                let (status, message) = ("success".to_owned(), String::new());
                Self::Report(Said { status, message, next: Some(rest.to_owned()) })
            }
            "approve" => Self::Answer(Answer::Approve, rest.to_owned()),
            "reject" => Self::Answer(Answer::Reject, rest.to_owned()),
            "answer" if !first.is_empty() => {
                Self::Answer(Answer::Named(first.to_owned()), more.trim().to_owned())
            }
            "set" => pair(rest).map(|(name, value)| Self::Set(name, value))?,
            "evidence" => pair(rest).map(|(name, value)| Self::Evidence(name, value))?,
            "part" => Self::Part(PartId::parse(rest).map_err(|error| error.to_string())?),
            "file" if !first.is_empty() => {
                Self::File(first.to_owned(), format!("{}\n", more.trim().replace("\\n", "\n")))
            }
            "next" | "answer" | "file" => return Err(format!("`{word}` needs a name")),
            _ => return Err(format!("`{word}` means nothing here")),
        })
    }
}

/// Reads `KEY=VALUE`; the value is JSON, or else a text.
pub(super) fn pair(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("write `KEY=VALUE`")?;
    let value = value.trim();
    let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    Ok((name.trim().to_owned(), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_read_as_it_is_meant() {
        let said = |status: &str, message: &str, next: Option<&str>| {
            let next = next.map(str::to_owned);
            Ok(Line::Report(Said { status: status.into(), message: message.into(), next }))
        };
        assert_eq!(Line::read(" ok  it works "), said("success", "it works", None));
        assert_eq!(Line::read("next Write Poem"), said("success", "", Some("Write Poem")));
        assert_eq!(Line::read("set n = 3"), Ok(Line::Set("n".into(), json!(3))));
        assert_eq!(Line::read("set who=Ana B"), Ok(Line::Set("who".into(), json!("Ana B"))));
        let file = Line::File("a/b.md".into(), "# A\nb c\n".into());
        assert_eq!(Line::read(r"file a/b.md # A\nb c"), Ok(file));
        let answer = Line::Answer(Answer::Named("later".into()), "not yet".into());
        assert_eq!(Line::read("answer later not yet"), Ok(answer));
        for wrong in ["dance", "next", "file", "set x", "part ../x"] {
            assert!(Line::read(wrong).is_err(), "{wrong}");
        }
    }
}
