//! Moments, handed in by anyone who owns the clock. Written as RFC 3339 in UTC with microseconds.

use alloc::string::String;
use core::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const MICROS: i64 = 1_000_000;
const DAY_SECONDS: i64 = 86_400;

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the moment `duration` later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// Returns how long ago `earlier` was; nothing if it lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        Duration::from_micros(u64::try_from(micros).unwrap_or_default())
    }

    /// Returns the moment by another clock: the one that showed `to` when this one showed `from`.
    #[must_use]
    pub fn translate(self, from: Self, to: Self) -> Self {
        Self(self.0.saturating_sub(from.0).saturating_add(to.0))
    }

    /// Returns the moment without fractions of a second: `2026-11-15T10:00:00Z`.
    pub fn to_seconds(self) -> String {
        let mut text = alloc::format!("{self}");
        text.truncate("2026-11-15T10:00:00".len());
        text.push('Z');
        text
    }

    /// Returns the day: `2026-11-15`.
    pub fn to_date(self) -> String {
        let mut text = alloc::format!("{self}");
        text.truncate("2026-11-15".len());
        text
    }

    /// Reads RFC 3339 in UTC (`2026-11-15T10:00:00.000001Z`), with up to six digits of a second.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('Z')?;
        let (date, time) = text.split_once('T')?;
        let mut date = date.splitn(3, '-');
        let (year, month, day) =
            (number(date.next()?)?, number(date.next()?)?, number(date.next()?)?);
        let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
        let mut time = time.splitn(3, ':');
        let (hour, minute, second) =
            (number(time.next()?)?, number(time.next()?)?, number(time.next()?)?);
        let is_sound = (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..=60).contains(&second)
            && fraction.len() <= 6;
        if !is_sound {
            return None;
        }
        let scale = 10_i64.pow(6 - u32::try_from(fraction.len()).ok()?);
        let micros = if fraction.is_empty() { 0 } else { number(fraction)? * scale };
        let days = days_of(year, month, day);
        Some(Self(((days * 24 + hour) * 60 + minute) * 60 * MICROS + second * MICROS + micros))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(MICROS);
        let micros = self.0.rem_euclid(MICROS);
        let (year, month, day) = date_of(seconds.div_euclid(DAY_SECONDS));
        let second = seconds.rem_euclid(DAY_SECONDS);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a moment in UTC"))
    }
}

fn number(text: &str) -> Option<i64> {
    text.bytes().all(|it| it.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Days since 1970-01-01 of a date in the proleptic Gregorian calendar, counted in eras of 400
/// years that begin in March, so that the leap day comes last.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The reverse of [`days_of`].
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
