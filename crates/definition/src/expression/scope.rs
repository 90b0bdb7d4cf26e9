//! What conditions, expressions and templates see.
//!
//! A decision evaluates dozens of them, and each names one or two members of one root. So a scope
//! holds no values; each evaluation asks it for what that one names.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Serde;
use serde::Serialize;
use serde_json::{Map, Value};

use super::NameUse;

/// What an expression is evaluated on: it gives the roots, such as `context`, `vars` and `report`,
/// when an expression names them. A JSON object is one, with its members as roots.
pub trait Scope {
    /// Returns what the root called `name` is, with at least these `members`.
    /// A root that is not there is not set.
    fn find(&self, name: &str, members: &Members) -> Option<Root>;
}

/// The value of a root.
pub struct Root(minijinja::Value);

/// The members of a root that an expression looks at.
pub enum Members {
    All,
    Only(BTreeSet<String>),
}

impl Root {
    /// Makes a root of anything that can be written as JSON.
    pub fn new(value: impl Serialize) -> Self {
        Self(minijinja::Value::from(Serde(value)))
    }
}

impl Members {
    /// Returns whether an expression looks at the member called `name`.
    pub fn include(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }

    /// Returns the root that is this object, as far as an expression looks at it.
    pub fn of(&self, object: &Map<String, Value>) -> Root {
        match self {
            Self::All => Root::new(object),
            Self::Only(names) => {
                let member = |name: &String| object.get_key_value(name);
                Root::new(names.iter().filter_map(member).collect::<BTreeMap<_, _>>())
            }
        }
    }

    fn add(&mut self, member: Option<&str>) {
        match (&mut *self, member) {
            (Self::All, _) => {}
            (Self::Only(names), Some(name)) => {
                names.insert(name.to_owned());
            }
            (Self::Only(_), None) => *self = Self::All,
        }
    }
}

impl Scope for Value {
    fn find(&self, name: &str, _members: &Members) -> Option<Root> {
        self.get(name).map(Root::new)
    }
}

/// Returns the object of the roots that are wanted.
pub(super) fn select(scope: &dyn Scope, wanted: &BTreeMap<String, Members>) -> minijinja::Value {
    let find =
        |(name, members): (&String, &Members)| Some((name.clone(), scope.find(name, members)?.0));
    minijinja::Value::from_pairs(wanted.iter().filter_map(find))
}

/// Returns the roots that these names begin with, each with the members that follow it.
pub(super) fn find_roots(names: &[NameUse]) -> BTreeMap<String, Members> {
    let mut roots: BTreeMap<String, Members> = BTreeMap::new();
    for name in names {
        let (root, rest) = name.text.split_at(end_of_word(&name.text));
        let rest = rest.strip_prefix('.');
        let member = rest.map(|it| it.split_at(end_of_word(it)).0).filter(|it| !it.is_empty());
        let members = roots.entry(root.to_owned());
        members.or_insert_with(|| Members::Only(BTreeSet::new())).add(member);
    }
    roots
}

fn end_of_word(text: &str) -> usize {
    let is_of_word = |it: char| it.is_alphanumeric() || it == '_';
    text.find(|it| !is_of_word(it)).unwrap_or(text.len())
}
