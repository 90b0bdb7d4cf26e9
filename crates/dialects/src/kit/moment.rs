//! Moments as others write them into files that we share.

use engine::Timestamp;

/// Reads a moment as ISO 8601 has it: with `Z` or an offset, or in UTC without either; with or
/// without a fraction of a second; a day alone is its beginning.
pub fn moment(text: &str) -> Option<Timestamp> {
    const DAY_LENGTH: usize = "2025-11-03".len();
    const OFFSET_LENGTH: usize = "+00:00".len();
    let text = text.trim();
    if text.len() == DAY_LENGTH {
        return in_utc(&format!("{text}T00:00:00"));
    }
    if let Some(utc) = text.strip_suffix(['Z', 'z']) {
        return in_utc(utc);
    }
    let (local, offset) = text.split_at_checked(text.len().checked_sub(OFFSET_LENGTH)?)?;
    let Some((sign, clock)) = offset.split_at_checked(1) else { return in_utc(text) };
    let sign = match sign {
        "+" => 1,
        "-" => -1,
        _ => return in_utc(text),
    };
    let (hours, minutes) = clock.split_once(':')?;
    let seconds = (digits(hours)? * 60 + digits(minutes)?) * 60;
    let Timestamp(micros) = in_utc(local)?;
    Some(Timestamp(micros - sign * seconds * 1_000_000))
}

/// Reads a moment in UTC without its `Z`; digits after the microseconds are dropped.
fn in_utc(text: &str) -> Option<Timestamp> {
    const LENGTH: usize = "2025-11-03T14:30:45".len();
    let text = text.replacen(' ', "T", 1);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    // A year has four digits, so that no date is too far away to be counted.
    if whole.len() != LENGTH {
        return None;
    }
    let fraction: String = fraction.chars().take(6).collect();
    let point = if fraction.is_empty() { "" } else { "." };
    Timestamp::parse(&format!("{whole}{point}{fraction}Z"))
}

fn digits(text: &str) -> Option<i64> {
    let is_pair = text.len() == 2 && text.bytes().all(|it| it.is_ascii_digit());
    is_pair.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn both_forms_of_a_moment_are_the_same_instant() {
        let zulu = moment("2025-11-03T14:30:45Z").unwrap();
        for text in [
            "2025-11-03T14:30:45+00:00",
            "2025-11-03T14:30:45.000000+00:00",
            "2025-11-03T14:30:45.000000123Z",
            "2025-11-03T17:30:45.0000000+03:00",
            "2025-11-03T13:30:45-01:00",
            "2025-11-03T14:30:45",
            "2025-11-03 14:30:45.0",
        ] {
            assert_eq!(moment(text), Some(zulu), "{text}");
        }
        for text in ["", "yesterday", "2025-13-03", "+00:00", "é+00:00", "99999-11-03T14:30:45Z"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
