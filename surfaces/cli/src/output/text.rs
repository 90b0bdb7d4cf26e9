//! Small texts: cleaned, wrapped, counted.

use std::{fmt, time::Duration};

use engine::Timestamp;
use jiff::{Zoned, tz::TimeZone};
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

/// Returns a moment to the second: the date, and the time of day, where the user is.
pub(crate) fn moment(at: Timestamp) -> (String, String) {
    let Some(zoned) = zoned(at) else { return (at.to_string(), String::new()) };
    (zoned.strftime("%F").to_string(), zoned.strftime("%T").to_string())
}

/// Returns a moment where the user is. A moment beyond all calendars has no such form.
fn zoned(at: Timestamp) -> Option<Zoned> {
    let at = jiff::Timestamp::from_microsecond(at.0).ok()?;
    Some(at.to_zoned(TimeZone::system()))
}

/// Returns a moment in one text.
pub(crate) fn at(at: Timestamp) -> String {
    zoned(at).map_or_else(|| at.to_string(), |it| it.strftime("%F %T %Z").to_string())
}

/// Returns a text as it is typed in a shell: in quotes, where it is more than one plain word.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "-_./:@%+=,".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns a text in which each `${{ … }}` stands as the `<name>` of what will be filled in.
pub(crate) fn filled_in_later(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let Some((inner, behind)) = after.split_once("}}") else { break };
        let name = inner.trim().rsplit('.').next().unwrap_or_default();
        shown.push_str(&format!("{before}<{}>", name.trim()));
        rest = behind;
    }
    shown + rest
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
    fn a_name_is_quoted_where_a_shell_would_split_it() {
        assert_eq!([word("SAVE"), word("a-b.c")], ["SAVE", "a-b.c"]);
        assert_eq!([word("My Flow"), word("it's"), word("")], ["'My Flow'", r"'it'\''s'", "''"]);
    }

    #[test]
    fn what_is_filled_in_later_stands_by_its_name() {
        let shown = filled_in_later("Do ${{ inputs.task }} for ${{who}} now, ${{ open");
        assert_eq!(shown, "Do <task> for <who> now, ${{ open");
    }

    #[test]
    fn durations_are_rough() {
        let shown = |seconds| span(Duration::from_secs(seconds));
        assert_eq!([shown(3), shown(120), shown(7200), shown(200_000)], ["3s", "2m", "2h", "2d"]);
    }
}
