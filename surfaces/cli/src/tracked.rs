//! Whether git has a file in its index, so that a clone of the repository brings it. The index is
//! read here: a `git` process would do what the repository's own configuration says.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use world::beneath::Root;

use crate::config::git_folder;

/// The name of the index.
const INDEX: &str = "index";
/// The most entries that a bitmap is read for.
const BITS_MAX: usize = 1 << 24;
/// The largest index that is read.
const INDEX_BYTES_MAX: u64 = 1 << 30;
/// How many bytes of an entry come before its flags: times, numbers and modes. The name of the
/// object follows, in one of two lengths, and then the flags.
const FIXED: usize = 40;
const OBJECT_BYTES: [usize; 2] = [20, 32];
/// The flag that says that there are two bytes more.
const EXTENDED: u8 = 0x40;

/// The part of the flags that says how long the name is; longer ones have this too.
const LENGTH_MAX: usize = 0xfff;

/// Returns the first of these files that the repository around them has in its index, if any. The
/// files are in one folder.
pub(crate) fn find(paths: &[PathBuf]) -> io::Result<Option<PathBuf>> {
    let Some(folder) = paths.first().and_then(|it| it.parent()) else { return Ok(None) };
    let folder = match folder.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        folder => folder?,
    };
    let Some(top) = folder.ancestors().find(|it| it.join(".git").exists()) else {
        return Ok(None);
    };
    let inside = folder.strip_prefix(top).unwrap_or(Path::new(""));
    let name = |it: &PathBuf| {
        let name = inside.join(it.file_name().unwrap_or_default());
        name.into_os_string().into_encoded_bytes()
    };
    let names: Vec<Vec<u8>> = paths.iter().map(name).collect();
    let git = git_folder(top).ok_or_else(|| invalid("`.git` leads nowhere"))?;
    let git = Root::open(&git)?;
    let damaged = || invalid("the index is damaged");
    let search = |file: &str, dropped: &BTreeSet<usize>| {
        let (bytes, _) = git.read(Path::new(file), INDEX_BYTES_MAX)?;
        search(&bytes, &names, dropped).ok_or_else(damaged)
    };
    if git.find_kind(Path::new(INDEX))?.is_none() {
        return Ok(None);
    }
    let mut found = search(INDEX, &BTreeSet::new())?;
    if let (None, Some(base)) = (found.at, found.base.take()) {
        found = search(&base.file, &base.dropped)?;
    }
    Ok(found.at.and_then(|it| paths.get(it)).cloned())
}

/// What an index has.
#[derive(Default)]
struct Found {
    /// Which of the names is in it, if any is.
    at: Option<usize>,
    /// The file that has the other entries of a split index.
    base: Option<Base>,
}

struct Base {
    file: String,
    /// The places of the entries there that are not in the index any more.
    dropped: BTreeSet<usize>,
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// Looks for names in an index, past the entries that are dropped; returns nothing if it cannot be
/// read. How long the names of objects are is in another file; entries only make sense with the
/// right length.
fn search(bytes: &[u8], names: &[Vec<u8>], dropped: &BTreeSet<usize>) -> Option<Found> {
    OBJECT_BYTES.iter().find_map(|it| search_with(bytes, names, dropped, *it))
}

fn search_with(
    bytes: &[u8],
    names: &[Vec<u8>],
    dropped: &BTreeSet<usize>,
    object: usize,
) -> Option<Found> {
    if !bytes.starts_with(b"DIRC") {
        return None;
    }
    let (version, count) = (number(bytes, 4)?, number(bytes, 8)?);
    let (mut name, mut before): (Vec<u8>, Vec<u8>) = Default::default();
    let mut found = Found::default();
    let mut at = 12;
    for place in 0..count {
        let flags = at + FIXED + object;
        let is_extended = bytes.get(flags)? & EXTENDED != 0 && 3 <= version;
        let start = flags + if is_extended { 4 } else { 2 };
        core::mem::swap(&mut name, &mut before);
        name.clear();
        let start = match version {
            4 => {
                let (cut, start) = varint(bytes, start)?;
                name.extend(before.get(..before.len().checked_sub(cut)?)?);
                start
            }
            2 | 3 => start,
            _ => return None,
        };
        let length = bytes.get(start..)?.iter().position(|it| *it == 0)?;
        let end = start + length;
        name.extend(bytes.get(start..end)?);
        // Older versions fill an entry up to a multiple of eight, with one zero at least.
        at = if version == 4 { end + 1 } else { at + (end - at + 8) / 8 * 8 };
        // Names are sorted, and one with several stages comes again. In a split index, the name of
        // an entry that replaces another is only in the other file.
        let is_sorted = name.is_empty() || before <= name;
        let two: [u8; 2] = bytes.get(flags..flags + 2)?.try_into().ok()?;
        let said = usize::from(u16::from_be_bytes(two)) & LENGTH_MAX;
        if !is_sorted || said != name.len().min(LENGTH_MAX) {
            return None;
        }
        // A sparse index has one entry for a whole folder.
        let is_it = |it: &Vec<u8>| *it == name || (name.ends_with(b"/") && it.starts_with(&name));
        if found.at.is_none() && !dropped.contains(&usize::try_from(place).ok()?) {
            found.at = names.iter().position(is_it);
        }
    }
    found.base = find_base(bytes, at, object)?;
    Some(found)
}

/// Reads the extensions behind the entries, up to the checksum: one says that the index is split.
fn find_base(bytes: &[u8], mut at: usize, object: usize) -> Option<Option<Base>> {
    while at + 8 + object <= bytes.len() {
        let size = usize::try_from(number(bytes, at + 4)?).ok()?;
        let inside = bytes.get(at + 8..(at + 8).checked_add(size)?)?;
        if bytes.get(at..at + 4)? == b"link" {
            let name = inside.get(..object)?;
            let dropped = inside.get(object..).filter(|it| !it.is_empty());
            let dropped = dropped.map_or(Some(BTreeSet::new()), bits)?;
            let name: String = name.iter().map(|it| format!("{it:02x}")).collect();
            return Some(Some(Base { file: format!("sharedindex.{name}"), dropped }));
        }
        at += 8 + size;
    }
    Some(None)
}

/// Reads the places of the ones in a bitmap: words that count zeros or ones and the words as they
/// are that follow.
fn bits(bytes: &[u8]) -> Option<BTreeSet<usize>> {
    const WORD: usize = 64;
    let count = usize::try_from(number(bytes, 4)?).ok()?;
    let mut words = bytes.get(8..)?.chunks_exact(8).take(count);
    let mut word = || words.next().and_then(|it| Some(u64::from_be_bytes(it.try_into().ok()?)));
    let (mut set, mut at) = (BTreeSet::new(), 0);
    while let Some(counts) = word() {
        let run = usize::try_from(counts >> 1 & 0xffff_ffff).ok()?;
        let end = at + run.checked_mul(WORD).filter(|it| *it <= BITS_MAX)?;
        if counts & 1 == 1 {
            set.extend(at..end);
        }
        at = end;
        for _ in 0..counts >> 33 {
            let literal = word()?;
            set.extend((0..WORD).filter(|it| literal >> it & 1 == 1).map(|it| at + it));
            at += WORD;
        }
    }
    Some(set)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_be_bytes(four))
}

/// Reads a number of variable length, as packs have them.
fn varint(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some((value, at + 1))
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    #[test]
    fn a_file_is_found_in_an_index_of_every_version() {
        for arguments in [
            &["-c", "index.version=2"][..],
            &["-c", "index.version=3"],
            &["-c", "index.version=4"],
            &["-c", "core.splitIndex=true", "-c", "splitIndex.maxPercentChange=100"],
        ] {
            let folder = tempfile::tempdir().unwrap();
            let git = |more: &[&str]| {
                let mut command = Command::new("git");
                command.current_dir(folder.path()).env("HOME", folder.path()).args(arguments);
                assert!(command.args(more).status().unwrap().success(), "{arguments:?} {more:?}");
            };
            git(&["init", "-q"]);
            fs::create_dir(folder.path().join(".milepost")).unwrap();
            let file = |name: &str| folder.path().join(".milepost").join(name);
            for name in ["milepost.aaa", "milepost.db", "milepost.dc"] {
                fs::write(file(name), name).unwrap();
            }
            let paths = [file("milepost.key"), file("milepost.db")];
            assert_eq!(find(&paths).unwrap(), None);
            git(&["add", ".milepost/milepost.aaa", ".milepost/milepost.dc"]);
            assert_eq!(find(&paths).unwrap(), None, "{arguments:?}");
            git(&["add", "-N", ".milepost/milepost.db"]);
            assert_eq!(find(&paths).unwrap().as_ref(), Some(&paths[1]), "{arguments:?}");
            // Once it is in the shared part of a split index, it is dropped in the other.
            git(&["add", "."]);
            git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"]);
            assert_eq!(find(&paths).unwrap().as_ref(), Some(&paths[1]), "{arguments:?}");
            git(&["rm", "-q", "--cached", ".milepost/milepost.db"]);
            assert_eq!(find(&paths).unwrap(), None, "{arguments:?}");
        }
    }

    #[test]
    fn an_index_that_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = [folder.path().join("milepost.db")];
        assert_eq!(find(&path).unwrap(), None);
        fs::create_dir(folder.path().join(".git")).unwrap();
        assert_eq!(find(&path).unwrap(), None);
        fs::write(folder.path().join(".git/index"), "DIRC").unwrap();
        assert!(find(&path).is_err());
    }
}
