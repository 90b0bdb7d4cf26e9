//! Folders that are listed again and again: the system says which of their files changed since, so
//! that the others need not be looked at.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use runtime::Stat;

/// What is known of folders.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watched(Arc<Mutex<BTreeMap<PathBuf, Folder>>>);

/// A folder, as it was when it was last listed.
#[derive(Debug)]
struct Folder {
    news: news::News,
    files: BTreeMap<String, Stat>,
}

impl Watched {
    /// Returns the files of `folder`. `list` looks at all of them, `look` at one that changed.
    pub(crate) fn list<E>(
        &self,
        folder: PathBuf,
        list: impl FnOnce() -> Result<Vec<(String, Stat)>, E>,
        look: impl Fn(&str) -> Option<Stat>,
    ) -> Result<Vec<(String, Stat)>, E> {
        let mut folders = self.0.lock();
        let known = folders.get_mut(&folder);
        if let Some(known) = known
            && let Some(names) = known.news.read()
        {
            for name in names {
                match look(&name) {
                    Some(stat) => known.files.insert(name, stat),
                    None => known.files.remove(&name),
                };
            }
            return Ok(known.files.iter().map(|(name, stat)| (name.clone(), *stat)).collect());
        }
        folders.remove(&folder);
        // First the watch, then the look: what happens in between is seen twice, and not missed.
        let news = news::News::begin(&folder);
        let files = list()?;
        if let Some(news) = news {
            folders.insert(folder, Folder { news, files: files.iter().cloned().collect() });
        }
        Ok(files)
    }
}

#[cfg(target_os = "linux")]
pub(crate) use news::is_local;

#[cfg(target_os = "linux")]
mod news {
    use std::{collections::BTreeSet, mem::MaybeUninit, os::fd::OwnedFd, path::Path};

    use rustix::{
        fs::{
            inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags},
            statfs,
        },
        io::Errno,
    };

    /// How much of what happened is read at once.
    const BUFFER_BYTES: usize = 16 * 1024;
    /// Kinds of file systems on which nothing changes without this system knowing: ext, XFS, Btrfs,
    /// F2FS, ZFS, tmpfs and overlays of these.
    const LOCAL: [u64; 7] =
        [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0x0102_1994, 0x794c_7630];

    /// Whether the system knows of all that happens to a folder.
    pub(crate) fn is_local(folder: &Path) -> bool {
        let kind = statfs(folder).ok().and_then(|it| u64::try_from(it.f_type).ok());
        kind.is_some_and(|it| LOCAL.contains(&it))
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
        pub(super) fn begin(folder: &Path) -> Option<Self> {
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
            inotify::add_watch(&news, folder, wanted).ok()?;
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
    use std::{collections::BTreeSet, path::Path};

    /// Other systems are not asked: every file is looked at each time.
    #[derive(Debug)]
    pub(super) struct News;

    impl News {
        pub(super) fn begin(_folder: &Path) -> Option<Self> {
            None
        }

        pub(super) fn read(&mut self) -> Option<BTreeSet<String>> {
            None
        }
    }
}
