//! `milepost restore`: puts a backup in the place of a database that is lost.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::ValueHint;
use serde_json::json;
use store::{Filter, SqliteSettings, SqliteStore, Store as _};

use crate::{
    config::{Config, StorePlace},
    failure::Failure,
    output::{BAD, GOOD, Reply, text},
};

/// How many problems are shown.
const PROBLEMS_MAX: usize = 5;

/// What `restore` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The backup is read whole and checked first; it is not changed. A database that is there is \
                  never overwritten: stop the servers that use it, and move it away.\n\nExamples:\n  \
                  milepost restore milepost-2026-11-19.db --verify   only check it\n  milepost \
                  restore milepost-2026-11-19.db"
)]
pub(crate) struct Args {
    /// The backup, as `milepost backup` made it
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    path: PathBuf,
    /// Only check the backup
    #[arg(long)]
    verify: bool,
}

/// Checks a backup, and restores it.
pub(crate) async fn perform(args: &Args, config: &Config) -> Result<Reply, Failure> {
    let from = config.places.working.join(&args.path);
    if !from.is_file() {
        let message = format!("there is no file `{}`", from.display());
        return Err(Failure::refused("file_missing", message));
    }
    let to = match config.store_place() {
        StorePlace::Memory => {
            return Err(Failure::usage("a database in memory cannot be restored"));
        }
        StorePlace::Project(path) | StorePlace::Named(path) => path,
    };
    if !args.verify {
        check_free(&to)?;
    }
    let copy = Copy::make(&from, &to, args.verify)?;
    let store = SqliteStore::open(&copy.path(), SqliteSettings::default())?;
    let problems = store.check().await?;
    let figures = store.figures().await?;
    let (runs, events) = (figures.runs, figures.events);
    let is_fine = problems.is_empty();
    let json = json!({
        "from": from.display().to_string(),
        "to": (!args.verify && is_fine).then(|| to.display().to_string()),
        "runs": runs,
        "events": events,
        "is_fine": is_fine,
        "problems": problems,
    });
    let counted = format!("{}, {}", text::count(runs, "run"), text::count(events, "event"));
    if !is_fine {
        let shown: Vec<String> = problems
            .iter()
            .take(PROBLEMS_MAX)
            .map(|it| format!("  {}\n", text::line(it)))
            .collect();
        let said = format!("{BAD}damaged{BAD:#}: {counted}\n{}", shown.concat());
        return Ok(Reply {
            is_fine,
            ..Reply::new(json, said).with_note("Nothing was written.".to_owned())
        });
    }
    if args.verify {
        return Ok(Reply::new(json, format!("{GOOD}sound{GOOD:#}: {counted}")));
    }
    if let StorePlace::Project(_) = config.store_place() {
        settle(&store, config).await?;
    }
    store.backup(&to).await?;
    let said = format!("{GOOD}restored{GOOD:#} {counted} to {}", to.display());
    Ok(Reply::new(json, said))
}

/// Makes the project's folder with what hides it from git, under the name that the runs have.
async fn settle(store: &SqliteStore, config: &Config) -> Result<(), Failure> {
    let newest = store.list(Filter { limit: 1, ..Filter::default() }).await?;
    if let Some(newest) = newest.rows.first() {
        config.places.settle(&newest.project)?;
    }
    Ok(())
}

/// Refuses to restore beside what is left of another database.
fn check_free(to: &Path) -> Result<(), Failure> {
    let beside = |ending: &str| {
        let mut name = to.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let taken = ["", "-wal", "-shm", "-journal"].map(beside).into_iter().find(|it| it.exists());
    let Some(taken) = taken else { return Ok(()) };
    let message = format!("`{}` is there already", taken.display());
    Err(Failure::refused("file_exists", message).with_hint(format!(
        "stop the servers that use the database, then move `{}*` away",
        to.display()
    )))
}

/// A copy that is checked: opening a database can change it, and a backup must stay as it is.
struct Copy(PathBuf);

impl Copy {
    fn make(from: &Path, to: &Path, is_check: bool) -> Result<Self, Failure> {
        let name = format!("milepost-restore-{}", std::process::id());
        // Beside the database there is room for it.
        let beside = to.parent().filter(|it| !is_check || it.is_dir());
        let folder = beside.map_or_else(std::env::temp_dir, Path::to_owned).join(name);
        fs::create_dir_all(&folder)?;
        let copy = Self(folder);
        fs::copy(from, copy.path())?;
        Ok(copy)
    }

    fn path(&self) -> PathBuf {
        self.0.join("milepost.db")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // What cannot be removed is named for what it is.
        drop(fs::remove_dir_all(&self.0));
    }
}
