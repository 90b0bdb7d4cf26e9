//! Where a resource is: its URI, read and written.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::app;

/// What stands for itself in a segment of a URI.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The same in a path.
const PLAIN_IN_PATH: &AsciiSet = &PLAIN.remove(b'/');

const RUNS: &str = "milepost://runs/";
const WORKFLOWS: &str = "milepost://workflows/";
const HOWTO: &str = "milepost://guide/writing-workflows";

/// A resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// A run, by id or key.
    Run(String),
    History(String),
    Brief(String),
    Artifact {
        run: String,
        path: String,
    },
    Workflow(String),
    Step {
        workflow: String,
        step: String,
    },
    HowTo,
    App,
}

/// A family of resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) uri: &'static str,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) mime: Option<&'static str>,
}

/// Every family there is.
pub(crate) const TEMPLATES: &[Template] = &[
    Template {
        uri: "milepost://runs/{run}",
        name: "run",
        title: "A run",
        description: "Where a run is: status, step, context, what it waits for",
        mime: Some("application/json"),
    },
    Template {
        uri: "milepost://runs/{run}/history",
        name: "run-history",
        title: "History of a run",
        description: "The newest events of a run, oldest first",
        mime: Some("application/json"),
    },
    Template {
        uri: "milepost://runs/{run}/brief",
        name: "run-brief",
        title: "Brief of a run",
        description: "What a newcomer needs to go on with a run",
        mime: Some("text/markdown"),
    },
    Template {
        uri: "milepost://runs/{run}/artifacts/{+path}",
        name: "run-artifact",
        title: "Artifact of a run",
        description: "A file that a step of the run left, as it is now",
        mime: None,
    },
    Template {
        uri: "milepost://workflows/{workflow}",
        name: "workflow",
        title: "A workflow",
        description: "Goal, parameters and steps of a workflow",
        mime: Some("application/json"),
    },
    Template {
        uri: "milepost://workflows/{workflow}/steps/{step}",
        name: "workflow-step",
        title: "A step of a workflow",
        description: "Instructions and guidance of a step",
        mime: Some("text/markdown"),
    },
];

impl Address {
    /// Reads a URI; `None` where it leads nowhere.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        if uri == HOWTO {
            return Some(Self::HowTo);
        }
        if uri == app::URI {
            return Some(Self::App);
        }
        if let Some(rest) = uri.strip_prefix(RUNS) {
            let Some((run, rest)) = rest.split_once('/') else {
                return Some(Self::Run(decode(rest)?));
            };
            let run = decode(run)?;
            return match rest {
                "history" => Some(Self::History(run)),
                "brief" => Some(Self::Brief(run)),
                _ => {
                    let path = decode(rest.strip_prefix("artifacts/")?)?;
                    Some(Self::Artifact { run, path })
                }
            };
        }
        let rest = uri.strip_prefix(WORKFLOWS)?;
        let Some((workflow, rest)) = rest.split_once('/') else {
            return Some(Self::Workflow(decode(rest)?));
        };
        let (workflow, step) = (decode(workflow)?, decode(rest.strip_prefix("steps/")?)?);
        Some(Self::Step { workflow, step })
    }

    /// Returns the URI.
    pub(crate) fn uri(&self) -> String {
        match self {
            Self::HowTo => HOWTO.to_owned(),
            Self::App => app::URI.to_owned(),
            Self::Run(run) => format!("{RUNS}{}", encode(run)),
            Self::History(run) => format!("{RUNS}{}/history", encode(run)),
            Self::Brief(run) => format!("{RUNS}{}/brief", encode(run)),
            Self::Artifact { run, path } => {
                let path = utf8_percent_encode(path, PLAIN_IN_PATH);
                format!("{RUNS}{}/artifacts/{path}", encode(run))
            }
            Self::Workflow(name) => format!("{WORKFLOWS}{}", encode(name)),
            Self::Step { workflow, step } => {
                format!("{WORKFLOWS}{}/steps/{}", encode(workflow), encode(step))
            }
        }
    }

    /// Returns the run that it is about, if it is about one.
    pub(crate) fn run(&self) -> Option<&str> {
        match self {
            Self::Run(run) | Self::History(run) | Self::Brief(run) | Self::Artifact { run, .. } => {
                Some(run)
            }
            Self::Workflow(_) | Self::Step { .. } | Self::HowTo | Self::App => None,
        }
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

fn decode(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8().ok()?;
    (!text.is_empty()).then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn an_address_reads_what_it_wrote() {
        let run = || "scene/02 04".to_owned();
        for address in [
            Address::Run(run()),
            Address::History(run()),
            Address::Brief(run()),
            Address::Artifact { run: run(), path: "docs/a plan?.md".to_owned() },
            Address::Workflow("WORK".to_owned()),
            Address::Step { workflow: "WORK".to_owned(), step: "Ask For Task".to_owned() },
            Address::HowTo,
            Address::App,
        ] {
            assert_eq!(Address::parse(&address.uri()), Some(address));
        }
    }

    #[test]
    fn what_leads_nowhere_is_no_address() {
        for uri in [
            "",
            "milepost://",
            "milepost://runs/",
            "milepost://runs/a/b",
            "milepost://runs//history",
            "milepost://runs/a/artifacts/",
            "milepost://workflows/a/b",
            "milepost://runs/%ff",
            "file:///etc/passwd",
        ] {
            assert_eq!(Address::parse(uri), None, "{uri}");
        }
    }
}
