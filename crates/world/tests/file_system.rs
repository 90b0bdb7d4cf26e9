//! Files that are written for good, and who may read them.
#![cfg(unix)]

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
};

use runtime::{FileSystem as _, Place};
use world::{RealWorld, WorldSettings};

#[tokio::test]
async fn a_private_file_is_its_owners_alone_also_where_it_was_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("specs/x.json");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    let place = Place {
        root: "/".to_owned(),
        folder: path.parent().unwrap().display().to_string(),
        path: "x.json".to_owned(),
    };
    let world = RealWorld::new(WorldSettings::default());

    world.write_privately(&place, "1".to_owned()).await.unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode()), ("1", 0o600));

    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    world.write_durably(&place, "2".to_owned()).await.unwrap();
    assert_eq!(mode(), 0o644);
    world.write_privately(&place, "3".to_owned()).await.unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode()), ("3", 0o600));
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    world.write_for_owner(&place, "4".to_owned()).await.unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode()), ("4", 0o600));
}

#[tokio::test]
async fn the_folders_that_a_private_file_needs_are_closed_to_strangers() {
    let folder = tempfile::tempdir().unwrap();
    let mode =
        |path: &str| fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
    let place = |path: &str| Place {
        root: folder.path().display().to_string(),
        folder: folder.path().join("specs").display().to_string(),
        path: path.to_owned(),
    };
    let world = RealWorld::new(WorldSettings::default());

    world.write_for_owner(&place("one/state.json"), "1".to_owned()).await.unwrap();
    world.write_privately(&place("two/request.md"), "2".to_owned()).await.unwrap();
    let modes = ["specs", "specs/one", "specs/two"].map(mode);
    assert_eq!(modes, [0o750; 3]);

    fs::set_permissions(folder.path().join("specs/one"), Permissions::from_mode(0o755)).unwrap();
    world.write_for_owner(&place("one/state.json"), "3".to_owned()).await.unwrap();
    assert_eq!(mode("specs/one"), 0o755, "what is there is left as it is");
}
