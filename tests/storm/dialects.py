"""Drivers of the toolsets `generation`, `devworkflow` and `forge`. Each works on runs of its own,
tries to get past their gates, and has a person spoil their files in between."""

import json
import re

from driver import Driver

SCENE_STEPS = (
    "step_1_file_check",
    "step_2_blueprint_validation",
    "step_3_verification_plan",
    "step_4_generation",
    "step_5_fast_compliance",
    "step_6_full_validation",
    "step_7_final_output",
)
GRAPH = "Approval Example Workflow"


def unmarked(text):
    """Returns the text without the markers in it."""
    return re.sub(r"mark\.([a-z0-9]+)\.([0-9]+)\.end", r"copy of \1 \2", text)


class Generation(Driver):
    """Takes scenes through their steps."""

    def __init__(self, *arguments, chapter):
        super().__init__(*arguments)
        self.chapter = chapter
        self.begun = 0
        self.scenes = []

    def step(self):
        dice = self.random.random()
        if not self.scenes or (dice < 0.05 and self.begun < 4900):
            self.begin()
            return
        scene = self.random.choice(self.scenes)
        if dice < 0.4:
            self.log(scene)
        elif dice < 0.72:
            self.work(scene)
        elif dice < 0.84:
            self.attack(scene)
        elif dice < 0.90:
            look = lambda: self.read("get_generation_status", {"scene_id": scene})
            self.spoil(self.file(scene), look)
        else:
            self.repeat()

    def file(self, scene):
        return self.place.work / "workspace" / f"generation-state-{scene}.json"

    def begin(self):
        self.begun += 1
        scene = f"{self.chapter + self.begun:04}"
        marker = self.mark()
        arguments = {"scene_id": scene, "blueprint_path": f"{marker}.md"}
        answer = self.ask("start_generation", arguments, marker, ("RunStarted",))
        if answer is not None and not answer.is_error:
            self.scenes.append(scene)
            del self.scenes[:-4]

    def log(self, scene):
        marker = self.mark()
        if self.random.random() < 0.8:
            arguments = {"scene_id": scene, "question": marker, "answer": "да"}
            self.ask("log_question_answer", arguments, marker, ("EntryRecorded",))
        else:
            arguments = {"scene_id": scene, "step_number": 1, "error_type": "validation"}
            arguments |= {"error_message": marker, "severity": "LOW"}
            self.ask("record_error", arguments, marker, ("EntryRecorded",))

    def status(self, scene):
        answer = self.read("get_generation_status", {"scene_id": scene})
        return answer.value if answer is not None and not answer.is_error else {}

    def work(self, scene):
        status = self.status(scene)
        number = status.get("current_step") or 1
        state = status.get("workflow_status")
        if state == "IN_PROGRESS":
            marker = self.mark()
            arguments = {"scene_id": scene, "step_number": number, "phase_name": marker}
            if number == 3 and self.random.random() < 0.5:
                arguments["awaiting_approval"] = True
            self.ask("start_step", arguments, marker, ("StepStarted",))
            marker = self.mark()
            arguments = {"scene_id": scene, "step_number": number, "duration_seconds": 1}
            arguments["metadata"] = {"mark": marker}
            self.ask("complete_step", arguments, marker, ("StepCompleted",))
            if number == 7:
                self.finish(scene)
        elif state == "FAILED":
            self.ask("resume_generation", {"scene_id": scene, "confirm": True, "force": True})
        elif state in ("COMPLETED", "CANCELLED"):
            self.scenes.remove(scene)

    def finish(self, scene):
        arguments = {"scene_id": scene, "final_scene_path": "s.md", "word_count": 900}
        arguments |= {"validation_report_path": "v.md", "total_duration_seconds": 60}
        self.ask("complete_generation", arguments)

    def attack(self, scene):
        status = self.status(scene)
        if (status.get("current_step") or 0) > 3 or not status:
            return
        self.ledger.count("attacks on gates")
        way = self.random.randrange(7)
        if way == 0:
            self.ask("complete_step", {"scene_id": scene, "step_number": 3, "duration_seconds": 1})
        elif way == 1:
            arguments = {"scene_id": scene, "step_number": 4, "phase_name": "Prose Generation"}
            self.ask("start_step", arguments)
        elif way == 2:
            self.finish(scene)
        elif way == 3:
            self.ask("retry_step", {"scene_id": scene, "step_number": 4})
        elif way == 4:
            arguments = {"scene_id": scene, "step_number": status.get("current_step") or 1}
            self.ask("fail_generation", {**arguments, "failure_reason": "on"})
            self.ask("resume_generation", {"scene_id": scene, "confirm": True, "force": True})
        elif way == 5:
            self.forge_file(scene, scene)
        else:
            # A file of a scene that has no run, and that claims to be behind the gate.
            self.begun += 1
            other = f"{self.chapter + self.begun:04}"
            if other not in self.scenes and self.forge_file(scene, other):
                self.status(other)
                self.scenes.append(other)
                del self.scenes[:-4]

    def forge_file(self, scene, target):
        """Writes a file that says that everything before step 5 is done."""
        try:
            text = self.file(scene).read_text()
            # What is copied into another run is not a write of its own.
            state = json.loads(text if scene == target else unmarked(text))
            state["scene_id"] = target
            state["session_id"] = state["session_id"][:-4] + target
            for key in SCENE_STEPS[:4]:
                state["steps"][key] = {"status": "COMPLETED", "duration_seconds": 1}
            state["current_step"], state["workflow_status"] = 5, "IN_PROGRESS"
        except (OSError, ValueError, KeyError):
            return False
        if not self.overwrite(self.file(target), json.dumps(state, indent=2).encode()):
            return False
        self.ledger.count("forged files")
        self.read("get_generation_status", {"scene_id": target})
        arguments = {"scene_id": target, "step_number": 5, "phase_name": "Fast Compliance"}
        self.ask("start_step", arguments)
        return True


class Development(Driver):
    """Keeps `workflow_state.md`, and walks graphs in sessions."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.sessions = []
        self.item = None

    def step(self):
        dice = self.random.random()
        if dice < 0.25:
            self.log()
        elif dice < 0.45:
            self.go_on()
        elif dice < 0.52:
            self.attack()
        elif dice < 0.58:
            look = lambda: self.read("validate_workflow_files_guidance", {})
            self.spoil(self.place.work / "workflow_state.md", look)
        elif dice < 0.90:
            self.walk()
        else:
            self.repeat()

    def state(self):
        answer = self.read("validate_workflow_files_guidance", {})
        if answer is None:
            return None, None
        return answer.value.get("phase"), answer.value.get("status")

    def log(self):
        phase, status = self.state()
        if phase is None:
            self.begin()
            return
        marker = self.mark()
        arguments = {"phase": phase, "status": status, "log_entry": marker}
        self.ask("update_workflow_state_guidance", arguments, marker, ("EntryRecorded",))

    def begin(self):
        marker = self.mark()
        self.item = f"Add: {marker}"
        answer = self.ask(
            "init_workflow_guidance", {"task_description": self.item}, marker, ("ItemAdded",)
        )
        return answer

    def go_on(self):
        phase, status = self.state()
        item = {"task_description": self.item or "Add: a thing"}
        marker = self.mark()
        if phase in (None, "INIT") and self.random.random() < 0.5 or self.item is None:
            self.begin()
        elif status == "COMPLETED":
            self.ask("iterate_next_item_guidance", {})
            if self.random.random() < 0.5:
                self.begin()
        elif phase in ("INIT", "ANALYZE") and status == "READY":
            self.ask("analyze_phase_guidance", item)
        elif phase == "ANALYZE":
            arguments = {**item, "requirements_summary": marker}
            self.ask("blueprint_phase_guidance", arguments, marker, ("EntryRecorded",))
        elif phase == "BLUEPRINT" and status == "RUNNING":
            arguments = {"phase": "BLUEPRINT", "status": "NEEDS_PLAN_APPROVAL"}
            self.ask("update_workflow_state_guidance", {**arguments, "plan": f"1. {marker}"})
        elif phase == "BLUEPRINT" and self.random.random() < 0.2:
            self.ask("revise_blueprint_guidance", {**item, "feedback": marker})
        elif phase == "CONSTRUCT":
            self.ask("validate_phase_guidance", item)
        elif phase == "VALIDATE":
            self.ask("complete_workflow_guidance", {**item, "summary": marker})

    def attack(self):
        phase, _ = self.state()
        if phase not in ("INIT", "ANALYZE", "BLUEPRINT"):
            return
        self.ledger.count("attacks on gates")
        item = {"task_description": self.item or "Add: a thing"}
        way = self.random.randrange(5)
        if way == 0:
            self.ask("construct_phase_guidance", {**item, "user_approval": True})
        elif way == 1:
            arguments = {"phase": "CONSTRUCT", "status": "RUNNING"}
            self.ask("update_workflow_state_guidance", arguments)
        elif way == 2:
            self.ask("complete_workflow_guidance", {**item, "summary": "done"})
        elif way == 3:
            arguments = {"phase": "VALIDATE", "status": "COMPLETED"}
            self.ask("update_workflow_state_guidance", arguments)
        else:
            path = self.place.work / "workflow_state.md"
            try:
                text = path.read_text()
            except (OSError, ValueError):
                return
            text = text.replace(f"Phase: {phase}", "Phase: CONSTRUCT", 1)
            if not self.overwrite(path, text.encode()):
                return
            self.ledger.count("forged files")
            self.read("validate_workflow_files_guidance", {})
            self.ask("validate_phase_guidance", item)

    def walk(self):
        """Goes on with a session, or begins one."""
        marker = self.mark()
        if not self.sessions or self.random.random() < 0.1:
            arguments = {"task_description": f"Add: {marker}", "action": "start"}
            arguments["context"] = f"workflow: {GRAPH}"
            answer = self.ask("workflow_guidance", arguments, marker, ("RunStarted",))
            if answer is not None and not answer.is_error:
                self.sessions.append(answer.value["session_id"])
                del self.sessions[:-4]
            return
        session = self.random.choice(self.sessions)
        dice = self.random.random()
        if dice < 0.5:
            updates = json.dumps({"log_entry": marker})
            arguments = {"operation": "update", "session_id": session, "updates": updates}
            self.ask("workflow_state", arguments, marker, ("EntryRecorded",))
            return
        answer = self.read("workflow_state", {"operation": "get", "session_id": session})
        if answer is None or answer.is_error:
            return
        text = answer.text.replace("\\n", "\n")
        node = next((it for it in NODES if f"**Current Node:** {it}\n" in text), None)
        if node is None or node == NODES[-1]:
            self.sessions.remove(session)
            return
        if dice < 0.62:
            self.attack_session(session, node)
        elif dice < 0.72:
            look = lambda: self.read("workflow_state", {"operation": "get", "session_id": session})
            files = list((self.place.work / ".accordo/sessions").glob(f"{session}*.json"))
            if files:
                self.spoil(files[0], look)
        else:
            following = NODES[NODES.index(node) + 1]
            evidence = {it: marker for it in CRITERIA[node]}
            context = json.dumps({"choose": following, "criteria_evidence": evidence})
            arguments = {"task_description": "Add: on", "session_id": session, "context": context}
            self.ask("workflow_guidance", arguments)

    def attack_session(self, session, node):
        behind = [it for it in NODES[2:] if NODES.index(it) > NODES.index(node) + 1]
        if not behind:
            return
        self.ledger.count("attacks on gates")
        way = self.random.randrange(4)
        target = self.random.choice(behind)
        arguments = {"operation": "update", "session_id": session}
        if way == 0:
            updates = json.dumps({"node": target, "force": True})
            self.ask("workflow_state", {**arguments, "updates": updates})
        elif way == 1:
            updates = json.dumps({"status": "COMPLETED"})
            self.ask("workflow_state", {**arguments, "updates": updates})
        elif way == 2:
            evidence = dict.fromkeys(CRITERIA[node], "yes")
            context = {"choose": target, "user_approval": True, "criteria_evidence": evidence}
            arguments = {"task_description": "Add: on", "session_id": session}
            self.ask("workflow_guidance", {**arguments, "context": json.dumps(context)})
        else:
            for path in (self.place.work / ".accordo/sessions").glob(f"{session}*.json"):
                try:
                    state = json.loads(path.read_bytes())
                    state["current_node"] = target
                except (OSError, ValueError):
                    continue
                if not self.overwrite(path, json.dumps(state, indent=2).encode()):
                    continue
                self.ledger.count("forged files")
                self.read("workflow_state", {"operation": "get", "session_id": session})


NODES = (
    "analyze",
    "plan_with_approval",
    "implement",
    "review_for_deployment",
    "deploy",
    "complete",
)
CRITERIA = {
    "analyze": ("purpose", "affected", "risks"),
    "plan_with_approval": ("steps", "way_back", "shown"),
    "implement": ("as_planned", "checked", "recorded"),
    "review_for_deployment": ("tests", "difference", "rollback", "moment"),
    "deploy": ("released", "watched", "healthy"),
    "complete": (),
}


class Forge(Driver):
    """Takes pipelines through their phases, by the state tools and by asking for actions."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.begun = 0
        # Workspace, and whether it is worked on by `pipeline_next_action`.
        self.specs = []

    def step(self):
        dice = self.random.random()
        if not self.specs or dice < 0.04:
            self.begin()
            return
        spec, is_guided = self.random.choice(self.specs)
        if dice < 0.38:
            marker = self.mark()
            arguments = {"workspace": spec, "phase": "phase-1", "tokens": self.number}
            arguments |= {"duration_ms": 7, "model": marker}
            self.ask("phase_log", arguments, marker, ("EntryRecorded",))
        elif dice < 0.62:
            (self.act if is_guided else self.work)(spec)
        elif dice < 0.74:
            self.attack(spec)
        elif dice < 0.80:
            self.set(spec)
        elif dice < 0.88:
            look = lambda: self.read("get", {"workspace": spec, "field": "currentPhase"})
            self.spoil(self.place.work / spec / "state.json", look)
        else:
            self.repeat()

    def begin(self):
        self.begun += 1
        marker = self.mark()
        is_guided = self.random.random() < 0.4
        folder = self.place.work / ".specs" / f"2026{self.begun:04}-{self.name}"
        if is_guided:
            arguments = {"workspace": str(folder), "task_text": f"Add {marker}"}
            arguments["flags"] = {"skip_pr": True}
            arguments["user_confirmation"] = {"effort": "M", "use_current_branch": True}
            answer = self.ask("pipeline_init_with_context", arguments)
        else:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError:
                return
            arguments = {"workspace": str(folder), "spec_name": marker, "validated": True}
            answer = self.ask("init", arguments, marker, ("RunStarted",))
        if answer is not None and not answer.is_error:
            self.specs.append((str(folder), is_guided))
            del self.specs[:-4]

    def phase(self, spec):
        answer = self.read("get", {"workspace": spec, "field": "currentPhase"})
        if answer is None or answer.is_error:
            return None
        return str(answer.value.get("result", "")).strip('"').split("\n")[0]

    def leave_files(self, spec):
        folder = self.place.work / spec
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in ("analysis", "investigation", "design", "tasks", "review-design", "review-tasks"):
                text = f"# {name}\n\n## Part\n\nAPPROVE {self.mark()}\n"
                (folder / f"{name}.md").write_text(text)
        except OSError:
            pass

    def work(self, spec):
        phase = self.phase(spec)
        if not phase:
            return
        self.leave_files(spec)
        if phase.startswith("checkpoint"):
            self.ask("checkpoint", {"workspace": spec, "phase": phase})
            return
        self.ask("phase_start", {"workspace": spec, "phase": phase})
        self.ask("phase_complete", {"workspace": spec, "phase": phase})

    def act(self, spec):
        answer = self.read("pipeline_next_action", {"workspace": spec})
        if answer is None or answer.is_error:
            return
        action = answer.value.get("action_id")
        self.leave_files(spec)
        marker = self.mark()
        arguments = {"workspace": spec, "previous_action_complete": True}
        arguments |= {"previous_tokens": self.number, "previous_model": marker}
        if action and self.random.random() < 0.7:
            arguments["action_id"] = action
        self.ask("pipeline_next_action", arguments)

    def set(self, spec):
        tool, arguments = self.random.choice(
            (
                ("set_effort", {"effort": "M"}),
                ("revision_bump", {"rev_type": "design"}),
                ("inline_revision_bump", {"rev_type": "tasks"}),
                ("set_skip_pr", {}),
                ("set_debug", {}),
                ("set_revision_pending", {"checkpoint": "checkpoint-a"}),
                ("clear_revision_pending", {"checkpoint": "checkpoint-a"}),
            )
        )
        self.ask(tool, {"workspace": spec, **arguments})

    def attack(self, spec):
        phase = self.phase(spec)
        if phase not in ("phase-1", "phase-2", "phase-3", "phase-3b", "checkpoint-a"):
            return
        self.ledger.count("attacks on gates")
        way = self.random.randrange(7)
        base = {"workspace": spec}
        if way == 0:
            self.ask("skip_phase", {**base, "phase": "checkpoint-a"})
        elif way == 1:
            self.ask("set_auto_approve", base)
            self.leave_files(spec)
            self.ask("phase_complete", {**base, "phase": "checkpoint-a"})
        elif way == 2:
            self.ask("phase_start", {**base, "phase": "phase-5"})
        elif way == 3:
            self.ask("checkpoint", {**base, "phase": "checkpoint-b"})
        elif way == 4:
            self.ask("task_init", {**base, "tasks": {"1": {"title": "A"}}})
        elif way == 5:
            self.ask("pipeline_next_action", {**base, "user_response": "proceed"})
        else:
            path = self.place.work / spec / "state.json"
            target = path
            if self.random.random() < 0.5:
                self.begun += 1
                target = path.parent.parent / f"2026{self.begun:04}-{self.name}" / "state.json"
            try:
                text = path.read_text()
                state = json.loads(text if path == target else unmarked(text))
                state["currentPhase"], state["currentPhaseStatus"] = "phase-5", "in_progress"
                state["completedPhases"] = ["setup", "phase-1", "phase-2", "phase-3", "phase-3b",
                                            "checkpoint-a", "phase-4", "phase-4b", "checkpoint-b"]
                state["workspace"] = str(target.parent)
            except (OSError, ValueError):
                return
            if not self.overwrite(target, json.dumps(state, indent=2).encode()):
                return
            self.ledger.count("forged files")
            self.read("get", {"workspace": str(target.parent), "field": "currentPhase"})
            self.ask("phase_complete", {"workspace": str(target.parent), "phase": "phase-5"})


class Reader(Driver):
    """Reads promised files all the while. None is ever torn, but by a person's hand."""

    think_s = (0.002, 0.02)

    def step(self):
        work = self.place.work
        files = list((work / "workspace").glob("generation-state-*.json"))
        files += list((work / ".specs").glob("*/state.json"))
        files += list((work / ".accordo/sessions").glob("*.json"))
        for path in self.random.sample(files, min(len(files), 6)):
            hands = self.ledger.hands[path]
            try:
                data = path.read_bytes()
            except OSError:
                continue
            self.ledger.count("reads of promised files")
            try:
                json.loads(data)
            except ValueError:
                # Somebody spoiled it, and nobody has looked at it since.
                self.torn(path, data, hands)

    def torn(self, path, data, hands):
        """A file that cannot be read must be what a person left there."""
        with self.ledger.lock:
            is_ours = data in self.ledger.strokes[path]
            is_in_hand = self.ledger.hands[path] != hands or path in self.ledger.in_hand
        if not is_ours and not is_in_hand:
            self.ledger.violate("a torn promised file", f"{path}: {data[-80:]!r}")
