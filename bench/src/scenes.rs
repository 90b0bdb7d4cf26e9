//! What thousands of scenes cost: their list, beside reading and parsing the files that they are
//! in, and single calls, beside a call that does nothing and one write to the disk.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    Measured,
    figures::{Samples, ratio, time},
    peer::Peer,
    raw::Raw,
    rig::Rig,
    table::Section,
};

/// How many scenes there are: as many as four digits name.
const SCENES: usize = 10_000;
/// What share of the time of reading all files a list may take.
const LIST_SHARE_MAX: f64 = 0.1;
/// How many times the time of reading all files their first list may take.
const FIRST_SHARE_MAX: f64 = 3.0;
/// What a write may take beyond two writes to the disk: the log's and the file's.
const WRITE_OVER_MAX: Duration = Duration::from_millis(1);
/// How long a list may be, in characters.
const CHARACTERS_MAX: usize = 25_100;
/// The folder of the files.
const WORKSPACE: &str = "workspace";
/// How many calls in a row are about one scene, as an agent works.
const CALLS_EACH: usize = 20;

const STEPS: [&str; 7] = [
    "step_1_file_check",
    "step_2_blueprint_validation",
    "step_3_verification_plan",
    "step_4_generation",
    "step_5_fast_compliance",
    "step_6_full_validation",
    "step_7_final_output",
];

/// Statuses, and the step that a scene is at then.
const STATUSES: [(&str, usize); 4] =
    [("IN_PROGRESS", 4), ("FAILED", 4), ("CANCELLED", 6), ("COMPLETED", 7)];

/// What was measured.
#[derive(Default)]
struct Measures {
    import: Samples,
    reading: Samples,
    /// The list of files that no run was begun from, in a process that has seen none of them.
    first: Samples,
    list: Samples,
    nothing: Samples,
    disk: Samples,
    status: Samples,
    write: Samples,
    /// How long the list is, in characters.
    characters: usize,
}

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let folder = rig.folder()?;
    let bytes = write_all(&folder.path().join(WORKSPACE))?;
    let mut measures = Measures::default();
    first_lists(rig, folder.path(), &mut measures)?;
    let begun = Instant::now();
    let imported = rig.import_scenes(folder.path(), WORKSPACE).output()?;
    measures.import.add(begun.elapsed());
    if !imported.status.success() {
        return Err(format!("nothing was imported: {imported:?}").into());
    }
    let mut server = Peer::start(&mut rig.scene_server(folder.path()))?;
    lists(rig, folder.path(), &mut server, &mut measures)?;
    calls(rig, folder.path(), &mut server, &mut measures)?;
    Ok(section(&measures, bytes))
}

/// Reads all files, and has a new process list them, in turns.
fn first_lists(rig: &Rig, folder: &Path, measures: &mut Measures) -> Measured<()> {
    for _ in 0..rig.pick(5, 2) {
        measures.reading.add(read_all(&folder.join(WORKSPACE))?);
        let mut server = Peer::start(&mut rig.scene_server(folder))?;
        let (answer, took) = server.done("list_generations", &json!({}))?;
        check_total(&answer)?;
        measures.first.add(took);
    }
    Ok(())
}

/// Reads all files and asks for the list, in turns.
fn lists(rig: &Rig, folder: &Path, server: &mut Peer, measures: &mut Measures) -> Measured<()> {
    let all = json!({});
    // What was imported last is looked at once more.
    server.done("list_generations", &all)?;
    for _ in 0..rig.pick(20, 5) {
        measures.reading.add(read_all(&folder.join(WORKSPACE))?);
        for _ in 0..5 {
            let (answer, took) = server.done("list_generations", &all)?;
            check_total(&answer)?;
            let text = answer["result"].as_str().ok_or("no text")?;
            measures.characters = measures.characters.max(text.chars().count());
            measures.list.add(took);
        }
    }
    Ok(())
}

fn check_total(answer: &Value) -> Measured<()> {
    match &answer["total"] {
        total if *total == SCENES => Ok(()),
        total => Err(format!("not all scenes are there: {total}").into()),
    }
}

/// Reads and changes one scene, in turns with what that could cost at best.
fn calls(rig: &Rig, folder: &Path, server: &mut Peer, measures: &mut Measures) -> Measured<()> {
    let mut raw = Raw::new(folder)?;
    let mut empty = Peer::start(&mut rig.empty())?;
    let calls = rig.pick(1000, 200);
    for call in 0..calls {
        // Only the first of each round of statuses goes on.
        let scene = format!("{:04}", call / CALLS_EACH * STATUSES.len());
        let status = json!({"scene_id": scene, "detailed": true});
        let error = json!({
            "scene_id": scene,
            "step_number": 4,
            "error_type": "compliance",
            "error_message": "the place is wrong",
            "severity": "LOW",
        });
        let samples = [
            raw.write()?,
            empty.call("nothing", &json!({}))?.1,
            server.done("get_generation_status", &status)?.1,
            server.done("record_error", &error)?.1,
        ];
        // The first calls only warm up.
        if calls / 10 <= call {
            let Measures { disk, nothing, status, write, .. } = measures;
            for (kept, sample) in [disk, nothing, status, write].into_iter().zip(samples) {
                kept.add(sample);
            }
        }
    }
    Ok(())
}

fn section(measures: &Measures, bytes: u64) -> Section {
    let Measures { import, reading, first, list, nothing, disk, status, write, characters } =
        measures;
    let note = format!(
        "{SCENES} scenes, whose state files have {bytes} bytes each. The first list is that of a \
         process that has seen none of them, before any was imported. Their import is measured once, \
         with the start of the process. Reading is listing the folder, and reading and parsing every \
         file. The list is the first page of `list_generations` over stdio, in turns with it. Single \
         calls are about one scene after the other, {CALLS_EACH} each, in turns with an empty rmcp \
         server's and a write to the disk."
    );
    let head = ["what", "p50", "p99", "× reading", "× empty tool", "over the disk"];
    let mut section = Section::new("Thousands of scenes", note, &head);
    for (name, samples) in
        [("reading the files", reading), ("first list", first), ("import", import), ("list", list)]
    {
        let (half, share) = (samples.median(), ratio(samples.median(), reading.median()));
        let cells = [name.to_owned(), time(half), time(samples.quantile(99)), share];
        section.row(&cells);
    }
    for (name, samples) in [
        ("one fdatasync", disk),
        ("empty tool", nothing),
        ("`get_generation_status`", status),
        ("`record_error`", write),
    ] {
        let half = samples.median();
        let over_disk = match name {
            "`record_error`" => time(half.saturating_sub(disk.median())),
            _ => String::new(),
        };
        section.row(&[
            name.to_owned(),
            time(half),
            time(samples.quantile(99)),
            String::new(),
            ratio(half, nothing.median()),
            over_disk,
        ]);
    }
    let share = first.median().as_secs_f64() / reading.median().as_secs_f64();
    let promise =
        format!("the first list of {SCENES} scenes ≤ {FIRST_SHARE_MAX} × reading their files");
    section.target(promise, format!("{share:.2} ×"), share <= FIRST_SHARE_MAX);
    let over = write.median().saturating_sub(disk.median());
    let promise =
        format!("a write to a scene ≤ its log's commit + one fsync + {}", time(WRITE_OVER_MAX));
    section.target(promise, format!("+ {}", time(over)), over <= disk.median() + WRITE_OVER_MAX);
    let share = list.median().as_secs_f64() / reading.median().as_secs_f64();
    let promise = format!("a list of {SCENES} scenes < {LIST_SHARE_MAX} × reading their files");
    section.target(promise, format!("{share:.3} ×"), share < LIST_SHARE_MAX);
    let promise = format!("a list of {SCENES} scenes < {CHARACTERS_MAX} characters");
    section.target(promise, characters.to_string(), *characters < CHARACTERS_MAX);
    section
}

/// Lists a folder, and reads and parses every file in it.
fn read_all(workspace: &Path) -> Measured<Duration> {
    let begun = Instant::now();
    let mut states = Vec::new();
    for entry in fs::read_dir(workspace)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "json") {
            states.push(serde_json::from_slice::<Value>(&fs::read(path)?)?);
        }
    }
    let took = begun.elapsed();
    if states.len() != SCENES {
        return Err(format!("there are {} files", states.len()).into());
    }
    Ok(took)
}

/// Writes a file for each scene, and returns how large one is.
fn write_all(workspace: &Path) -> Measured<u64> {
    fs::create_dir_all(workspace)?;
    let mut bytes = 0;
    for number in 0..SCENES {
        let text = serde_json::to_string_pretty(&state(number))?;
        bytes += text.len();
        fs::write(workspace.join(format!("generation-state-{number:04}.json")), text)?;
    }
    Ok(u64::try_from(bytes / SCENES)?)
}

fn state(number: usize) -> Value {
    let (status, current) = STATUSES[number % STATUSES.len()];
    let scene = format!("{number:04}");
    let minute =
        |at: usize| format!("2025-11-{:02}T{:02}:{at:02}:00Z", number % 28 + 1, number % 24);
    let mut steps = json!({});
    for (at, key) in (1..).zip(STEPS) {
        steps[key] = if at < current || status == "COMPLETED" {
            json!({
                "status": "COMPLETED",
                "started_at": minute(at),
                "completed_at": minute(at + 1),
                "duration_seconds": 60.0,
                "agent_used": "generation-coordinator",
                "artifacts": {"report_path": format!("{WORKSPACE}/artifacts/scene-{scene}/{key}.md")},
            })
        } else {
            let status = match status {
                "IN_PROGRESS" | "FAILED" if at == current => status,
                _ => "PENDING",
            };
            json!({"status": status, "started_at": minute(at)})
        };
    }
    json!({
        "scene_id": scene,
        "session_id": format!("2025-11-01-143045-scene-{scene}"),
        "workflow_status": status,
        "current_step": current,
        "current_phase": "Prose Generation",
        "started_at": minute(0),
        "updated_at": minute(30),
        "steps": steps,
        "generation_attempts": {"current_attempt": 1, "max_attempts": 3, "attempts": []},
        "artifacts": {
            "blueprint_path": format!("acts/act-1/scenes/scene-{scene}-blueprint.md"),
            "draft_path": format!("{WORKSPACE}/artifacts/scene-{scene}/draft.md"),
        },
        "user_interactions": [],
        "user_questions": [],
        "errors": [],
        "metadata": {"initiated_by": "generation-coordinator"},
    })
}
