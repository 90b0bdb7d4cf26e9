//! Folders that are listed again and again: the system says which of their files changed since, so
//! that the others need not be looked at.

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use parking_lot::Mutex;
use runtime::Stat;

use crate::beneath::Root;

/// What is known of folders, by what the system tells them apart by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watched(Arc<Mutex<BTreeMap<(u64, u64), Folder>>>);

/// A folder, as it was when it was last listed.
#[derive(Debug)]
struct Folder {
    news: news::News,
    files: BTreeMap<String, Stat>,
}

impl Watched {
    /// Returns what is in a folder, of whatever kind: anyone who reads it is told what it is. Links
    /// are not followed.
    pub(crate) fn list(&self, folder: &Root) -> io::Result<Vec<(String, Stat)>> {
        let id = folder.id()?;
        let mut folders = self.0.lock();
        let known = folders.get_mut(&id);
        if let Some(known) = known
            && let Some(names) = known.news.read()
        {
            for name in names {
                match folder.find_named(Path::new(&name)) {
                    Some(stat) => known.files.insert(name, stat),
                    None => known.files.remove(&name),
                };
            }
            return Ok(known.files.iter().map(|(name, stat)| (name.clone(), *stat)).collect());
        }
        folders.remove(&id);
        // First the watch, then the look: what happens in between is seen twice, and not missed.
        let news = news::News::begin(folder);
        let files = list(folder)?;
        if let Some(news) = news {
            folders.insert(id, Folder { news, files: files.iter().cloned().collect() });
        }
        Ok(files)
    }
}

/// Looks at every file of a folder.
fn list(folder: &Root) -> io::Result<Vec<(String, Stat)>> {
    let mut found = Vec::new();
    for entry in folder.list()? {
        let entry = entry?;
        let Some(name) = entry.name() else { continue };
        if let Some(stat) = entry.stat()? {
            found.push((name, stat));
        }
    }
    Ok(found)
}

#[cfg(target_os = "linux")]
pub(crate) use news::{is_local, path_of};

#[cfg(target_os = "linux")]
mod news {
    use std::{
        collections::BTreeSet,
        mem::MaybeUninit,
        os::fd::{AsRawFd as _, OwnedFd},
        path::PathBuf,
    };

    use rustix::{
        fs::{
            fstatfs,
            inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags},
        },
        io::Errno,
    };

    use crate::beneath::Root;

    /// How much of what happened is read at once.
    const BUFFER_BYTES: usize = 16 * 1024;
    /// Kinds of file systems on which nothing changes without this system knowing: ext, XFS, Btrfs,
    /// F2FS, ZFS, tmpfs and overlays of these.
    const LOCAL: [u64; 7] =
        [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0x0102_1994, 0x794c_7630];

    /// Whether the system knows of all that happens to a folder.
    pub(crate) fn is_local(folder: &Root) -> bool {
        let kind = fstatfs(folder.handle()).ok().and_then(|it| u64::try_from(it.f_type).ok());
        kind.is_some_and(|it| LOCAL.contains(&it))
    }

    /// Returns a path that leads to an open folder, whatever is at its own path by now.
    pub(crate) fn path_of(folder: &Root) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", folder.handle().as_raw_fd()))
    }

    /// After these nothing is known any more.
    fn lost() -> ReadFlags {
        ReadFlags::QUEUE_OVERFLOW
            | ReadFlags::IGNORED
            | ReadFlags::DELETE_SELF
            | ReadFlags::MOVE_SELF
            | ReadFlags::UNMOUNT
    }

    /// What happens to the files of a folder.
    #[derive(Debug)]
    pub(super) struct News(OwnedFd);

    impl News {
        /// Begins to follow a folder; `None` where that would not tell everything.
        pub(super) fn begin(folder: &Root) -> Option<Self> {
            if !is_local(folder) {
                return None;
            }
            let news = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let wanted = WatchFlags::MODIFY
                | WatchFlags::ATTRIB
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF;
            inotify::add_watch(&news, path_of(folder), wanted).ok()?;
            Some(Self(news))
        }

        /// Returns the names of the files that something happened to; `None` where that is not
        /// known any more.
        pub(super) fn read(&mut self) -> Option<BTreeSet<String>> {
            let mut names = BTreeSet::new();
            let mut buffer = [MaybeUninit::<u8>::uninit(); BUFFER_BYTES];
            let mut reader = Reader::new(&self.0, &mut buffer);
            loop {
                let event = match reader.next() {
                    Ok(event) => event,
                    Err(Errno::WOULDBLOCK) => return Some(names),
                    Err(_) => return None,
                };
                if event.events().intersects(lost()) {
                    return None;
                }
                names.insert(event.file_name()?.to_str().ok()?.to_owned());
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod news {
    use std::collections::BTreeSet;

    use crate::beneath::Root;

    /// Other systems are not asked: every file is looked at each time.
    #[derive(Debug)]
    pub(super) struct News;

    impl News {
        pub(super) fn begin(_folder: &Root) -> Option<Self> {
            None
        }

        pub(super) fn read(&mut self) -> Option<BTreeSet<String>> {
            None
        }
    }
}
