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
mod chore;
mod diagnostic;
mod digest;
mod expression;
mod guards;
mod inputs;
mod name;
mod parse;
mod pattern;
mod product;
mod reach;
mod rule;
mod rulebook;
mod source;
mod step;
mod suggest;
mod text;
mod workflow;

pub use check::{find_label, find_unlinked, lint};
pub use chore::{Chore, ChoreDeed, OnFailure, Publication};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use digest::{Digest, Hasher};
pub use expression::{
    Condition, EvaluationError, Expression, ExpressionError, Members, Root, Scope, Template,
};
pub use guards::{Bypass, Guarded, Guards};
pub use inputs::{describe_context, fill_inputs, prepare_inputs, take_inputs};
pub use name::{NameError, PartId, StepName, WorkflowName};
pub use parse::{ParseError, ParseErrorKind, find_graph_name, parse, parse_graph, parse_new};
pub use pattern::{Pattern, Schema};
pub use product::{Beside, check_product};
pub use rule::{Action, Consent, Deed, Insertion, Moments, Move, Rotation, Rule};
pub use rulebook::{Rulebook, Violation};
pub use source::{FileError, Files, MemoryFiles, Source};
pub use step::{
    Attempts, Check, CommandCheck, Criterion, Each, Effect, Evidence, Gate, GateOption, Limit,
    Need, Order, Otherwise, PartSource, PartSpec, Presence, Product, Review, Rules, Spent, Step,
    Successor, Target, Timeout, Unknown, Whole, Work,
};
pub use text::{
    Finding, Reviewed, check_parts, find_findings, find_heading, find_verdict, is_blank, mentions,
    parse_parts, read_review, visible, word_count,
};
pub use workflow::{
    Answers, Budget, Choices, Decider, End, Ends, Flow, Form, Input, Limits, Money, Stretch, Var,
    VarKind, Workflow,
};

/// The word that ends a run in `next` and in a decider's reply.
pub const FINISH: &str = "FINISH";
/// The word that fails a run in a decider's reply; no step may be called so.
pub const FAILED: &str = "FAILED";
