//! A change of one file: shown, agreed to, and made. What is there is copied first.

use std::path::{Path, PathBuf};

use super::{
    Consent,
    by_claude::ByClaude,
    file::{self, Backups},
};
use crate::{
    config::Config,
    failure::Failure,
    output::{Output, diff},
};

/// The code of a change that a person did not want.
pub(super) const NOT_CONFIRMED: &str = "not_confirmed";

/// What a file says, and what it is to say. Nothing stands for no file.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) copy: Copy,
    /// The program that makes the change, where that is not us.
    pub(super) by: Option<ByClaude>,
}

/// What to do about copies of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Copy {
    /// One is made.
    Make,
    /// None is made.
    Spare,
    /// The one whose text is put back is used up.
    UseUp(PathBuf),
}

/// The result of a change.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) diff: String,
    pub(super) is_written: bool,
    /// Whether the difference was shown already.
    pub(super) is_shown: bool,
    pub(super) backup: Option<PathBuf>,
}

impl Change {
    /// Makes the change if it is one and is agreed to.
    pub(super) async fn carry_out(
        &self,
        consent: Consent,
        config: &Config,
        output: Output,
    ) -> Result<Made, Failure> {
        let name = config.places.short(&self.path);
        let diff = diff::unified(&name, self.before.as_deref(), self.after.as_deref());
        let mut made = Made { diff, is_written: false, is_shown: false, backup: None };
        if self.before == self.after || consent.dry_run {
            return Ok(made);
        }
        if !consent.yes {
            self.ask(&made.diff, &name, output)?;
            made.is_shown = true;
        }
        let backups = Backups::of(&self.path, config.state.as_deref());
        made.backup = self.make(&backups).await?;
        made.is_written = true;
        Ok(made)
    }

    fn ask(&self, diff: &str, name: &str, output: Output) -> Result<(), Failure> {
        if !output.is_interactive() {
            let message = "nothing was written: there is no terminal to ask on";
            return Err(Failure::refused(NOT_CONFIRMED, message)
                .with_hint("`--yes` writes without asking, `--dry-run` only shows the change"));
        }
        output.say(&diff::painted(diff));
        let verb = if self.after.is_some() { "Write" } else { "Remove" };
        if output.ask(&format!("{verb} {name}?"))? {
            return Ok(());
        }
        Err(Failure::refused(NOT_CONFIRMED, "nothing was written"))
    }

    async fn make(&self, backups: &Backups) -> Result<Option<PathBuf>, Failure> {
        // Anyone who was asked may have taken a while to answer.
        if file::read(&self.path)? != self.before {
            let message = format!("`{}` was changed by someone else meanwhile", show(&self.path));
            return Err(Failure::refused("file_changed", message)
                .with_hint("nothing was written; look at it, then try again"));
        }
        let is_copied = self.before.is_some() && self.copy == Copy::Make;
        let backup = if is_copied { Some(backups.make()?) } else { None };
        match (&self.by, &self.after) {
            (Some(claude), after) => {
                claude.apply(&self.path, self.before.as_deref(), after.as_deref()).await?;
            }
            (None, Some(text)) => file::write(&self.path, text)?,
            (None, None) => file::remove(&self.path)?,
        }
        if let Copy::UseUp(copy) = &self.copy {
            file::remove(copy)?;
        }
        Ok(backup)
    }
}

fn show(path: &Path) -> String {
    path.display().to_string()
}
