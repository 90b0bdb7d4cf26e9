//! What a project wants the server to do, and what of it the user has allowed on this machine.
//!
//! ```text
//! project ──brings──► Powers ──the user says yes──► a file in the user's own folder
//!                                                        │
//!            a setting is read, a command is to be run ──┴─ is this among what was allowed?
//! ```
//!
//! What is compared is what would be done: the text of the settings, the command with its
//! arguments, the digest of the definition whose chore is due. So a change to a file takes its
//! power away, and a run that is pinned to an older text gains nothing from a newer one.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use definition::{ChoreDeed, Digest, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::json;
use world::Permits;

use crate::{config::Places, kept::Kept};

/// What a project brings that has power.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Powers {
    /// Of the text of its file of settings, if any of them needs trust.
    pub(crate) config: Option<Digest>,
    /// Those settings, as they are shown.
    pub(crate) settings: Vec<String>,
    /// In the order of the commands, each once.
    pub(crate) checks: Vec<Check>,
    /// In the order of the digests, each once.
    pub(crate) chores: Vec<Chores>,
}

/// What a definition does that inserts lines into files or removes files.
const CHANGE_FILES: &str = "change_files";

/// A command that definitions run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Check {
    /// The program and its arguments.
    run: Vec<String>,
    workflows: BTreeSet<String>,
}

/// What one definition has the server do in a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chores {
    digest: Digest,
    workflow: String,
    deeds: Vec<String>,
}

impl Powers {
    /// Adds what a definition has the server do.
    pub(crate) fn add(&mut self, workflow: &Workflow) {
        let name = workflow.name.to_string();
        for check in workflow.steps.iter().flat_map(|it| &it.checks) {
            let known = self.checks.iter_mut().find(|it| it.run == check.run);
            if let Some(known) = known {
                known.workflows.insert(name.clone());
                continue;
            }
            let workflows = BTreeSet::from([name.clone()]);
            self.checks.push(Check { run: check.run.clone(), workflows });
        }
        let is_known = self.chores.iter().any(|it| it.digest == workflow.digest);
        let has_files = workflow.changes_files();
        let has_power = has_files || !workflow.chores.is_empty();
        if has_power && !is_known && !world::is_builtin(&workflow.digest) {
            let mut deeds: Vec<String> =
                workflow.chores.iter().map(|it| word(&it.deed).to_owned()).collect();
            deeds.dedup();
            deeds.extend(has_files.then(|| CHANGE_FILES.to_owned()));
            self.chores.push(Chores { digest: workflow.digest.clone(), workflow: name, deeds });
        }
        self.checks.sort_by(|one, other| one.run.cmp(&other.run));
        self.chores.sort_by(|one, other| one.digest.cmp(&other.digest));
    }

    /// Returns whether all commands that a definition runs are among these.
    pub(crate) fn runs_checks_of(&self, workflow: &Workflow) -> bool {
        let mut checks = workflow.steps.iter().flat_map(|it| &it.checks);
        checks.all(|check| self.checks.iter().any(|it| it.run == check.run))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.config.is_none() && self.checks.is_empty() && self.chores.is_empty()
    }

    /// Returns the digest of all of it.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(json!(self).to_string().as_bytes())
    }

    /// Returns it in lines, one power each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let names = |it: &BTreeSet<String>| it.iter().cloned().collect::<Vec<_>>().join(", ");
        let settings = self.settings.iter().map(|it| format!("setting   {it}"));
        let checks = self.checks.iter();
        let checks = checks.map(|it| format!("command   {:?}  ({})", it.run, names(&it.workflows)));
        let chores = self.chores.iter();
        let chores =
            chores.map(|it| format!("chores    {}  ({})", it.deeds.join(", "), it.workflow));
        settings.chain(checks).chain(chores).collect()
    }
}

/// What the user has allowed one project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Allowed {
    pub(crate) project: PathBuf,
    pub(crate) at: String,
    pub(crate) powers: Powers,
}

/// How far a project is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It brings nothing that would need it.
    NotNeeded,
    Allowed,
    /// It was allowed, and brings something else by now.
    Changed,
    NotAllowed,
}

/// What the user has allowed, all of it. Read each time it is asked, so that nothing is stale.
#[derive(Debug, Clone)]
pub(crate) struct Trust {
    kept: Option<Kept>,
}

impl Trust {
    /// Returns what is allowed according to the user's own folder `state`, if there can be one.
    pub(crate) fn new(state: Option<&Path>) -> Self {
        Self { kept: state.map(|it| Kept::new(it.join("trust"))) }
    }

    /// Returns what a project was allowed.
    pub(crate) fn find(&self, project: &Path) -> Option<Allowed> {
        let project = project.canonicalize().ok()?;
        let value = self.kept.as_ref()?.find(&name(&project))?;
        serde_json::from_value(value).ok().filter(|it: &Allowed| it.project == project)
    }

    /// Returns how far a project is trusted that brings this.
    pub(crate) fn standing(&self, project: &Path, powers: &Powers) -> Standing {
        match self.find(project) {
            _ if powers.is_empty() => Standing::NotNeeded,
            None => Standing::NotAllowed,
            Some(allowed) if allowed.powers.digest() == powers.digest() => Standing::Allowed,
            Some(_) => Standing::Changed,
        }
    }

    /// Allows a project what it brings, in the place of what it was allowed before.
    pub(crate) fn allow(&self, project: &Path, powers: &Powers, at: &str) -> io::Result<()> {
        let project = project.canonicalize()?;
        let path = project.to_str().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "the path is not written in Unicode")
        })?;
        let record = json!({
            "version": 1,
            "project": path,
            "at": at,
            "digest": powers.digest().as_str(),
            "powers": powers,
        });
        let kept = self.kept.as_ref().ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "you have no folder for it: set `HOME`")
        })?;
        kept.write(&name(&project), &record)
    }

    /// Takes back what a project was allowed. Returns whether there was anything. The folder itself
    /// may be gone already.
    pub(crate) fn revoke(&self, project: &Path) -> io::Result<bool> {
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        self.kept.as_ref().map_or(Ok(false), |it| it.remove(&name(&project)))
    }

    /// Returns everything that was allowed.
    pub(crate) fn list(&self) -> Vec<Allowed> {
        let all = self.kept.as_ref().map(Kept::list).unwrap_or_default();
        all.into_iter().filter_map(|(_, value)| serde_json::from_value(value).ok()).collect()
    }

    /// Returns what the project around a folder was allowed. Without git every folder above may be
    /// its root; with git there is one, and a repository in a repository has none of the outer's.
    fn find_around(&self, folder: &Path) -> Option<Allowed> {
        if folder.ancestors().any(|it| it.join(".git").exists()) {
            return self.find(&Places::find(folder, None, None).project);
        }
        folder.ancestors().find_map(|it| self.find(it))
    }
}

/// What the world may do for definitions.
#[derive(Debug)]
pub(crate) struct Permitted {
    pub(crate) trust: Trust,
    pub(crate) places: Places,
    /// Folders elsewhere that the settings name for files of the project.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether commands are run at all.
    pub(crate) checks: bool,
}

impl Permits for Permitted {
    fn allows_check(&self, root: &Path, run: &[String]) -> bool {
        let has = |it: Allowed| it.powers.checks.iter().any(|it| it.run == run);
        self.checks && self.trust.find_around(root).is_some_and(has)
    }

    fn allows_chores(&self, root: &Path, definition: &Digest) -> bool {
        let has = |it: Allowed| it.powers.chores.iter().any(|it| it.digest == *definition);
        self.trust.find_around(root).is_some_and(has)
    }

    fn serves(&self, root: &Path) -> bool {
        let places = &self.places;
        // A folder that is named may still have to be made.
        if root == places.root || self.folders.iter().any(|it| root.starts_with(it)) {
            return true;
        }
        let (Ok(root), Ok(project)) = (root.canonicalize(), places.project.canonicalize()) else {
            return false;
        };
        let is_named = |it: &PathBuf| it.canonicalize().is_ok_and(|it| root.starts_with(it));
        root.starts_with(&project)
            || Places::find(&root, None, None).project == project
            || self.folders.iter().any(is_named)
    }
}

/// Returns the name of a project's file.
fn name(project: &Path) -> String {
    Digest::of(project.as_os_str().as_encoded_bytes()).as_str().to_owned()
}

fn word(deed: &ChoreDeed) -> &'static str {
    match deed {
        ChoreDeed::RenameBranch { .. } => "rename_branch",
        ChoreDeed::Commit { .. } => "commit",
        ChoreDeed::Push { .. } => "push",
        ChoreDeed::Publish { .. } => "publish",
        ChoreDeed::Checkout { .. } => "checkout",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn powers(run: &[&str]) -> Powers {
        let run = run.iter().map(|it| (*it).to_owned()).collect();
        let checks = vec![Check { run, workflows: BTreeSet::from(["W".to_owned()]) }];
        let (digest, deeds) = (Digest::of(b"W"), vec!["push".to_owned()]);
        let chores = vec![Chores { digest, workflow: "W".to_owned(), deeds }];
        let settings = vec!["limits.parts = 7".to_owned()];
        Powers { config: Some(Digest::of(b"text")), settings, checks, chores }
    }

    #[test]
    fn only_what_was_shown_is_allowed_and_only_there() {
        let folder = tempfile::tempdir().unwrap();
        let [project, inner, other] =
            ["one", "one/.specs/x", "two"].map(|it| folder.path().join(it));
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir_all(&other).unwrap();
        let trust = Trust::new(Some(&folder.path().join("state")));
        let allowed = powers(&["make", "test"]);
        assert_eq!(trust.standing(&project, &allowed), Standing::NotAllowed);
        trust.allow(&project, &allowed, "now").unwrap();
        assert_eq!(trust.standing(&project, &allowed), Standing::Allowed);
        assert_eq!(trust.standing(&project, &powers(&["make"])), Standing::Changed);
        assert_eq!(trust.standing(&project, &Powers::default()), Standing::NotNeeded);
        assert_eq!(trust.list()[0].powers, allowed);

        let permits = Permitted {
            trust: trust.clone(),
            places: Places::find(&project, None, None),
            folders: Vec::new(),
            checks: true,
        };
        let may = |root: &Path, run: &[&str]| {
            let run: Vec<String> = run.iter().map(|it| (*it).to_owned()).collect();
            permits.allows_check(root, &run)
        };
        assert!(may(&project, &["make", "test"]) && may(&inner, &["make", "test"]));
        assert!(!may(&project, &["make", "test", "x"]) && !may(&project, &["make test"]));
        assert!(!may(&other, &["make", "test"]));
        assert!(permits.allows_chores(&project, &Digest::of(b"W")));
        assert!(!permits.allows_chores(&project, &Digest::of(b"V")));
        assert!(
            !Permitted {
                trust: trust.clone(),
                places: Places::find(&project, None, None),
                folders: Vec::new(),
                checks: false
            }
            .allows_check(&project, &["make".to_owned(), "test".to_owned()])
        );

        // A repository in the folder is another project.
        fs::create_dir(inner.join(".git")).unwrap();
        assert!(!may(&inner, &["make", "test"]));

        assert!(trust.revoke(&project).unwrap() && !trust.revoke(&project).unwrap());
        assert!(!may(&project, &["make", "test"]));
    }
}
