//! What past runs of a specification pipeline left in their folders, and what that teaches.
//!
//! Each run has a folder with `state.json`, a request, reviews and reports. Anyone who asks reads them;
//! here they are only understood: found again by words, counted, and boiled down to what to mind.

mod cut;
mod estimate;
mod figures;
mod friction;
mod index;
mod patterns;
mod prices;
mod record;
mod request;
mod review;
mod state;

pub use cut::cut;
pub use estimate::{Confidence, Estimate, Spread, estimate};
pub use figures::{Dashboard, FindingCount, ReviewFindings, Summary, TemplateCount, duration_text};
pub use friction::{Friction, FrictionPoint, improvement_report};
pub use index::{ImplOutcome, ImplPattern, IndexEntry, ReviewFeedback, SpecTexts};
pub use patterns::{PATTERNS_MAX, Pattern, Patterns, category, normalise};
pub use prices::{Price, Prices, Usage};
pub use record::{HistoryIndex, Outcome, Record, Tags};
pub use request::Request;
pub use review::{Review, UNKNOWN, VERDICTS};
pub use state::{LogEntry, SpecState};
