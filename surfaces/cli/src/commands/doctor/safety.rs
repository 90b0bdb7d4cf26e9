//! What others could do: with files that are open to them, and with what a project brings.

use std::path::PathBuf;

use super::{Finding, State};
use crate::{
    commands::trust::gather,
    config::{Config, StorePlace},
    join::Joined,
    kept::open_to_others,
    trust::Standing,
};

/// Reports settings of the project's own file that have no effect, and files that others can read or
/// write.
pub(super) fn look(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !config.ignored.is_empty() {
        let lines: Vec<String> = config
            .ignored
            .iter()
            .map(|it| format!("`{}` ({}) is ignored: {}", it.setting, it.place, it.why))
            .collect();
        findings.push(Finding::new("settings", State::Doubtful, lines.join("\n")));
    }
    findings.extend(files(config));
    findings
}

/// Looks at the files that only their owner should read.
fn files(config: &Config) -> Option<Finding> {
    let mut paths: Vec<PathBuf> = config.token_file().map(ToOwned::to_owned).into_iter().collect();
    if let StorePlace::Project(path) | StorePlace::Named(path) = config.store_place() {
        let beside = ["db-wal", "db-shm", "key"].map(|it| path.with_extension(it));
        paths.push(path);
        paths.extend(beside);
    }
    let open: Vec<(PathBuf, &str)> =
        paths.into_iter().filter_map(|it| Some((it.clone(), open_to_others(&it)?))).collect();
    let lines: Vec<String> =
        open.iter().map(|(path, how)| format!("others can {how} {}", path.display())).collect();
    let names: Vec<String> = open.iter().map(|(path, _)| path.display().to_string()).collect();
    (!open.is_empty()).then(|| {
        Finding::new("files", State::Doubtful, lines.join("\n"))
            .with_hint(format!("chmod 600 {}", names.join(" ")))
    })
}

/// Looks at what the project brings, and whether the user has allowed it.
pub(super) async fn trust(joined: &Joined) -> Finding {
    let what = "trust";
    let powers = match gather(joined).await {
        Ok(powers) => powers,
        Err(failure) => return Finding::new(what, State::Doubtful, failure.message),
    };
    let hint = "`milepost trust` in a terminal shows it, and asks you";
    match joined.config.trust().standing(&joined.config.places.project, &powers) {
        Standing::NotNeeded => {
            Finding::new(what, State::Fine, "the project brings nothing that needs it")
        }
        Standing::Allowed => {
            Finding::new(what, State::Fine, "the project is allowed all that it brings")
        }
        Standing::Changed => {
            let text = "what the project brings has changed since you allowed it";
            Finding::new(what, State::Doubtful, text).with_hint(hint)
        }
        Standing::NotAllowed => {
            let text = "the project brings settings, commands or chores, which do nothing until \
                        you allow them";
            Finding::new(what, State::Doubtful, text).with_hint(hint)
        }
    }
}
