//! What a workflow is: a folder of Markdown or a graph in YAML, read into steps and the rules on
//! leaving them.
//!
//! ```text
//! Files ──parse──► Workflow ──check──► diagnostics        text in, types or diagnostics out
//! ```
//!
//! A definition holds no progress: how far a run has come is the engine's business. Nothing here
//! reads a file; callers pass a [`Files`] in. Libraries for YAML, templates, patterns and schemas
//! are wrapped here, so that the rest of the program sees only [`Condition`], [`Expression`],
//! [`Template`], [`Pattern`] and [`Schema`].

mod check;
mod diagnostic;
mod digest;
mod expression;
mod inputs;
mod name;
mod parse;
mod pattern;
mod rule;
mod source;
mod step;
mod suggest;
mod text;
mod workflow;

pub use check::lint;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use digest::{Digest, Hasher};
pub use expression::{Condition, EvaluationError, Expression, ExpressionError, Scope, Template};
pub use inputs::{fill_inputs, prepare_inputs};
pub use name::{NameError, PartId, StepName, WorkflowName};
pub use parse::{
    LANGUAGE_VERSION, ParseError, ParseErrorKind, find_graph_name, parse, parse_graph,
};
pub use pattern::{Pattern, Schema};
pub use rule::{Action, Consent, Deed, Insertion, Move, Rotation, Rule};
pub use source::{FileError, Files, MemoryFiles, Source};
pub use step::{
    Attempts, Check, CommandCheck, Criterion, Each, Effect, Evidence, Gate, GateOption, Limit,
    Need, Order, PartSource, PartSpec, Product, Review, Spent, Step, Successor, Target, Timeout,
    Unknown, Work,
};
pub use text::{Finding, find_findings, find_heading, find_verdict, parse_parts, word_count};
pub use workflow::{
    Answers, Choices, Decider, End, Ends, Flow, Form, Input, Limits, Var, VarKind, Workflow,
};

/// The word that ends a run in `next` and in a decider's reply.
pub const FINISH: &str = "FINISH";
/// The word that fails a run in a decider's reply; no step may be called so.
pub const FAILED: &str = "FAILED";
