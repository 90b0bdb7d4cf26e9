//! What the system says happened in a folder, and in folders in it, since it was last asked.

use std::collections::BTreeSet;

pub(crate) use system::News;

/// What happened.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    /// Names in the folder that came, went, or became something else.
    pub(crate) entries: BTreeSet<String>,
    /// Folders in it that are followed, and in which something changed.
    pub(crate) inside: BTreeSet<String>,
}

#[cfg(target_os = "linux")]
mod system {
    use std::{
        collections::BTreeMap,
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

    use super::Happened;
    use crate::beneath::Root;

    /// How much of what happened is read at once.
    const BUFFER_BYTES: usize = 16 * 1024;
    /// Kinds of file systems on which nothing changes without this system knowing: ext, XFS, Btrfs,
    /// F2FS, ZFS, tmpfs and overlays of these.
    const LOCAL: [u64; 7] =
        [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0x0102_1994, 0x794c_7630];

    /// What happens in a folder and in the folders in it that are followed.
    #[derive(Debug)]
    pub(crate) struct News {
        queue: OwnedFd,
        outer: i32,
        names: BTreeMap<i32, String>,
    }

    impl News {
        /// Begins to follow a folder; `None` where that would not tell everything.
        pub(crate) fn begin(folder: &Root) -> Option<Self> {
            if !is_local(folder) {
                return None;
            }
            let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let outer = inotify::add_watch(&queue, path_of(folder), wanted()).ok()?;
            Some(Self { queue, outer, names: BTreeMap::new() })
        }

        /// Follows a folder in the folder too. Systems limit how many are followed.
        pub(crate) fn follow(&mut self, folder: &Root, name: &str) -> bool {
            let flags = wanted() | WatchFlags::DONT_FOLLOW | WatchFlags::ONLYDIR;
            match inotify::add_watch(&self.queue, path_of(folder).join(name), flags) {
                Ok(number) => {
                    self.names.insert(number, name.to_owned());
                    true
                }
                // It is gone already, and there will be news of that.
                Err(Errno::NOENT) => true,
                Err(_) => false,
            }
        }

        /// Returns what happened; `None` where that is not known any more.
        pub(crate) fn read(&mut self) -> Option<Happened> {
            let mut happened = Happened::default();
            let mut buffer = [MaybeUninit::<u8>::uninit(); BUFFER_BYTES];
            let mut reader = Reader::new(&self.queue, &mut buffer);
            loop {
                let event = match reader.next() {
                    Ok(event) => event,
                    Err(Errno::WOULDBLOCK) => return Some(happened),
                    Err(_) => return None,
                };
                let kind = event.events();
                let is_lost = event.wd() == self.outer && kind.intersects(gone());
                if is_lost || kind.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                    return None;
                }
                if event.wd() == self.outer {
                    happened.entries.insert(event.file_name()?.to_str().ok()?.to_owned());
                } else if kind.intersects(ReadFlags::IGNORED) {
                    happened.entries.extend(self.names.remove(&event.wd()));
                } else {
                    happened.inside.extend(self.names.get(&event.wd()).cloned());
                }
            }
        }
    }

    /// Whether the system knows of all that happens to a folder.
    fn is_local(folder: &Root) -> bool {
        let kind = fstatfs(folder.handle()).ok().and_then(|it| u64::try_from(it.f_type).ok());
        kind.is_some_and(|it| LOCAL.contains(&it))
    }

    /// Returns a path that leads to an open folder, whatever is at its own path by now.
    fn path_of(folder: &Root) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", folder.handle().as_raw_fd()))
    }

    fn wanted() -> WatchFlags {
        WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
    }

    fn gone() -> ReadFlags {
        ReadFlags::IGNORED | ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Happened;
    use crate::beneath::Root;

    /// Other systems are not asked: everything is looked at each time.
    #[derive(Debug)]
    pub(crate) struct News;

    impl News {
        pub(crate) fn begin(_folder: &Root) -> Option<Self> {
            None
        }

        pub(crate) fn follow(&mut self, _folder: &Root, _name: &str) -> bool {
            false
        }

        pub(crate) fn read(&mut self) -> Option<Happened> {
            None
        }
    }
}
