"""Drivers of the toolset `core`: guarded runs with notes, attacks on their gate, and two rivals who
want the same steps."""

import json
import time

from driver import Driver

RUNS_MAX = 4


class Core(Driver):
    """Works on runs of its own, and notes on a run that all share."""

    has_request_argument = True

    def __init__(self, *arguments, shared):
        super().__init__(*arguments)
        self.runs = []
        self.shared = shared

    def step(self):
        dice = self.random.random()
        if not self.runs or dice < 0.06:
            self.begin()
        elif dice < 0.48:
            self.note()
        elif dice < 0.74:
            self.advance()
        elif dice < 0.90:
            self.attack()
        else:
            self.repeat()

    def begin(self):
        marker = self.mark()
        arguments = {"workflow_name": "GUARDED", "key": marker, "context": {"about": "x"}}
        if self.random.random() < 0.3:
            arguments["context"] = {"approved": True, "plan": "done", "skip": ["plan"]}
        answer = self.ask("start_workflow", arguments, marker, ("RunStarted",))
        if answer is not None and not answer.is_error:
            self.runs.append(answer.value["instance_id"])
            del self.runs[:-RUNS_MAX]

    def note(self):
        marker = self.mark()
        run = self.shared[0] if self.shared and self.random.random() < 0.3 else self.pick()
        kind = self.random.choice(("note", "note", "error"))
        arguments = {"instance_id": run, "type": kind, "text": marker}
        if self.random.random() < 0.2:
            arguments["text"] += " " + "words " * self.random.randrange(2000)
        self.ask("record_entry", arguments, marker, ("EntryRecorded",))

    def pick(self):
        return self.random.choice(self.runs)

    def status(self, run):
        answer = self.read("get_workflow_status", {"instance_id": run})
        if answer is None or answer.is_error:
            return None, None
        return answer.value.get("status"), answer.value.get("current_step_name")

    def report(self, run, step, status, **more):
        marker = self.mark()
        kinds = ("StepCompleted",) if status == "success" else ("StepFailed",)
        report = {"step_id": step, "status": status, "message": marker}
        arguments = {"instance_id": run, "report": report, **more}
        return self.ask("advance_workflow", arguments, marker, kinds)

    def advance(self):
        run = self.pick()
        status, step = self.status(run)
        if status == "RUNNING":
            self.report(run, step, "success")
        elif status in ("FAILED", "CANCELLED"):
            self.ask("resume_workflow", {"instance_id": run, "reopen": True})
        elif status == "COMPLETED":
            self.runs.remove(run)

    def attack(self):
        """Tries to get past the gate."""
        run = self.pick()
        status, step = self.status(run)
        if step not in ("draft", "plan"):
            return
        self.ledger.count("attacks on gates")
        way = self.random.randrange(9)
        behind = self.random.choice(("ship", "close"))
        if way == 0:
            self.report(run, step, "failure", next_step_name=behind)
        elif way == 1:
            self.report(run, behind, "success")
        elif way == 2:
            self.report(run, step, "success", next_step_name=behind)
        elif way == 3:
            arguments = {"instance_id": run, "answer": "approve", "person": "Ana"}
            self.ask("answer_gate", arguments)
        elif way == 4:
            report = {"step_id": behind, "status": "success", "message": "on"}
            arguments = {"instance_id": run, "assumed_current_step_name": behind, "report": report}
            self.ask("resume_workflow", {**arguments, "force": True})
        elif way == 5:
            answer = self.ask("fork_run", {"instance_id": run, "from_step": behind})
        elif way == 6:
            answer = self.ask("fork_run", {"instance_id": run, "from_step": step})
            if answer is not None and not answer.is_error:
                self.runs.append(answer.value["instance_id"])
                del self.runs[:-RUNS_MAX]
        elif way == 7:
            # An agent with a shell, and without the person's token.
            self.ledger.count("attacks on gates by the command line")
            code, _, text = self.place.ask("gate", "approve", run, "--yes")
            if code == 0:
                self.ledger.violate("`gate approve` without a person", f"{run}: {text}")
        else:
            answer = self.ask("cancel_workflow", {"instance_id": run, "reason": "skip the gate"})
            arguments = {"instance_id": run, "reopen": True, "next_step_name": behind}
            self.ask("resume_workflow", arguments)


class Rival(Driver):
    """Claims the steps of a run that another wants too, and reports on what it holds."""

    has_request_argument = True
    think_s = (0.01, 0.2)

    def __init__(self, *arguments, shared):
        super().__init__(*arguments)
        self.shared = shared

    def step(self):
        if not self.shared or self.random.random() < 0.05:
            if self.name.endswith("1") or not self.shared:
                self.begin()
            return
        run = self.shared[0]
        seconds = self.random.choice((1, 2, 4))
        arguments = {"instance_id": run, "holder": self.name, "seconds": seconds}
        before = time.monotonic()
        answer = self.ask("claim_step", arguments)
        if answer is None or answer.is_error or "lease" not in answer.value:
            return
        lease = answer.value["lease"]
        hold = [run, lease["step_name"], lease["number"], self.name, before, time.monotonic(), seconds]
        with self.ledger.lock:
            self.ledger.holds.append(hold)
        time.sleep(self.random.uniform(0, 1.5))
        if self.random.random() < 0.3:
            return  # It forgets what it holds.
        marker = self.mark()
        report = {"step_id": lease["step_name"], "status": "success", "message": marker}
        arguments = {"instance_id": run, "report": report}
        arguments |= {"holder": self.name, "lease": lease["number"]}
        self.ask("advance_workflow", arguments, marker, ("StepCompleted",))

    def begin(self):
        marker = self.mark()
        arguments = {"workflow_name": "RELAY", "key": marker}
        answer = self.ask("start_workflow", arguments, marker, ("RunStarted",))
        if answer is not None and not answer.is_error:
            self.shared[:] = [answer.value["instance_id"]]


class Person(Driver):
    """Approves some gates with a token, and never those of a run whose id ends in an odd digit."""

    think_s = (1.0, 2.5)

    def step(self):
        code, value, text = self.place.ask("gate", "list", is_person=True)
        if code:
            self.judge_cli("gate list", code, text)
            return
        gates = [it for it in value["gates"] if may_be_approved(it)]
        for it in self.random.sample(gates, min(len(gates), 3)):
            run, step = instance(it), it["gate"]["step"]
            with self.ledger.lock:
                self.ledger.approvals[run, step] += 1
            code, _, text = self.place.ask("gate", "approve", run, "--yes", is_person=True)
            if code:
                self.judge_cli(f"gate approve {run}", code, text)
                continue
            self.ledger.count("gates approved by the person")
            with self.ledger.lock:
                self.ledger.approvals_acked[run, step] += 1

    def judge_cli(self, command, code, text):
        self.ledger.count(f"command line: exit {code}")
        try:
            error = json.loads(text)["error"]["code"]
        except (ValueError, KeyError, TypeError):
            error = None
        disk, lock = (time.monotonic() < self.ledger.trouble_until.get(it, 0) for it in ("disk", "lock"))
        is_fault = code not in (0, 1)
        if "database is locked" in text or code == 70 or (is_fault and not (disk or lock)):
            self.ledger.violate(f"`{command}` failed with exit {code} ({error})", text[:500])


def instance(gate):
    run = gate["run"]
    return run["instance_id"] if isinstance(run, dict) else gate.get("instance_id", run)


def may_be_approved(gate):
    return int(str(instance(gate))[-1], 36) % 2 == 0
