//! How answers reach people and programs: data to standard output, talk to standard error.
//!
//! Every command makes both forms of its answer, so that `--json` is there for each of them. What
//! agents wrote is cleaned of control characters before a terminal sees it.

pub(crate) mod diff;
pub(crate) mod table;
pub(crate) mod text;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use self::table::Grid;
use crate::failure::Failure;

/// The version of every JSON answer.
pub(crate) const VERSION: u32 = 1;
/// The width of output that is not a terminal.
const WIDTH: usize = 100;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const DIFF_LESS: Style = AnsiColor::Red.on_default();
pub(crate) const ALERT: Style = AnsiColor::Yellow.on_default();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();

/// What a command answers, in both forms.
#[derive(Debug)]
pub(crate) struct Reply {
    /// An object; the version is added to it.
    pub(crate) json: Value,
    pub(crate) text: String,
    /// What is said besides, to people only.
    pub(crate) note: Option<String>,
    /// Whether everything is as it should be: if not, the exit code is 1.
    pub(crate) is_fine: bool,
}

impl Reply {
    /// An answer with nothing wrong in it.
    pub(crate) fn new(json: Value, text: impl Into<String>) -> Self {
        Self { json, text: text.into(), note: None, is_fine: true }
    }

    /// Adds what is said besides.
    #[must_use]
    pub(crate) fn with_note(self, note: impl Into<Option<String>>) -> Self {
        Self { note: note.into(), ..self }
    }
}

/// Where answers go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) is_json: bool,
    /// Whether tables are values separated by tabs.
    is_plain: bool,
    color: ColorChoice,
}

impl Output {
    /// Answers as the flags say.
    pub(crate) fn new(is_json: bool, color: ColorChoice) -> Self {
        Self { is_json, is_plain: false, color }
    }

    /// Has tables written as values separated by tabs.
    #[must_use]
    pub(crate) fn plain(self, is_plain: bool) -> Self {
        Self { is_plain, ..self }
    }

    /// Prints an answer in the form that was asked for.
    pub(crate) fn reply(&self, reply: Reply) -> Result<(), Failure> {
        if self.is_json {
            return self.json(reply.json);
        }
        self.print(&reply.text)?;
        if let Some(note) = reply.note {
            self.say(&note);
        }
        Ok(())
    }

    /// Prints data.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = AutoStream::new(io::stdout().lock(), self.color);
        out.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        Ok(out.flush()?)
    }

    /// Prints what stands before the place where someone types.
    pub(crate) fn prompt(&self, text: &str) -> Result<(), Failure> {
        let mut out = AutoStream::new(io::stdout().lock(), self.color);
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Prints a file as it is, to the byte, unless a terminal would obey what is in it.
    pub(crate) fn raw(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        if out.is_terminal() {
            drop(out);
            return self.print(&text::lines(text));
        }
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Prints a JSON document.
    pub(crate) fn json(&self, value: Value) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(&versioned(value)).unwrap_or_default();
        self.print(&text::harmless_json(&text))
    }

    /// Prints one line of JSON.
    pub(crate) fn json_line(&self, value: Value) -> Result<(), Failure> {
        let text = versioned(value).to_string();
        self.print(&text::harmless_json(&text))
    }

    /// Tells the user something, on standard error.
    pub(crate) fn say(&self, text: &str) {
        let mut out = AutoStream::new(io::stderr().lock(), self.color);
        // If standard error is closed, there is no other place to report it.
        drop(writeln!(out, "{}", text.trim_end_matches('\n')));
    }

    /// Tells of a failure.
    pub(crate) fn fail(&self, failure: &Failure) {
        if self.is_json {
            drop(self.json(failure.to_json()));
            return;
        }
        let message = text::lines(&failure.message);
        let mut text = format!("{BAD}error{BAD:#}{BOLD}:{BOLD:#} {message}");
        if let Some(hint) = &failure.hint {
            text.push_str(&format!("\n {GOOD}help:{GOOD:#} {}", text::lines(hint)));
        }
        self.say(&text);
    }

    /// Asks the user, and returns whether the answer is yes.
    pub(crate) fn ask(&self, question: &str) -> Result<bool, Failure> {
        let mut err = io::stderr().lock();
        write!(err, "{} [y/N] ", text::line(question))?;
        err.flush()?;
        drop(err);
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        if line.is_empty() {
            self.say("");
        }
        Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Draws a table: in the width of the terminal, or whole where another program reads it.
    pub(crate) fn draw(&self, grid: Grid) -> String {
        if self.is_plain {
            return grid.plain();
        }
        let size = terminal_size::terminal_size_of(io::stdout());
        grid.render(size.map(|_| self.width()))
    }

    /// Returns how wide output may be.
    pub(crate) fn width(&self) -> usize {
        let size = terminal_size::terminal_size_of(io::stdout());
        size.map_or(WIDTH, |(width, _)| usize::from(width.0).max(40))
    }

    /// Returns whether colour is shown on standard output.
    pub(crate) fn is_colored(&self) -> bool {
        let stream = AutoStream::new(io::stdout(), self.color);
        stream.current_choice() != ColorChoice::Never
    }

    /// Returns whether someone sits there who can be asked.
    pub(crate) fn is_interactive(&self) -> bool {
        !self.is_json && io::stdin().is_terminal() && io::stderr().is_terminal()
    }
}

fn versioned(mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.insert("version".to_owned(), json!(VERSION));
    }
    value
}
