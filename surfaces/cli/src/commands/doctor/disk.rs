//! What the database lies on: the kind of file system, the room that is left, and how fast it is
//! at making sure that something is on disk.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use engine::Timestamp;

use super::{Finding, State};
use crate::output::text;

/// How often the disk is asked to make sure.
const SYNCS: u32 = 60;
/// Faster than any disk: then something between us and it does not do what it says.
const RATE_MAX: u64 = 20_000;
/// Slower than is good for work that waits for each answer.
const RATE_MIN: u64 = 50;
/// With less room than this it is time to look for more.
const ROOM_LOW: u64 = 200 << 20;
const ROOM_NONE: u64 = 10 << 20;

/// File systems that other machines serve. Locks and shared memory are not to be relied on there.
const NETWORK: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "lustre",
    "ncpfs",
    "fuse.sshfs",
    "fuse.glusterfs",
    "fuse.s3fs",
    "fuse.rclone",
    "davfs",
    "beegfs",
];

/// Looks at the folder that the database at `path` lies in, or will.
pub(super) fn look(path: &Path, now: impl Fn() -> Timestamp) -> Vec<Finding> {
    let Some(folder) = path.ancestors().skip(1).find(|it| it.is_dir()) else { return Vec::new() };
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut findings = Vec::new();
    findings.extend(find_file_system(&folder).map(|it| file_system(&it)));
    findings.extend(
        rustix::fs::statvfs(&folder).ok().map(|it| room(it.f_bavail.saturating_mul(it.f_frsize))),
    );
    findings.push(match measure(&folder, now) {
        Ok(rate) => judge(rate),
        Err(error) => {
            let text = format!("`{}` cannot be written to: {error}", folder.display());
            Finding::new("disk", State::Wrong, text)
        }
    });
    findings
}

fn file_system(kind: &str) -> Finding {
    let what = "file system";
    if !NETWORK.contains(&kind) {
        return Finding::new(what, State::Fine, format!("{kind}, local"));
    }
    let text =
        format!("{kind}, which another machine serves: several processes may damage the file");
    Finding::new(what, State::Wrong, text)
        .with_hint("set `store.path` to a folder on a disk of this machine")
}

fn room(bytes: u64) -> Finding {
    let text = format!("{} are free", text::bytes(bytes));
    let state = match bytes {
        0..ROOM_NONE => State::Wrong,
        ROOM_NONE..ROOM_LOW => State::Doubtful,
        _ => State::Fine,
    };
    let finding = Finding::new("room", state, text);
    if state == State::Fine { finding } else { finding.with_hint("make room on the disk") }
}

fn judge(rate: u64) -> Finding {
    let text = format!("{rate} durable writes a second, one after the other");
    if RATE_MAX < rate {
        let hint = "that is faster than a disk can be: it may say `written` too early, and a power \
                    cut may lose answers";
        return Finding::new("disk", State::Doubtful, text).with_hint(hint);
    }
    if rate < RATE_MIN {
        let hint = "that is slow: every answer waits for one; a local disk would be better";
        return Finding::new("disk", State::Doubtful, text).with_hint(hint);
    }
    Finding::new("disk", State::Fine, text)
}

/// Returns how often a second something small can be put on disk for good.
fn measure(folder: &Path, now: impl Fn() -> Timestamp) -> io::Result<u64> {
    let path = folder.join(format!(".milepost-doctor-{}", std::process::id()));
    let measured = sync_often(&path, now);
    fs::remove_file(&path)?;
    measured
}

fn sync_often(path: &Path, now: impl Fn() -> Timestamp) -> io::Result<u64> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    let page = [7; 4096];
    file.write_all(&page)?;
    file.sync_all()?;
    let since = now();
    for _ in 0..SYNCS {
        file.write_all(&page)?;
        file.sync_data()?;
    }
    let micros = u64::try_from(now().since(since).as_micros()).unwrap_or(u64::MAX).max(1);
    Ok(u64::from(SYNCS) * 1_000_000 / micros)
}

/// Returns the kind of file system that `folder` lies on, where the system tells.
fn find_file_system(folder: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mut found: Option<(PathBuf, String)> = None;
    for line in mounts.lines() {
        let (place, about) = line.split_once(" - ")?;
        let point = PathBuf::from(place.split(' ').nth(4)?.replace("\\040", " "));
        let kind = about.split(' ').next()?.to_owned();
        // The last mount of the longest path is the one that is seen.
        let is_nearer =
            found.as_ref().is_none_or(|it| it.0.as_os_str().len() <= point.as_os_str().len());
        if folder.starts_with(&point) && is_nearer {
            found = Some((point, kind));
        }
    }
    found.map(|it| it.1)
}
