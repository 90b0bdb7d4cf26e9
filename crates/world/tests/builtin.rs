//! Which definitions have the rights of built-in ones: those of this release, and every earlier one
//! that a run may still be pinned to.

use definition::{Digest, parse};
use runtime::World as _;
use world::{RealWorld, WorldSettings};

const LIST: &str = include_str!("../src/library/digests.txt");

/// The digest of forge's first definition, long before this one.
const FIRST_FORGE: &str = "e392bd1c111a629d0ff9a51ba28700eb5c3acae224060279cc7236772948a6db";

/// A definition that was edited gets a new line: run with `UPDATE_EXPECT=1`. Lines are never taken
/// out, because stored runs are pinned to those definitions.
#[test]
fn every_built_in_definition_is_listed() {
    let world = RealWorld::new(WorldSettings { has_builtin: true, ..WorldSettings::default() });
    let mut list = LIST.to_owned();
    for found in world.find_workflows() {
        let digest = parse(&found.name, &*found.files).unwrap().digest;
        if !LIST.contains(digest.as_str()) {
            list.push_str(&format!("{digest} {}\n", found.name));
        }
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/library/digests.txt");
    expect_test::expect_file![file].assert_eq(&list);
}

#[test]
fn the_server_does_the_chores_of_a_run_that_an_earlier_release_began() {
    let world = RealWorld::new(WorldSettings::default());
    let root = tempfile::tempdir().unwrap();
    let root = root.path().to_str().unwrap();
    let earlier = Digest::parse(FIRST_FORGE).unwrap();
    assert_eq!(world.find_ban(root, &earlier), None);
    let other = Digest::of(b"a definition of somebody else");
    assert!(world.find_ban(root, &other).is_some());
}
