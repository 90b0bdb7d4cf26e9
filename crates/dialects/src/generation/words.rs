//! This toolset's words: the steps of a generation, its statuses, and how times are said.
//!
//! A scene is a run's key, a generation is a run. A step has a number (as the README says it) and,
//! but for one, a name (as the coordinator says it).

use engine::Timestamp;

/// One of the seven steps.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) number: u8,
    /// The key of its record in the state file.
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    /// Its name in the six-step dialect, in which the fast check is a part of the draft.
    pub(crate) name: Option<&'static str>,
}

/// The steps, in their order.
pub(crate) const STEPS: [Step; 7] = [
    Step {
        number: 1,
        key: "step_1_file_check",
        title: "File System Check",
        name: Some("scene:gen:setup:files"),
    },
    Step {
        number: 2,
        key: "step_2_blueprint_validation",
        title: "Blueprint Validation",
        name: Some("scene:gen:setup:blueprint"),
    },
    Step {
        number: 3,
        key: "step_3_verification_plan",
        title: "Verification Plan",
        name: Some("scene:gen:setup:plan"),
    },
    Step {
        number: 4,
        key: "step_4_generation",
        title: "Prose Generation",
        name: Some("scene:gen:draft:prose"),
    },
    Step { number: 5, key: "step_5_fast_compliance", title: "Fast Compliance Check", name: None },
    Step {
        number: 6,
        key: "step_6_full_validation",
        title: "Full Validation",
        name: Some("scene:gen:review:validation"),
    },
    Step {
        number: 7,
        key: "step_7_final_output",
        title: "Final Output",
        name: Some("scene:gen:publish:output"),
    },
];

/// The step in which the scene is written.
pub(crate) const DRAFT: u8 = 4;
/// The step that checks the draft, and may lead back to it.
pub(crate) const FAST_CHECK: u8 = 5;
/// How many attempts at the draft are meant to be enough, as the definition has it.
pub(crate) const ATTEMPTS_MAX: u64 = 3;
/// How many steps there are.
pub(crate) const STEPS_TOTAL: u8 = 7;
/// How many steps have a name.
const NAMED_TOTAL: u8 = 6;

impl Step {
    /// Returns the step with this number.
    pub(crate) fn find(number: u8) -> Option<&'static Self> {
        STEPS.iter().find(|it| it.number == number)
    }

    /// Returns the step whose record has this key, which is its name in the definition.
    pub(crate) fn find_key(key: &str) -> Option<&'static Self> {
        STEPS.iter().find(|it| it.key == key)
    }

    /// Returns the step with this name in the six-step dialect.
    pub(crate) fn find_named(name: &str) -> Option<&'static Self> {
        STEPS.iter().find(|it| it.name == Some(name))
    }

    /// Returns the step after this one.
    pub(crate) fn next(&self) -> Option<&'static Self> {
        Self::find(self.number + 1)
    }
}

/// A step in the words of anyone who called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NamedStep {
    pub(crate) step: &'static Step,
    pub(crate) dialect: Dialect,
}

/// How a caller names steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Seven steps, by `step_number`.
    Numbered,
    /// Six steps, by `step_name`.
    Named,
}

impl NamedStep {
    /// Returns the step by itself: `Step 4 - Prose Generation`, or its name.
    pub(crate) fn alone(self) -> String {
        match self.name() {
            Some(name) => name.to_owned(),
            None => format!("Step {} - {}", self.step.number, self.step.title),
        }
    }

    /// Returns the step as it stands after the word "Step": `4 (Prose Generation)`, or its name.
    pub(crate) fn after_step(self) -> String {
        match self.name() {
            Some(name) => name.to_owned(),
            None => format!("{} ({})", self.step.number, self.step.title),
        }
    }

    /// Returns the argument that names the step in a call: `step_number=4`.
    pub(crate) fn argument(self) -> String {
        match self.name() {
            Some(name) => format!("step_name='{name}'"),
            None => format!("step_number={}", self.step.number),
        }
    }

    /// Returns the arguments with which the step is started.
    pub(crate) fn start_arguments(self) -> String {
        match self.name() {
            Some(name) => format!("step_name='{name}'"),
            None => {
                format!("step_number={}, phase_name='{}'", self.step.number, self.step.title)
            }
        }
    }

    /// Returns how far the step is: `4/7`, or `4/6` of those with a name.
    pub(crate) fn position(self) -> String {
        let number = self.step.number;
        match self.name() {
            Some(_) => format!("{}/{NAMED_TOTAL}", number - u8::from(5 < number)),
            None => format!("{number}/{STEPS_TOTAL}"),
        }
    }

    /// Returns how many of the steps are done, in the dialect's count.
    pub(crate) fn count(self, done: usize) -> String {
        match self.dialect {
            Dialect::Numbered => format!("{done}/{STEPS_TOTAL}"),
            Dialect::Named => format!("{}/{NAMED_TOTAL}", done.min(usize::from(NAMED_TOTAL))),
        }
    }

    /// Returns the step's name, if the caller goes by names.
    pub(crate) fn name(self) -> Option<&'static str> {
        self.step.name.filter(|_| self.dialect == Dialect::Named)
    }
}

/// How a generation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    InProgress,
    WaitingUserApproval,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    const ALL: [Self; 5] = [
        Self::InProgress,
        Self::WaitingUserApproval,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns the word as it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::InProgress => "IN_PROGRESS",
            Self::WaitingUserApproval => "WAITING_USER_APPROVAL",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }

    /// Returns all words, for people.
    pub(crate) fn listed() -> String {
        Self::ALL.map(Self::word).join(", ")
    }

    /// Reads the word.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }

    /// Returns the word that a list of runs has for it.
    pub(crate) fn standing(self) -> &'static str {
        match self {
            Self::InProgress => "running",
            Self::WaitingUserApproval => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads the word that a list of runs has.
    pub(crate) fn of_standing(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.standing() == word)
    }

    /// Whether nothing more can be done but by a resume.
    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Self::InProgress | Self::WaitingUserApproval => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }
}

/// How a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepStatus {
    Pending,
    InProgress,
    Completed,
    Failed,
    Skipped,
}

impl StepStatus {
    const ALL: [Self; 5] =
        [Self::Pending, Self::InProgress, Self::Completed, Self::Failed, Self::Skipped];

    /// Returns the word as it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::InProgress => "IN_PROGRESS",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Skipped => "SKIPPED",
        }
    }

    /// Reads the word.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }

    /// Returns the icon of its row.
    pub(crate) fn icon(self) -> &'static str {
        match self {
            Self::Completed => "✓",
            Self::InProgress => "⏳",
            Self::Failed => "❌",
            Self::Pending | Self::Skipped => "⋯",
        }
    }

    /// Whether the steps after it may begin.
    pub(crate) fn is_done(self) -> bool {
        match self {
            Self::Completed | Self::Skipped => true,
            Self::Pending | Self::InProgress | Self::Failed => false,
        }
    }
}

/// Returns the icon of an error of this severity.
pub(crate) fn severity_icon(severity: &str) -> &'static str {
    match severity {
        "LOW" => "ℹ️",
        "CRITICAL" => "🚨",
        _ => "⚠️",
    }
}

/// Says how long something took: `45s`, `3m 16s`, `1h 2m 5s`.
pub(crate) fn duration(seconds: f64) -> String {
    // So long that nobody counts any more; and nothing where it is not a time at all.
    let longest = core::time::Duration::MAX;
    let whole = core::time::Duration::try_from_secs_f64(seconds);
    let whole = whole.unwrap_or(if seconds < 0.0 { Default::default() } else { longest }).as_secs();
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if 0 < hours {
        format!("{hours}h {minutes}m {seconds}s")
    } else if 0 < minutes {
        format!("{minutes}m {seconds}s")
    } else {
        format!("{seconds}s")
    }
}

/// Writes a number with a comma between the thousands: `2,847`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index != 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the id of the session that began then: `2025-11-03-143045-scene-0204`.
pub(crate) fn session_id(started_at: Timestamp, scene_id: &str) -> String {
    let text = started_at.to_string();
    let (date, time) = text.split_once('T').unwrap_or_default();
    let time: String = time.chars().filter(char::is_ascii_digit).take(6).collect();
    format!("{date}-{time}-scene-{scene_id}")
}

#[cfg(test)]
mod tests {
    use super::{Dialect, NamedStep, Step, Timestamp, duration, session_id, thousands};

    #[test]
    fn a_duration_is_said_in_whole_seconds_without_days() {
        let cases = [
            (0.0, "0s"),
            (59.9, "59s"),
            (60.0, "1m 0s"),
            (3599.0, "59m 59s"),
            (3600.0, "1h 0m 0s"),
            (3725.0, "1h 2m 5s"),
            (93_600.0, "26h 0m 0s"),
            (-5.0, "0s"),
        ];
        for (seconds, said) in cases {
            assert_eq!(duration(seconds), said);
        }
    }

    #[test]
    fn thousands_have_commas() {
        assert_eq!([0, 999, 2847, 1_000_000].map(thousands), ["0", "999", "2,847", "1,000,000"]);
    }

    #[test]
    fn a_session_is_named_by_its_beginning() {
        let began = Timestamp::parse("2025-11-03T14:30:45Z").unwrap();
        assert_eq!(session_id(began, "0204"), "2025-11-03-143045-scene-0204");
    }

    #[test]
    fn a_step_is_said_in_the_callers_words() {
        let step = Step::find(4).unwrap();
        let numbered = NamedStep { step, dialect: Dialect::Numbered };
        let named = NamedStep { step, dialect: Dialect::Named };
        assert_eq!(numbered.alone(), "Step 4 - Prose Generation");
        assert_eq!(named.alone(), "scene:gen:draft:prose");
        assert_eq!([numbered.position(), named.position()], ["4/7", "4/6"]);
        let validation = NamedStep { step: Step::find(6).unwrap(), ..named };
        assert_eq!(validation.position(), "5/6");
    }
}
