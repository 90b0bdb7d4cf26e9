//! Our own JSON: what `--json` prints of runs, events, gates and workflows. A promise to scripts.

use definition::{Decider, Workflow};
use engine::{Action, Lease, OpenGate, Recorded, RunState, Shown, StepState, next};
use runtime::{Hit, Listed, Row, View};
use serde_json::{Value, json};

/// A run in a list.
pub(crate) fn row(row: &Row) -> Value {
    let it = &row.summary;
    let (done, total) = it.progress();
    json!({
        "run": row.run.short(),
        "instance_id": row.run.to_string(),
        "workflow": it.workflow,
        "key": it.key,
        "status": it.status,
        "step": it.step,
        "title": it.title,
        "steps": {"done": done, "total": total},
        "errors": it.errors,
        "root": it.root,
        "seq": row.length,
        "started_at": it.started_at,
        "updated_at": it.updated_at,
        "ended_at": it.ended_at,
    })
}

/// A run with everything that is known of it.
pub(crate) fn run(view: &View) -> Value {
    let View { workflow, state, leases, .. } = view;
    json!({
        "run": state.run.short(),
        "instance_id": state.run.to_string(),
        "workflow": workflow.name.as_str(),
        "definition": workflow.digest.as_str(),
        "decider": decider(state.decider()),
        "key": state.key(),
        "flow": state.flow(),
        "root": state.root(),
        "status": state.standing.as_str(),
        "reason": reason(state),
        "step": state.current.as_ref().map(ToString::to_string),
        "title": state.title(),
        "seq": state.length,
        "started_at": state.started_at,
        "updated_at": state.updated_at,
        "ended_at": state.ended_at,
        "forked_from": state.forked_from.map(|(run, seq)| json!({"run": run.short(), "seq": seq})),
        "context": state.context,
        "vars": state.vars,
        "steps": steps(workflow, state),
        "next": action(workflow, state),
        "gate": state.standing.open_gate().map(|it| gate(it, None)),
        "artifacts": state.artifacts.values().map(|it| json!({
            "path": it.artifact.path,
            "sha256": it.artifact.sha256.as_str(),
            "size": it.artifact.size,
            "step": it.step.as_str(),
        })).collect::<Vec<_>>(),
        "leases": leases.iter().map(|it| lease(&view.shown(it))).collect::<Vec<_>>(),
    })
}

fn steps(workflow: &Workflow, state: &RunState) -> Vec<Value> {
    let step = |name: &str, it: Option<&StepState>| {
        let effort = it.map(|it| &it.effort);
        json!({
            "step": name,
            "progress": effort.map_or("idle", |it| it.progress.as_str()),
            "attempts": effort.map_or(0, |it| it.attempts),
            "visits": it.map_or(0, |it| it.visits),
            "failure": effort.and_then(|it| it.failure.as_ref()),
            "feedback": effort.and_then(|it| it.feedback.as_ref()),
            "message": effort.and_then(|it| it.report.as_ref()?.message.as_ref()),
            "parts": it.map(|it| it.parts.iter().map(|(id, effort)| json!({
                "part": id.as_str(),
                "progress": effort.progress.as_str(),
                "attempts": effort.attempts,
            })).collect::<Vec<_>>()).unwrap_or_default(),
        })
    };
    workflow.work_steps().map(|it| step(it.name.as_str(), state.step(&it.name))).collect()
}

fn action(workflow: &Workflow, state: &RunState) -> Value {
    match next(workflow, state) {
        Action::Work { step, parts } => json!({
            "action": "work",
            "step": step.name.as_str(),
            "parts": parts.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(),
            "instructions": workflow.instructions(step, &state.context),
        }),
        Action::Choose { after, choices } => json!({
            "action": "choose",
            "after": after.name.as_str(),
            "choices": choices.iter().map(engine::target_name).collect::<Vec<_>>(),
        }),
        Action::Chore { chore } => json!({
            "action": "chore",
            "chore": chore.name,
            "what": chore.deed.describe(),
            "failure": chore.failure,
        }),
        Action::Wait { gate } => json!({"action": "wait", "step": gate.step.as_str()}),
        Action::Done => json!({"action": "done"}),
        Action::Stopped { reason } => json!({"action": "stopped", "reason": reason}),
    }
}

/// Why a run ended as it did.
pub(crate) fn reason(state: &RunState) -> Option<&str> {
    use engine::Standing;
    match &state.standing {
        Standing::Failed { reason, .. } | Standing::Cancelled { reason, .. } => Some(reason),
        Standing::New | Standing::Running | Standing::Waiting(_) | Standing::Completed => None,
    }
}

/// A gate that waits; `shown` is what it shows now.
pub(crate) fn gate(gate: &OpenGate, shown: Option<&Shown>) -> Value {
    let artifacts = shown.map_or(&gate.artifacts, |it| &it.artifacts);
    json!({
        "step": gate.step.as_str(),
        "part": gate.part.as_ref().map(|it| it.as_str()),
        "why": gate.why,
        "ask": gate.ask,
        "options": gate.options.iter().map(|it| json!({
            "answer": it.name,
            "effect": it.effect,
        })).collect::<Vec<_>>(),
        "answers": gate.answers,
        "opened_at": gate.opened_at,
        "digest": shown.map_or(&gate.digest, |it| &it.digest).as_str(),
        "is_changed": shown.is_some_and(|it| it.digest != gate.digest),
        "artifacts": artifacts.iter().map(|it| json!({
            "path": it.path,
            "sha256": it.sha256.as_str(),
            "size": it.size,
        })).collect::<Vec<_>>(),
    })
}

fn lease(lease: &Lease) -> Value {
    json!({
        "step": lease.step.as_str(),
        "part": lease.part.as_ref().map(|it| it.as_str()),
        "holder": lease.holder,
        "generation": lease.generation,
        "until": lease.until,
    })
}

/// An event in its place.
pub(crate) fn event(recorded: &Recorded) -> Value {
    let body: Value = serde_json::from_str(&recorded.event.encode()).unwrap_or_default();
    json!({
        "seq": recorded.seq,
        "at": recorded.at,
        "by": recorded.by,
        "kind": recorded.event.kind(),
        "summary": recorded.event.describe(),
        "event": body,
    })
}

/// Something that was found.
pub(crate) fn hit(hit: &Hit) -> Value {
    json!({
        "run": hit.run.short(),
        "seq": hit.seq,
        "kind": hit.kind,
        "at": hit.at,
        "snippet": hit.snippet,
        "score": hit.score,
    })
}

/// A workflow in a list.
pub(crate) fn workflow(listed: &Listed) -> Value {
    let it = &listed.workflow;
    json!({
        "name": it.name.as_str(),
        "title": it.title,
        "goal": it.goal,
        "version": it.version,
        "decider": it.decider.map(decider),
        "digest": it.digest.as_str(),
        "origin": listed.origin,
        "steps": it.work_steps().map(|it| it.name.as_str()).collect::<Vec<_>>(),
    })
}

/// The stable name of a decider.
pub(crate) fn decider(decider: Decider) -> &'static str {
    match decider {
        Decider::Declared => "declared",
        Decider::Client => "client",
        Decider::Ai => "ai",
    }
}
