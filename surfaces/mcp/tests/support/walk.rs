//! A walk through a dialect's tools at random that follows each piece of advice literally.
//!
//! A failure names its seed; `WALK_SEED=17` plays just that one, and says what happened.

use std::{
    collections::{BTreeMap, HashMap},
    env, fs,
    path::Path,
    sync::{Arc, LazyLock},
    time::Duration,
};

use definition::{Answers, MemoryFiles, Workflow, WorkflowName, parse};
use engine::{Actor, Answer, AnswerGate, Command, How, RunState, Standing};
use mcp::{Dialects, Options};
use runtime::{Request, Runtime, Target};
use serde_json::{Map, Value, json};

use crate::{client::Client, memory::MemoryStore, world::Stage};

/// How many walks there are.
const SEEDS: u64 = 2_000;
/// How many runs share one store. A server is dearer to make than a run.
const TOGETHER: u64 = 10;
/// How many gates a run can wait at, one after the other.
const GATES_MAX: usize = 4;
/// How many calls may be advised one after another before the run is at its end.
const DEPTH_MAX: usize = 60;

/// One dialect, as a walk meets it.
pub(crate) trait Dialect: Sized {
    const TOOLSET: &'static str;
    /// In how many tests the walks are, which run at the same time.
    const TESTS: u64 = 2;
    /// How many things happen before the way to the end is taken.
    const STEPS: usize;
    /// Every how many walks the way to the end is taken.
    const ENDS_EVERY: u64;

    /// Begins a run.
    async fn begin(walk: &mut Walk) -> (Self, Said);

    /// Returns the calls that an answer advises.
    fn advice(&self, walk: &Walk, said: &Said) -> Vec<Advice>;

    /// Does the work that a call reports, so that the call tells the truth.
    async fn prepare(&mut self, walk: &mut Walk, advice: &Advice);

    /// Does something that nobody advised.
    async fn disturb(&mut self, walk: &mut Walk) -> Said;

    /// Asks where the run is, as an agent does that has lost its place.
    async fn look(&mut self, walk: &mut Walk) -> Said;

    /// Returns the id or key of the run.
    fn run(&self) -> String;

    /// Whether the run has come to an end.
    fn is_end(&self, standing: &Standing) -> bool {
        *standing == Standing::Completed
    }
}

/// A call that an answer advises.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Advice {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    /// The line that advises it.
    pub(crate) line: String,
    /// The advised call before it in the same list, on which it may rely.
    pub(crate) after: Option<usize>,
    /// Whether a person must answer first.
    pub(crate) needs_person: bool,
    /// Whether the run is given up by it.
    pub(crate) gives_up: bool,
    /// The files that the work leaves.
    pub(crate) files: Vec<String>,
    /// The code of the refusal that the advice announces.
    pub(crate) announced: Option<&'static str>,
}

/// A call and its answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) text: String,
    pub(crate) data: Value,
    pub(crate) is_refused: bool,
}

impl Said {
    /// Returns the code of the refusal.
    pub(crate) fn code(&self) -> &str {
        self.data["refusal"]["code"].as_str().unwrap_or_default()
    }

    /// Returns the hint of the refusal.
    pub(crate) fn hint(&self) -> &str {
        self.data["refusal"]["hint"].as_str().unwrap_or_default()
    }
}

/// A server with a client, and the chance that drives them.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Walk {
    seed: u64,
    chance: u64,
    pub(crate) stage: Arc<Stage>,
    store: Arc<MemoryStore>,
    pub(crate) runtime: Arc<Runtime>,
    client: Client,
    dialects: Dialects,
    toolset: &'static str,
    gates: Option<Answers>,
    /// Whether the client can ask a person.
    pub(crate) can_ask: bool,
    /// Whether the work that a call reports was done.
    pub(crate) is_honest: bool,
    /// Whether the person says yes to everything.
    pub(crate) is_kind: bool,
    pub(crate) tools: Arc<Tools>,
    story: Vec<String>,
}

/// The input schemas of a toolset, by tool.
pub(crate) type Tools = BTreeMap<String, Value>;

/// Plays the walks of one test.
pub(crate) fn play<D: Dialect>(part: u64) {
    #[expect(clippy::disallowed_methods, reason = "a test is told which seed to play again")]
    let only: Option<u64> = env::var("WALK_SEED").ok().and_then(|it| it.parse().ok());
    let size = SEEDS / D::TESTS;
    let seeds = only.map_or(part * size..(part + 1) * size, |it| it..it + 1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let problems = runtime.block_on(async {
        let tools = Arc::new(load_tools(D::TOOLSET).await);
        // The first problem of each kind, and how many there are.
        let mut problems: BTreeMap<String, (String, usize)> = BTreeMap::new();
        let mut calls = 0;
        let mut walk = Walk::new(D::TOOLSET, Arc::clone(&tools));
        for seed in seeds {
            if seed.is_multiple_of(TOGETHER) {
                walk = Walk::new(D::TOOLSET, Arc::clone(&tools));
            }
            walk.turn_to(seed).await;
            let played = play_one::<D>(&mut walk).await;
            calls += walk.story.len();
            if only.is_some() {
                println!("{}", walk.story());
            }
            if let Err(problem) = played {
                let entry = problems.entry(problem.kind).or_insert((problem.text, 0));
                entry.1 += 1;
            }
        }
        println!("{}: {calls} calls", D::TOOLSET);
        problems
    });
    let told =
        problems.iter().map(|(kind, (text, count))| format!("{count} times: {kind}\n{text}"));
    let told: Vec<String> = told.collect();
    assert!(told.is_empty(), "{}", told.join("\n\n"));
}

/// What is wrong: of which kind, and how it came.
struct Problem {
    kind: String,
    text: String,
}

async fn play_one<D: Dialect>(walk: &mut Walk) -> Result<(), Problem> {
    let (mut dialect, mut said) = D::begin(walk).await;
    let mut used = HashMap::new();
    for _ in 0..D::STEPS {
        let is_advised = 0 < walk.draw(4) && walk.state(&dialect.run()).await.is_some();
        said = if is_advised {
            follow(&mut dialect, walk, said, &mut used).await?
        } else {
            dialect.disturb(walk).await
        };
    }
    if !walk.seed.is_multiple_of(D::ENDS_EVERY) {
        return Ok(());
    }
    walk.is_kind = true;
    used.clear();
    said = dialect.look(walk).await;
    for _ in 0..DEPTH_MAX {
        let state = walk.state(&dialect.run()).await;
        if state.is_none_or(|it| dialect.is_end(&it.standing)) {
            return Ok(());
        }
        said = follow(&mut dialect, walk, said, &mut used).await?;
    }
    Err(walk.problem("no advice leads on to the end".to_owned(), &said))
}

/// Follows one piece of the advice in an answer. On the way to the end that is what was followed
/// least so far and does not give the run up.
async fn follow<D: Dialect>(
    dialect: &mut D,
    walk: &mut Walk,
    mut said: Said,
    used: &mut HashMap<String, usize>,
) -> Result<Said, Problem> {
    let mut advice = dialect.advice(walk, &said);
    if advice.iter().all(|it| it.gives_up) {
        said = dialect.look(walk).await;
        advice = dialect.advice(walk, &said);
    }
    let state = walk.state(&dialect.run()).await;
    if state.is_some_and(|it| dialect.is_end(&it.standing)) {
        return Ok(dialect.disturb(walk).await);
    }
    if advice.iter().all(|it| it.gives_up) {
        let problem = "neither the answer nor the status says how to go on";
        return Err(walk.problem(problem.to_owned(), &said));
    }
    let name = |it: &Advice| format!("{} {:?}", it.tool, it.arguments);
    let chosen = if walk.is_kind {
        let ways = (0..advice.len()).filter(|it| !advice[*it].gives_up);
        ways.min_by_key(|it| used.get(&name(&advice[*it])).copied().unwrap_or_default()).unwrap()
    } else {
        walk.draw(advice.len())
    };
    *used.entry(name(&advice[chosen])).or_default() += 1;
    let mut after = take(dialect, walk, &advice[chosen]).await;
    if is_contradicted(walk, &advice[chosen], &after)
        && let Some(before) = advice[chosen].after
    {
        let first = take(dialect, walk, &advice[before]).await;
        if is_contradicted(walk, &advice[before], &first) {
            return Err(walk.contradiction(&advice[before], &said, &first));
        }
        after = take(dialect, walk, &advice[chosen]).await;
    }
    if is_contradicted(walk, &advice[chosen], &after) {
        return Err(walk.contradiction(&advice[chosen], &said, &after));
    }
    Ok(after)
}

async fn take<D: Dialect>(dialect: &mut D, walk: &mut Walk, advice: &Advice) -> Said {
    walk.is_honest = true;
    dialect.prepare(walk, advice).await;
    if advice.needs_person {
        // One answer may lead to the next question.
        for _ in 0..GATES_MAX {
            walk.answer(&dialect.run(), true).await;
        }
    }
    walk.call(&advice.tool, advice.arguments.clone()).await
}

fn is_contradicted(walk: &Walk, advice: &Advice, after: &Said) -> bool {
    after.is_refused && walk.is_honest && advice.announced != Some(after.code())
}

impl Walk {
    fn new(toolset: &'static str, tools: Arc<Tools>) -> Self {
        let stage = Arc::new(Stage::new(false));
        stage.enliven();
        let store = Arc::new(MemoryStore::default());
        let mut dialects = Dialects::default();
        // Nobody answers while a call waits.
        Arc::make_mut(&mut dialects.forge).poll = Duration::from_secs(1);
        let runtime = stage.runtime_over(store.clone(), &dialects, None);
        let client = Self::client(&runtime, toolset, &dialects, false);
        Self {
            seed: 0,
            chance: 1,
            stage,
            store,
            runtime,
            client,
            dialects,
            toolset,
            gates: None,
            can_ask: false,
            is_honest: true,
            is_kind: false,
            tools,
            story: Vec::new(),
        }
    }

    /// Begins the walk of a seed.
    async fn turn_to(&mut self, seed: u64) {
        let chance = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
        (self.seed, self.chance, self.is_kind) = (seed, chance.max(1), false);
        self.story.clear();
        let is_plain = self.draw(3) != 0;
        if is_plain && self.gates.is_none() && !self.can_ask {
            return;
        }
        let gates = (!is_plain && self.draw(2) == 0).then_some(Answers::Verified);
        let can_ask = !is_plain && self.draw(2) == 0;
        self.serve(gates, can_ask).await;
    }

    fn client(runtime: &Arc<Runtime>, toolset: &str, dialects: &Dialects, can_ask: bool) -> Client {
        let options = Options {
            toolsets: vec![toolset.to_owned()],
            dialects: dialects.clone(),
            ..Options::default()
        };
        let mut client = Client::new(Arc::clone(runtime), options);
        if can_ask {
            client.capabilities = json!({ "elicitation": {} });
        }
        client
    }

    /// Makes the server new, over the same store, perhaps with other settings.
    pub(crate) async fn restart(&mut self) {
        let gates = (self.draw(3) == 0).then_some(Answers::Verified);
        let can_ask = self.draw(2) == 0;
        self.serve(gates, can_ask).await;
    }

    async fn serve(&mut self, gates: Option<Answers>, can_ask: bool) {
        self.story.push(format!("# a new server: gates {gates:?}, can ask {can_ask}"));
        (self.gates, self.can_ask) = (gates, can_ask);
        self.runtime = self.stage.runtime_over(self.store.clone(), &self.dialects, gates);
        let new = Self::client(&self.runtime, self.toolset, &self.dialects, can_ask);
        let (ended, rest) = std::mem::replace(&mut self.client, new).hang_up().await;
        ended.unwrap();
        assert!(rest.is_empty(), "unasked: {rest:?}");
    }

    /// Returns four digits that no other walk of the store has.
    pub(crate) fn number(&self) -> String {
        format!("{:04}", self.seed % 10_000)
    }

    /// Calls a tool. Where the client is to ask the person, the person answers.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Map<String, Value>) -> Said {
        self.stage.pass(Duration::from_secs(1));
        let mut params = json!({ "name": tool, "arguments": arguments });
        let mut answer = self.client.ask("tools/call", params.clone()).await;
        if answer["result"]["resultType"] == "input_required" {
            let asked = answer["result"].clone();
            let (key, form) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
            let options = form["params"]["requestedSchema"]["properties"]["answer"]["enum"].clone();
            let options = options.as_array().unwrap().clone();
            let chosen = if self.is_kind { 0 } else { self.draw(options.len()) };
            let reply = json!({ "action": "accept", "content": { "answer": options[chosen] } });
            params["requestState"] = asked["requestState"].clone();
            params["inputResponses"] = json!({ key: reply });
            self.story.push(format!("# the client asks, and the person says {}", options[chosen]));
            answer = self.client.ask("tools/call", params).await;
        }
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        let said = Said {
            tool: tool.to_owned(),
            arguments,
            text,
            data: result["structuredContent"].clone(),
            is_refused: result["isError"] == true,
        };
        let sign = if said.is_refused { "!" } else { " " };
        let (code, arguments) = (said.code(), Value::Object(said.arguments.clone()));
        self.story.push(format!("> {tool} {arguments}\n  {sign} {code}"));
        assert!(answer["error"].is_null(), "seed {}: {answer}\n{}", self.seed, self.story());
        said
    }

    /// A person answers the gate in their terminal, if they are asked.
    pub(crate) async fn answer(&mut self, run: &str, is_yes: bool) {
        let Some(state) = self.state(run).await else { return };
        let Standing::Waiting(gate) = &state.standing else { return };
        let picked = if is_yes { 0 } else { self.draw(gate.options.len().max(1)) };
        let Some(option) = gate.options.get(picked) else { return };
        self.story.push(format!("# the person says {}", option.name));
        let given = AnswerGate {
            answer: Answer::Named(option.name.clone()),
            feedback: "more of it".to_owned(),
            by: "ann".to_owned(),
            how: How::Verified,
            digest: None,
        };
        let request = Request {
            target: Target::Run(state.run),
            command: Command::AnswerGate(Box::new(given)),
            actor: Actor::default(),
            request_id: None,
        };
        let answered = self.runtime.execute(request).await;
        if let Err(problem) = answered {
            self.story.push(format!("  ! {problem}"));
        }
    }

    /// Notes something that happens.
    pub(crate) fn tell(&mut self, what: String) {
        self.story.push(format!("# {what}"));
    }

    /// Returns the run as it is in the log.
    pub(crate) async fn state(&self, run: &str) -> Option<RunState> {
        let run = self.runtime.find_run(run).await.ok()?;
        let view = self.runtime.view(run, None).await.ok()?;
        Some((*view.state).clone())
    }

    pub(crate) fn draw(&mut self, below: usize) -> usize {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        usize::try_from(self.chance >> 11).unwrap() % below
    }

    pub(crate) fn seed_is_even(&self) -> bool {
        self.seed.is_multiple_of(2)
    }

    pub(crate) fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.draw(among.len())].clone()
    }

    /// Gives each required argument that is missing a value of its kind.
    pub(crate) fn fill(&self, tool: &str, arguments: &mut Map<String, Value>) {
        let schema = &self.tools[tool];
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for name in required.iter().filter_map(Value::as_str) {
            if !arguments.contains_key(name) {
                arguments.insert(name.to_owned(), value_of(&schema["properties"][name]));
            }
        }
    }

    fn story(&self) -> String {
        self.story.join("\n")
    }

    fn contradiction(&self, advice: &Advice, said: &Said, after: &Said) -> Problem {
        let kind = format!(
            "`{}` is advised by `{}` and refused: {}",
            advice.tool,
            said.tool,
            after.code()
        );
        let arguments = Value::Object(advice.arguments.clone());
        let mut problem = self.problem(kind, said);
        let (line, refusal) = (&advice.line, &after.text);
        problem.text += &format!("\nadvised: {arguments}\nby: {line}\nthe refusal: {refusal}");
        problem
    }

    fn problem(&self, kind: String, said: &Said) -> Problem {
        let (seed, story) = (self.seed, self.story());
        let text = format!("seed {seed}\n{story}\nthe answer of `{}`:\n{}", said.tool, said.text);
        Problem { kind, text }
    }
}

/// Returns the tools that a text names in backticks, with the parameters that it names for them:
/// "`tool` with `name`" is a call with a value for it, "without `name`" one without.
pub(crate) fn find_named(text: &str, tools: &Tools) -> Vec<Advice> {
    let words: Vec<&str> = text.split('`').collect();
    let mut found: Vec<Advice> = Vec::new();
    // Between two backticks stands every second piece.
    for (place, word) in words.iter().enumerate().skip(1).step_by(2) {
        if tools.contains_key(*word) {
            let (tool, line) = ((*word).to_owned(), text.to_owned());
            found.push(Advice { tool, line, ..Advice::default() });
            continue;
        }
        let before = words[place - 1].trim();
        let Some(last) = found.last_mut() else { continue };
        let schema = &tools[&last.tool]["properties"][*word];
        let value = words.get(place + 2).filter(|_| words.get(place + 1) == Some(&" "));
        if ["with", "and", "("].iter().any(|it| before.ends_with(it)) && !schema.is_null() {
            let value = value.map_or_else(|| value_of(schema), |it| json!(it));
            last.arguments.insert((*word).to_owned(), value);
        }
    }
    found
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// Returns a value of the kind that a schema asks for.
fn value_of(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("x"),
    }
}

async fn load_tools(toolset: &str) -> Tools {
    let stage = Arc::new(Stage::new(false));
    let runtime = stage.runtime();
    let mut client = Walk::client(&runtime, toolset, &Dialects::default(), false);
    let listed = client.ask("tools/list", json!({})).await;
    let schema = |it: &Value| (it["name"].as_str().unwrap().to_owned(), it["inputSchema"].clone());
    listed["result"]["tools"].as_array().unwrap().iter().map(schema).collect()
}

/// The files of the workflows that are a part of the program, by path.
static BUILTIN: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
    let mut files = BTreeMap::new();
    for workflow in fs::read_dir(&root).unwrap() {
        let folder = workflow.unwrap().path();
        for part in ["", "steps"] {
            let Ok(entries) = fs::read_dir(folder.join(part)) else { continue };
            for path in entries.map(|it| it.unwrap().path()) {
                if path.extension().is_some_and(|it| it == "md" || it == "yaml") {
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                    files.insert(name, fs::read_to_string(&path).unwrap());
                }
            }
        }
    }
    files
});

/// Takes a workflow that is a part of the program.
pub(crate) fn define_builtin(stage: &Stage, name: &str) {
    let prefix = format!("{name}/");
    for (path, text) in BUILTIN.iter().filter(|(path, _)| path.starts_with(&prefix)) {
        stage.define(path, text);
    }
}

/// Returns a workflow that is a part of the program.
pub(crate) fn parse_builtin(name: &str) -> Workflow {
    let prefix = format!("{name}/");
    let own = BUILTIN.iter().filter(|(path, _)| path.starts_with(&prefix));
    let files = MemoryFiles(own.map(|(path, text)| (path.clone(), text.clone())).collect());
    parse(&WorkflowName::parse(name).unwrap(), &files).unwrap()
}
