//! Every setting there is: its name, default, meaning, and since when. Parsing, `config show` and
//! the page in `docs/reference/` all come from this one table.

use super::value::Kind::{
    self, Address, AnyOf, Flag, Names, Path, Paths, Secret, Text, Url, Word, Words,
};
use Class::{HardenOnly, Harmless, NeedsTrust, UserOnly};

/// One setting.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Section and key, as in a file: `store.path` is `path` under `[store]`.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// As it would be written in the environment. Empty: nothing is set.
    pub(crate) default: &'static str,
    /// What nothing means, in words.
    pub(crate) unset: &'static str,
    /// Names of environment variables that mean the same, beside the one made from its name.
    pub(crate) aliases: &'static [&'static str],
    /// What it can do to the user, and so whose word it takes.
    pub(crate) class: Class,
    pub(crate) doc: &'static str,
    pub(crate) since: &'static str,
}

/// What a setting can do to the user, and so when a project's own file may say it. The user's own
/// file, the environment and flags always may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nothing: a project may always say it.
    Harmless,
    /// A project may say it once the user trusts it. A path must lie in the project all the same.
    NeedsTrust,
    /// A project may say only this value, which makes things stricter, and needs no trust for it.
    /// No other source takes it back.
    HardenOnly(&'static str),
    /// It opens a port, names a credential or who gets one, lets commands run, or writes elsewhere:
    /// a project never says it.
    UserOnly,
}

impl Setting {
    /// Returns the environment variable made from the name: `MILEPOST_SECTION_KEY`.
    pub(crate) fn variable(&self) -> String {
        format!("MILEPOST_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// Returns every environment variable that sets it, the one that counts most first.
    pub(crate) fn variables(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.variable()).chain(self.aliases.iter().map(|it| (*it).to_owned()))
    }
}

/// Environment variables of the original that this release knows but does not use yet.
pub(crate) const NOT_YET: &[&str] = &["USE_STUB_AI_CLIENT"];

const fn setting(name: &'static str, class: Class, kind: Kind, default: &'static str) -> Setting {
    Setting { name, kind, default, unset: "", aliases: &[], class, doc: "", since: "0.1" }
}

impl Setting {
    const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    const fn unset(self, unset: &'static str) -> Self {
        Self { unset, ..self }
    }

    const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

const fn count(min: u64, max: u64) -> Kind {
    Kind::Count { min, max }
}

const fn bytes(min: u64, max: u64) -> Kind {
    Kind::Bytes { min, max }
}

const fn seconds(min_s: u64, max_s: u64) -> Kind {
    Kind::Duration { min_s, max_s }
}

/// The words that definitions have for chores.
pub(crate) const CHORES: [&str; 5] = ["rename_branch", "commit", "push", "publish", "checkout"];

/// Every setting, by name.
pub(crate) const SETTINGS: &[Setting] = &[
    setting("brief.tokens", Harmless, count(200, 100_000), "2500")
        .doc("How large a brief is unless its reader says so, in tokens."),
    setting("checks.allow", UserOnly, Flag, "true").doc(
        "Whether the server itself may run the commands under `checks` of a definition, where \
         you have allowed them with `milepost trust`. They run without a shell, in the run's \
         folder.",
    ),
    setting(
        "chores.allow",
        UserOnly,
        AnyOf(&CHORES),
        "rename_branch, commit, push, publish, checkout",
    )
    .doc(
        "What the server itself may do in a repository where a workflow has it as a chore. A \
         commit that it may not make is left to you, with a warning. Anything else fails, and \
         the chore's `on_failure` says what that leads to.",
    ),
    setting("chores.network_timeout", NeedsTrust, seconds(1, 3_600), "3m")
        .doc("How long `git` and `gh` may take for a chore where they need a network."),
    setting("chores.timeout", NeedsTrust, seconds(1, 3_600), "2m")
        .doc("How long `git` may take for a chore on this machine, with the hooks that you have."),
    setting("devworkflow.auto_approve", NeedsTrust, Flag, "false")
        .doc(
            "Whether plans of the dev-workflow are approved without a person. Has no effect while \
             `gates.answers` is `verified`.",
        )
        .aliases(&["WORKFLOW_AUTO_APPROVE_PLANS"]),
    setting("devworkflow.cache", Harmless, Flag, "false")
        .doc("Whether past sessions can be searched by meaning (`workflow_semantic_search`)."),
    setting("devworkflow.changelog_date", Harmless, Flag, "false")
        .doc("Whether a line that is put into the changelog begins with its date."),
    setting("devworkflow.directory", NeedsTrust, Path, ".accordo").doc(
        "The folder of the dev-workflow's own files: `workflow_state.md` and \
         `project_config.md` if they are there, `workflows`, `sessions`, `archive`.",
    ),
    setting("devworkflow.evidence", NeedsTrust, Word(&["strict", "warn", "off"]), "warn").doc(
        "What an acceptance criterion without evidence leads to: `strict` refuses, `warn` \
         goes on and says so, `off` says nothing.",
    ),
    setting("devworkflow.log_chars_max", Harmless, count(1, 1_000_000), "5000").doc(
        "From how many characters on the log in `workflow_state.md`, or of a session, is put \
         into its archive.",
    ),
    setting("devworkflow.mode", NeedsTrust, Word(&["managed", "advisory"]), "managed").doc(
        "Who keeps `workflow_state.md`: the server (`managed`), or the agent, which is only \
         told what to do (`advisory`).",
    ),
    setting("devworkflow.project_config", NeedsTrust, Path, "")
        .doc("The file with the project's commands and changelog.")
        .unset("project_config.md in the dev-workflow's folder, else in the project's root"),
    setting("devworkflow.session_archiving", Harmless, Flag, "true").doc(
        "Whether the file of a session that is over is kept under another name, with its \
         status and time.",
    ),
    setting(
        "devworkflow.session_fallback",
        Harmless,
        Word(&["single", "latest", "none"]),
        "single",
    )
    .doc(
        "Which session a call means that names none: the `single` one that goes on, the \
         `latest`, or `none`.",
    ),
    setting("devworkflow.session_format", Harmless, Word(&["json", "md"]), "json")
        .doc("What is written of a session: `json`, or also Markdown beside it (`md`)."),
    setting("devworkflow.session_retention_hours", Harmless, count(1, 10 * 365 * 24), "168")
        .doc("For how long a session that is over stays in the list, in hours."),
    setting("devworkflow.state_file", NeedsTrust, Path, "")
        .doc("The file with the state of the work.")
        .unset("workflow_state.md in the dev-workflow's folder, else in the project's root"),
    setting("devworkflow.task_format", Harmless, Word(&["free", "action"]), "free")
        .doc("How a task must be written: `free`, or as `Action: Brief description`."),
    setting("devworkflow.transitions", NeedsTrust, Word(&["strict", "warn"]), "strict").doc(
        "What a call of the dev-workflow that comes out of order leads to: `strict` refuses, \
         `warn` does it and says so.",
    ),
    setting("forge.agents", NeedsTrust, Path, "")
        .doc("The folder of the agents' files of the forge pipeline, `architect.md` and so on.")
        .unset("those that come with the program")
        .aliases(&["FORGE_AGENTS_PATH"]),
    setting("forge.cost_per_token", Harmless, Text, "0.000006")
        .doc("What a token costs in dollars whose model has no price."),
    setting("forge.default_model", Harmless, Text, "sonnet")
        .doc("The model that the log names for an agent whose model is not given."),
    setting("forge.events_log", UserOnly, Path, "")
        .doc(
            "The file that gets a line of JSON for everything that happens to a forge pipeline, \
             shared by all projects. It is put aside as `.1` when it has grown large.",
        )
        .unset("~/.claude/forge-events.jsonl")
        .aliases(&["FORGE_EVENTS_LOG"]),
    setting("forge.events_port", UserOnly, count(0, 65_535), "0")
        .doc("The port of the dashboard and its event stream, which this release does not have.")
        .aliases(&["FORGE_EVENTS_PORT"]),
    setting("forge.friction_tokens", Harmless, count(0, 8000), "400").doc(
        "How many tokens of an agent's prompt may tell what made work hard in past forge \
         pipelines; 0 for nothing.",
    ),
    setting("forge.poll", Harmless, seconds(0, 600), "50s")
        .doc("For how long `pipeline_next_action` waits at a checkpoint for the person."),
    setting("forge.prices", Harmless, Names, "")
        .doc(
            "What a million tokens of a model cost in dollars, input and output: \
             `opus=15/75, haiku=1/5`.",
        )
        .unset("every token costs the same"),
    setting("forge.specs", NeedsTrust, Path, ".specs")
        .doc(
            "The folder of the specs of the forge pipeline. Where it lies in another project, that \
             is the one that the forge tools work in.",
        )
        .aliases(&["FORGE_SPECS_DIR"]),
    setting(
        "gates.answers",
        HardenOnly("verified"),
        Word(&["definition", "verified"]),
        "definition",
    )
    .doc(
        "Which answers count at gates: `definition` leaves it to each workflow, `verified` \
         takes only a person's own answer everywhere. Where several sources say it, the \
         stricter one counts.",
    ),
    setting("generation.workspace", NeedsTrust, Path, "")
        .doc(
            "The folder of the state files of scenes, `generation-state-0204.json`. In a file it \
             is relative to the project's root, elsewhere to the working directory.",
        )
        .unset(
            "the nearest workspace from the working directory up to the project's root, else \
             one in the working directory",
        )
        .aliases(&["WORKSPACE_PATH"]),
    setting("limits.context", NeedsTrust, bytes(1024, 64 << 20), "1MiB")
        .doc("The largest context of a run.")
        .aliases(&["MAX_CONTEXT_BYTES"]),
    setting("limits.items", NeedsTrust, count(1, 100_000), "1000")
        .doc("The most items that a run may have."),
    setting("limits.lease", NeedsTrust, seconds(1, 30 * 86_400), "24h")
        .doc("The longest lease that an agent may ask for."),
    setting("limits.parts", NeedsTrust, count(1, 10_000), "500")
        .doc("The most parts that one step may be fanned out over."),
    setting("limits.prompt", NeedsTrust, bytes(1024, 16 << 20), "64KiB").doc(
        "The longest single part of what a language model is sent: the definition, the state, \
         the history, the report. What is longer is cut, and says so.",
    ),
    setting("limits.report", NeedsTrust, bytes(1024, 64 << 20), "256KiB")
        .doc("The largest report that is taken.")
        .aliases(&["MAX_REPORT_BYTES"]),
    setting("limits.text", NeedsTrust, bytes(1024, 16 << 20), "64KiB")
        .doc("The longest single text: a note, an error, an answer, a reason."),
    setting("log.file", UserOnly, Path, "")
        .doc("A file that log lines are appended to, as JSON, besides standard error.")
        .unset("no file")
        .aliases(&["ORCHESTRATOR_LOG_FILE"]),
    setting(
        "log.level",
        Harmless,
        Word(&["off", "error", "warn", "info", "debug", "trace"]),
        "info",
    )
    .doc("How much is logged. Without it, commands that answer at once log warnings only.")
    .aliases(&["LOG_LEVEL"]),
    setting("mcp.ask", Harmless, seconds(1, 86_400), "10m")
        .doc("How long a person may take to answer a question that the client shows."),
    setting("mcp.body", NeedsTrust, bytes(64 << 10, 1 << 30), "16MiB")
        .doc("The largest request that is taken over HTTP."),
    setting("mcp.call_timeout", NeedsTrust, seconds(1, 86_400), "60s").doc(
        "How long a call may take by itself. Then it is stopped, and whatever it has not \
         written by then is never written. What has a limit of its own is not counted: \
         checks, chores, language models, waits, questions to a person. A call takes \
         milliseconds; one that takes a minute hangs.",
    ),
    setting("mcp.calls", NeedsTrust, count(1, 100_000), "256").doc(
        "The most calls of all clients at once over HTTP. A call beyond that waits for 10s, \
         and is then answered with 503. Each takes memory, and hundreds keep every core busy.",
    ),
    setting("mcp.calls_per_client", NeedsTrust, count(1, 100_000), "64").doc(
        "The most calls of one client at once: on one pair of pipes, in one session, or with \
         one token. A call ends when its answer is read. On pipes the calls beyond that wait, \
         and nothing is read any more once a thousand do; over HTTP each waits for 10s, and is \
         then answered with 429. Agents have a few calls under way.",
    ),
    setting("mcp.drain", Harmless, seconds(0, 60), "1500ms")
        .doc("How long calls that are under way may take once the client has closed its end."),
    setting("mcp.session_idle", NeedsTrust, seconds(10, 7 * 86_400), "30m")
        .doc("For how long the session of an older client may be silent over HTTP."),
    setting("mcp.sessions", NeedsTrust, count(1, 100_000), "1000").doc(
        "The most sessions of older clients at once over HTTP. Each takes memory until it is \
         given up; clients of revision 2026-07-28 need none.",
    ),
    setting("mcp.streams", NeedsTrust, count(1, 100_000), "256").doc(
        "The most streams of news at once: those of all clients over HTTP, or of the one on \
         pipes. Each takes a connection for as long as it lasts.",
    ),
    setting("mcp.toolsets", Harmless, Words, "core")
        .doc("The toolsets that `milepost mcp` and `milepost serve` offer.")
        .aliases(&["MILEPOST_TOOLSETS"]),
    setting("mcp.watched", NeedsTrust, count(1, 100_000), "1000").doc(
        "The most resources that one client may watch. All of them are looked through with \
         each change.",
    ),
    setting(
        "model.api",
        UserOnly,
        Word(&["auto", "anthropic", "openai", "gemini", "none"]),
        "auto",
    )
    .doc(
        "The language that the model's endpoint speaks. `auto` goes by the endpoint, `none` \
         does without a model.",
    )
    .aliases(&["AI_PROVIDER"]),
    setting("model.backoff", NeedsTrust, seconds(0, 10), "1s").doc(
        "The pause before a model is asked again that could not be reached. Each next one is \
         twice as long, up to 10s.",
    ),
    setting("model.budget", NeedsTrust, seconds(0, 600), "90s")
        .doc(
            "How long all tries at one question may take, pauses among them. Then the agent \
             chooses.",
        )
        .aliases(&["AI_TOTAL_BUDGET_MS"]),
    setting("model.endpoint", UserOnly, Url, "")
        .doc(
            "The language model's address: its base, or the whole. With it or a key, runs whose \
             workflow names no other decider are decided by the model.",
        )
        .unset("where the API's maker serves it, if there is a key")
        .aliases(&["AI_SERVICE_ENDPOINT"]),
    setting("model.fail_on_error", NeedsTrust, Flag, "false")
        .doc(
            "Whether a run fails when its model cannot be had, as the original did. Otherwise the \
             agent chooses.",
        )
        .aliases(&["FAIL_ON_AI_ERROR"]),
    setting("model.key", UserOnly, Secret, "")
        .doc("The key to the language model. It is never shown.")
        .unset("none")
        .aliases(&["AI_SERVICE_API_KEY", "GEMINI_API_KEY"]),
    setting("model.key_file", UserOnly, Path, "")
        .doc("A file that has the key to the language model in it, and nothing else.")
        .unset("none"),
    setting("model.name", NeedsTrust, Text, "")
        .doc("Which language model is asked, by the name that its API has for it.")
        .unset("none")
        .aliases(&["GEMINI_MODEL_NAME"]),
    setting("model.timeout", NeedsTrust, seconds(0, 600), "30s")
        .doc("How long one try at a question may take.")
        .aliases(&["AI_REQUEST_TIMEOUT_MS", "GEMINI_REQUEST_TIMEOUT_SECONDS"]),
    setting("model.tries", NeedsTrust, count(1, 20), "4").doc("How often a question is tried."),
    setting("serve.address", UserOnly, Address, "127.0.0.1:7420").doc(
        "Where `milepost serve` listens. An address that other machines can reach needs \
         `serve.token_file`.",
    ),
    setting("serve.connections", UserOnly, count(8, 1_000_000), "1024").doc(
        "The most connections at once to `milepost serve`; fewer where the system gives a \
         process fewer open files. When all are in use, a new one takes the place of the one \
         that has been idle for longest.",
    ),
    setting("serve.header_timeout", UserOnly, seconds(1, 3_600), "5s").doc(
        "How long a client that has connected may take to send the head of its first request. \
         Clients send it at once.",
    ),
    setting("serve.hosts", UserOnly, Names, "")
        .doc(
            "The names under which `milepost serve` may be asked for, besides those of this \
             machine and the address itself: `milepost.example.org`.",
        )
        .unset("none"),
    setting("serve.idle_timeout", UserOnly, seconds(1, 86_400), "90s").doc(
        "How long a connection may stay open without a request. Clients keep one for the next \
         call, and may lose it whenever they do not use it.",
    ),
    setting("serve.token_file", UserOnly, Path, "")
        .doc("A file with the token that every request must carry, as `Authorization: Bearer …`.")
        .unset("no token, which only addresses of this machine allow"),
    setting("serve.write_timeout", UserOnly, seconds(1, 3_600), "30s").doc(
        "How long a client may take to read the next piece of an answer. Then its connection is \
         closed, since the answer takes memory.",
    ),
    setting("store.busy_wait", Harmless, seconds(0, 300), "10s").doc(
        "How long other processes may keep the database locked before a call is answered \
         with `busy`.",
    ),
    setting("store.path", NeedsTrust, Path, "")
        .doc(
            "The database file, or `:memory:` for one that is gone when the process ends. In a \
             file it is relative to the project's root, elsewhere to the working directory.",
        )
        .unset(".milepost/milepost.db in the project's root")
        .aliases(&["WORKFLOW_DB_PATH"]),
    setting("store.synchronous", NeedsTrust, Word(&["full", "normal"]), "full").doc(
        "What an answer waits for: `full` until it is on disk, `normal` until the system has \
         it, so that a power cut may lose the last answers.",
    ),
    setting("wait.max", Harmless, seconds(1, 600), "50s")
        .doc("The longest that a call may wait for a run to change."),
    setting("workflows.builtin", NeedsTrust, Flag, "true")
        .doc("Whether the built-in workflows are there, after all others."),
    setting("workflows.dirs", NeedsTrust, Paths, "")
        .doc(
            "Folders of workflow folders and graphs, besides `.milepost/workflows` and \
             `.accordo/workflows` of the project (which come first) and `milepost/workflows` in \
             the user's configuration folder (which comes after). In the environment they are \
             separated as in `PATH`.",
        )
        .unset("none")
        .aliases(&["WORKFLOW_DEFINITIONS_DIR"]),
];

/// Returns the setting called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|it| it.name == name)
}

/// Says that there is no setting `name`, and which one was most likely meant.
pub(crate) fn unknown(name: &str) -> String {
    let hint = did_you_mean(name, SETTINGS.iter().map(|it| it.name));
    format!("there is no setting `{name}`{hint}")
}

/// Returns words that name the known name which `wanted` was most likely meant to be, if any.
pub(crate) fn did_you_mean<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    let letters_max = (wanted.chars().count() / 3).max(1);
    let nearest = known
        .map(|it| {
            let (wanted, known) = (wanted.to_lowercase(), it.to_lowercase());
            (strsim::damerau_levenshtein(&wanted, &known), it)
        })
        .filter(|(letters, _)| *letters <= letters_max)
        .min_by_key(|(letters, _)| *letters);
    nearest.map(|(_, it)| format!("; did you mean `{it}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::value::Value;

    #[test]
    fn every_default_fits_its_own_setting_and_names_are_sorted() {
        for setting in SETTINGS {
            let value = setting.kind.parse(setting.default);
            assert!(value.is_ok(), "{}: {value:?}", setting.name);
            assert!(value == Ok(Value::Unset) || setting.unset.is_empty(), "{}", setting.name);
            assert!(setting.name.contains('.'), "{}", setting.name);
            assert!(!setting.doc.is_empty(), "{}", setting.name);
        }
        assert!(SETTINGS.is_sorted_by_key(|it| it.name));
    }

    #[test]
    fn no_two_settings_have_the_same_variable() {
        let mut names: Vec<String> = SETTINGS.iter().flat_map(Setting::variables).collect();
        names.extend(NOT_YET.iter().map(|it| (*it).to_owned()));
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
