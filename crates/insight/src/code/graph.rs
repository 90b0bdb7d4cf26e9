//! Which file imports which, and how far a change in one of them can reach.

use std::collections::{BTreeMap, VecDeque};

use super::{
    Language,
    resolve::{Files, folder_of},
};

/// What JSON puts around a path in a list, and around the two of an edge.
const NODE_BYTES: usize = 3;
const EDGE_BYTES: usize = 22;

/// The files of a project and what they import of each other.
#[derive(Debug, Clone)]
pub struct Graph {
    pub(super) language: Language,
    /// In order.
    pub(super) nodes: Vec<String>,
    /// Who imports whom, by number, in order and each once.
    pub(super) edges: Vec<(u32, u32)>,
    /// Whether each may call what was looked for.
    pub(super) may_call: Vec<bool>,
}

/// One file imports another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge<'a> {
    pub from: &'a str,
    pub to: &'a str,
}

/// As much of a graph as there is room for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown<'a> {
    pub nodes: &'a [String],
    /// Those between the nodes that are shown.
    pub edges: Vec<Edge<'a>>,
}

impl Graph {
    /// Returns all files, in order.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// Returns how many imports there are.
    pub fn edges_len(&self) -> usize {
        self.edges.len()
    }

    /// Returns the first files and what is between them, so that both take up to `bytes_max` bytes.
    pub fn shown(&self, bytes_max: usize) -> Shown<'_> {
        let length = |it: &u32| self.node(*it).len();
        let mut costs: Vec<usize> = self.nodes.iter().map(|it| it.len() + NODE_BYTES).collect();
        for (from, to) in &self.edges {
            if let Some(cost) = costs.get_mut(*from.max(to) as usize) {
                *cost += length(from) + length(to) + EDGE_BYTES;
            }
        }
        let mut taken = 0;
        let count = costs.iter().take_while(|it| {
            taken += **it;
            taken <= bytes_max
        });
        let nodes = self.nodes.get(..count.count()).unwrap_or_default();
        let is_shown = |it: u32| (it as usize) < nodes.len();
        let edges = self.edges.iter().filter(|(from, to)| is_shown(*from) && is_shown(*to));
        let edges = edges.map(|(from, to)| Edge { from: self.node(*from), to: self.node(*to) });
        Shown { nodes, edges: edges.collect() }
    }

    /// Returns the files that may call what was looked for and is in `target`, with how many
    /// imports away they are, the nearest first. `None` if there is no such file.
    ///
    /// Last come those that no import leads from, in languages where that does not mean much.
    pub fn callers(&self, target: &str) -> Option<Vec<(&str, Option<u32>)>> {
        let target = self.nodes.binary_search_by(|it| it.as_str().cmp(target)).ok()?;
        let target = u32::try_from(target).ok()?;
        let distances = self.distances(target);
        let mut found = Vec::new();
        for (number, (path, may_call)) in (0..).zip(self.nodes.iter().zip(&self.may_call)) {
            let distance = distances.get(&number).copied();
            let is_near = distance.is_some() || self.language.is_loosely_tied();
            if *may_call && is_near && number != target {
                found.push((path.as_str(), distance));
            }
        }
        found.sort_by_key(|(path, distance)| (distance.unwrap_or(u32::MAX), *path));
        Some(found)
    }

    /// Returns how many imports away everyone is who is reached by going against them.
    fn distances(&self, target: u32) -> BTreeMap<u32, u32> {
        let files = Files::new(&self.nodes, &[], "");
        let mut importers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (from, to) in &self.edges {
            importers.entry(*to).or_default().push(*from);
        }
        // In Go a folder is imported as one, and the files in it see each other without imports.
        let mut siblings: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let unit = |number: u32| match self.language {
            Language::Go => files.first_in(folder_of(self.node(number))).unwrap_or(number),
            Language::Bash | Language::Python | Language::Rust | Language::TypeScript => number,
        };
        for number in (0..).take(self.nodes.len()) {
            siblings.entry(unit(number)).or_default().push(number);
        }
        let mut distances = BTreeMap::from([(target, 0)]);
        let mut open = VecDeque::from([(target, 0_u32)]);
        while let Some((number, distance)) = open.pop_front() {
            let unit = unit(number);
            let near = [siblings.remove(&unit), importers.remove(&unit)];
            for number in near.into_iter().flatten().flatten() {
                distances.entry(number).or_insert_with(|| {
                    open.push_back((number, distance + 1));
                    distance + 1
                });
            }
        }
        distances
    }

    fn node(&self, number: u32) -> &str {
        self.nodes.get(number as usize).map_or("", String::as_str)
    }
}
