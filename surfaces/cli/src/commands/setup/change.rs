//! A change of one file: shown, agreed to, and made. What is there is copied first.

use std::path::{Path, PathBuf};

use super::{Consent, file};
use crate::{
    config::Places,
    failure::Failure,
    output::{Output, diff},
};

/// What a file says, and what it is to say. Nothing stands for no file.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) copy: Copy,
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
    pub(super) fn carry_out(
        &self,
        consent: Consent,
        places: &Places,
        output: Output,
    ) -> Result<Made, Failure> {
        let name = places.short(&self.path);
        let diff = diff::unified(&name, self.before.as_deref(), self.after.as_deref());
        let mut made = Made { diff, is_written: false, is_shown: false, backup: None };
        if self.before == self.after || consent.dry_run {
            return Ok(made);
        }
        if !consent.yes {
            self.ask(&made.diff, &name, output)?;
            made.is_shown = true;
        }
        made.backup = self.make()?;
        made.is_written = true;
        Ok(made)
    }

    fn ask(&self, diff: &str, name: &str, output: Output) -> Result<(), Failure> {
        if !output.is_interactive() {
            let message = "nothing was written: there is no terminal to ask on";
            return Err(Failure::refused("not_confirmed", message)
                .with_hint("`--yes` writes without asking, `--dry-run` only shows the change"));
        }
        output.say(&diff::painted(diff));
        let verb = if self.after.is_some() { "Write" } else { "Remove" };
        if output.ask(&format!("{verb} {name}?"))? {
            return Ok(());
        }
        Err(Failure::refused("not_confirmed", "nothing was written"))
    }

    fn make(&self) -> Result<Option<PathBuf>, Failure> {
        // Anyone who was asked may have taken a while to answer.
        if file::read(&self.path)? != self.before {
            let message = format!("`{}` was changed by someone else meanwhile", show(&self.path));
            return Err(Failure::refused("file_changed", message)
                .with_hint("nothing was written; look at it, then try again"));
        }
        let is_copied = self.before.is_some() && self.copy == Copy::Make;
        let backup = if is_copied { Some(file::back_up(&self.path)?) } else { None };
        match &self.after {
            Some(text) => file::write(&self.path, text)?,
            None => file::remove(&self.path)?,
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
