//! The walk through the parts of a text, which also knows what is around each part.
//!
//! A node of tree-sitter finds its parent and its siblings from the root of the tree. In a deep text
//! that makes a walk quadratic, so only this walk says what is around a part.

use std::sync::atomic::{AtomicBool, Ordering};

use tree_sitter::TreeCursor;

use super::{Unparsed, syntax::Part};

/// Goes through the parts of a text. It does not call itself, so no text is too deep.
pub(super) struct Parts<'t> {
    cursor: TreeCursor<'t>,
    text: &'t str,
    stop: &'t AtomicBool,
    is_begun: bool,
    /// The part at hand, below all that it is in. Empty before the first part and after the last.
    levels: Vec<Level<'t>>,
}

/// A part that the walk is in.
#[derive(Clone, Copy)]
struct Level<'t> {
    part: Part<'t>,
    /// The named part right before it.
    previous: Option<Part<'t>>,
}

/// What is around a part.
#[derive(Clone, Copy)]
pub(super) struct Around<'p, 't> {
    outer: &'p [Level<'t>],
    previous: Option<Part<'t>>,
}

impl<'t> Parts<'t> {
    pub(super) fn new(cursor: TreeCursor<'t>, text: &'t str, stop: &'t AtomicBool) -> Self {
        Self { cursor, text, stop, is_begun: false, levels: Vec::new() }
    }

    /// Calls `see` with each part and what is around it, until it has seen all.
    pub(super) fn each(
        mut self,
        mut see: impl FnMut(Part<'t>, Around<'_, 't>),
    ) -> Result<(), Unparsed> {
        while let Some((part, around)) = self.next()? {
            see(part, around);
        }
        Ok(())
    }

    /// Returns the next part, and what is around it.
    pub(super) fn next(&mut self) -> Result<Option<(Part<'t>, Around<'_, 't>)>, Unparsed> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Unparsed::Stopped);
        }
        if let Some(previous) = self.advance() {
            self.levels.push(Level { part: Part::new(self.cursor.node(), self.text), previous });
        }
        Ok(self.levels.split_last().map(|(it, outer)| {
            let around = Around { outer, previous: it.previous };
            (it.part, around)
        }))
    }

    /// Moves to the next part, and returns the named part before it in the same part. `None` after
    /// the last part.
    fn advance(&mut self) -> Option<Option<Part<'t>>> {
        if !self.is_begun {
            self.is_begun = true;
            return Some(None);
        }
        if self.levels.is_empty() {
            return None;
        }
        if self.cursor.goto_first_child() {
            return Some(None);
        }
        while let Some(Level { part, previous }) = self.levels.pop() {
            if self.cursor.goto_next_sibling() {
                return Some(if part.is_named() { Some(part) } else { previous });
            }
            if !self.cursor.goto_parent() {
                self.levels.clear();
            }
        }
        None
    }
}

impl<'t> Around<'_, 't> {
    /// Returns the parts that a part is in, the nearest first.
    pub(super) fn outer(&self) -> impl Iterator<Item = Part<'t>> {
        self.outer.iter().rev().map(|it| it.part)
    }

    /// Returns the part that a part is right in.
    pub(super) fn parent(&self) -> Option<Part<'t>> {
        self.outer().next()
    }

    /// Returns what the grammar calls the part that a part is right in.
    pub(super) fn parent_kind(&self) -> &'t str {
        self.parent().map_or("", Part::kind)
    }

    /// Returns the named part right before a part.
    pub(super) fn previous(&self) -> Option<Part<'t>> {
        self.previous
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Language, Source, syntax::Syntax};

    /// Functions in functions.
    fn nested(depth: usize) -> String {
        "function f(){".repeat(depth) + &"}".repeat(depth)
    }

    fn source<'a>(text: &'a str, stop: &'a AtomicBool) -> Source<'a> {
        Source { language: Language::TypeScript, path: "n.ts", text, stop }
    }

    #[test]
    fn the_steps_of_a_walk_grow_as_the_depth_does() {
        let stop = AtomicBool::new(false);
        let steps = |depth: usize| {
            let text = nested(depth);
            let syntax = Syntax::parse(source(&text, &stop)).unwrap();
            let (mut steps, mut parents) = (0_usize, 0_usize);
            let walked = syntax.parts().each(|_, around| {
                steps += 1;
                parents += usize::from(around.parent().is_some());
            });
            assert_eq!((walked, parents), (Ok(()), steps - 1));
            steps
        };
        let (one, two) = (steps(10_000), steps(20_000));
        assert!(two <= 2 * one, "{one} steps, then {two}");
    }

    #[test]
    fn a_walk_stops_where_it_is() {
        let stop = AtomicBool::new(false);
        let text = nested(1_000);
        let syntax = Syntax::parse(source(&text, &stop)).unwrap();
        let mut steps = 0;
        let walked = syntax.parts().each(|_, _| {
            steps += 1;
            stop.store(steps == 100, Ordering::Relaxed);
        });
        assert_eq!((walked, steps), (Err(Unparsed::Stopped), 100));
    }

    #[test]
    fn what_is_around_a_part_is_what_the_tree_says() {
        let stop = AtomicBool::new(false);
        let text = "function f(a, b) { let c = [1, 2]; return g(c) }\n// end\nclass D {}\n";
        let syntax = Syntax::parse(source(text, &stop)).unwrap();
        let mut seen = Vec::new();
        let walked = syntax.parts().each(|part, around| {
            if matches!(part.kind(), "return_statement" | "class_declaration" | "number") {
                let outer: Vec<&str> = around.outer().map(Part::kind).collect();
                seen.push((part.text(), outer.join(" "), around.previous().map(Part::text)));
            }
        });
        assert_eq!(walked, Ok(()));
        let list = "array variable_declarator lexical_declaration statement_block \
                    function_declaration program";
        let body = "statement_block function_declaration program";
        let expected = [
            ("1", list, None),
            ("2", list, Some("1")),
            ("return g(c)", body, Some("let c = [1, 2];")),
            ("class D {}", "program", Some("// end")),
        ];
        assert_eq!(seen, expected.map(|(text, outer, it)| (text, outer.to_owned(), it)));
    }
}
