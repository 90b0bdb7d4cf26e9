//! Small texts: cleaned, wrapped, counted.

use std::{fmt, time::Duration};

use engine::Timestamp;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns a text on one line, without anything that a terminal would obey.
pub(crate) fn line(text: &str) -> String {
    lines(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text without anything that a terminal would obey but ends of lines.
pub(crate) fn lines(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => clean.push('\n'),
            '\t' => clean.push_str("    "),
            '\r' => {}
            letter if is_harmful(letter) => {
                clean.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
            }
            letter => clean.push(letter),
        }
    }
    clean
}

/// Returns JSON in which what a terminal would obey is written as an escape. Such letters occur
/// only inside of strings.
pub(crate) fn harmless_json(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_harmful(letter) && letter != '\n' {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                clean.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            clean.push(letter);
        }
    }
    clean
}

/// Control characters, and the invisible ones that reorder or hide text.
fn is_harmful(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns the text in lines of at most `width`, all but the first after `indent` spaces.
pub(crate) fn wrap(text: &str, width: usize, indent: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut wrapped: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut current = String::new();
        for word in line.split(' ') {
            let needed = current.width() + 1 + word.width();
            if !current.is_empty() && room < needed {
                wrapped.push(std::mem::take(&mut current));
            } else if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        wrapped.push(current);
    }
    let text = wrapped.join(&format!("\n{}", " ".repeat(indent)));
    // Empty lines stay empty.
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Returns a text of several lines, each after `indent` spaces and its own, and wrapped under it.
pub(crate) fn block(text: &str, width: usize, indent: usize) -> String {
    let mut block = Vec::new();
    for line in text.lines() {
        let own = line.len() - line.trim_start().len();
        let marks = line.trim_start().len() - line.trim_start().trim_start_matches(is_mark).len();
        let first = " ".repeat(indent + own);
        block.push(format!("{first}{}", wrap(line.trim_start(), width, indent + own + marks)));
    }
    block.iter().map(|it| it.trim_end()).collect::<Vec<_>>().join("\n")
}

/// What a list item begins with.
fn is_mark(letter: char) -> bool {
    matches!(letter, '-' | '*' | '.' | ' ') || letter.is_ascii_digit()
}

/// Returns a text that takes at most `width` columns, with `…` where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let mut kept = String::new();
    for letter in text.chars() {
        let needed = letter.width().unwrap_or(0);
        if room < needed {
            break;
        }
        room -= needed;
        kept.push(letter);
    }
    format!("{}…", kept.trim_end())
}

/// Returns the text with spaces after it, up to `width` columns.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Returns how many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Returns how long ago something was, roughly.
pub(crate) fn ago(now: Timestamp, then: Timestamp) -> String {
    let since = now.since(then);
    if since < Duration::from_secs(5) {
        "just now".to_owned()
    } else {
        format!("{} ago", span(since))
    }
}

/// Returns a duration, roughly.
pub(crate) fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..90 => format!("{seconds}s"),
        90..5400 => format!("{}m", seconds / 60),
        5400..129_600 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Returns a moment to the second: the date, and the time of day in UTC.
pub(crate) fn moment(at: Timestamp) -> (String, String) {
    let text = at.to_string();
    let (date, time) = text.split_once('T').unwrap_or((&text, ""));
    let time = time.split('.').next().unwrap_or_default();
    (date.to_owned(), time.to_owned())
}

/// Returns a moment in one text.
pub(crate) fn at(at: Timestamp) -> String {
    let (date, time) = moment(at);
    format!("{date} {time} UTC")
}

/// Returns `1 step`, `2 steps`.
pub(crate) fn count<N: Copy + fmt::Display + PartialEq + From<u8>>(
    number: N,
    word: &str,
) -> String {
    if number == N::from(1) { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// Returns a number of bytes, roughly.
pub(crate) fn bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        1_048_576..1_073_741_824 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_would_obey() {
        assert_eq!(
            line("a\u{1b}[31mb\nc\td\u{202e}e\u{9b}2J"),
            "a\\u{1b}[31mb c d\\u{202e}e\\u{9b}2J"
        );
        assert_eq!(lines("a\r\nb"), "a\nb");
        assert_eq!(harmless_json("\"\u{9b}\u{202e}\u{e0001}\""), r#""\u009b\u202e\udb40\udc01""#);
    }

    #[test]
    fn texts_are_wrapped_and_cut_by_columns() {
        assert_eq!(wrap("one two three four five", 24, 4), "one two three four\n    five");
        assert_eq!(cut("日本語テキスト", 7), "日本語…");
        assert_eq!(cut("short", 7), "short");
        assert_eq!(pad("日本", 6), "日本  ");
    }

    #[test]
    fn durations_are_rough() {
        let shown = |seconds| span(Duration::from_secs(seconds));
        assert_eq!([shown(3), shown(120), shown(7200), shown(200_000)], ["3s", "2m", "2h", "2d"]);
    }
}
