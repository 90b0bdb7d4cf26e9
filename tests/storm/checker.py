"""The independent checker: reads a copy of the database with Python's own sqlite3, and compares it
with what the drivers were told, with the promised files and with the command line."""

import collections
import datetime
import json
import pathlib
import re
import shutil
import sqlite3
import time
import uuid

# For each workflow: a step with a gate, and the steps that a run reaches only behind it.
GUARDS = {
    "GUARDED": {"plan": {"ship", "close"}},
    "scene-generation": {
        "step_3_verification_plan": {
            "step_4_generation",
            "step_5_fast_compliance",
            "step_6_full_validation",
            "step_7_final_output",
        }
    },
    "dev-workflow": {"BLUEPRINT": {"CONSTRUCT", "VALIDATE"}},
    "Approval Example Workflow": {
        "plan_with_approval": {"implement", "review_for_deployment", "deploy", "complete"},
        "review_for_deployment": {"deploy", "complete"},
    },
    "forge": {
        "checkpoint-a": {
            "phase-4", "phase-4b", "checkpoint-b", "phase-5", "phase-6", "phase-7",
            "final-verification", "pr-creation", "final-summary", "post-to-source", "final-commit",
        },
        "checkpoint-b": {
            "phase-5", "phase-6", "phase-7", "final-verification", "pr-creation",
            "final-summary", "post-to-source", "final-commit",
        },
    },
}
# How long files may be owed while nothing goes wrong.
OWED_PATIENCE_S = 15
MARKER = re.compile(r"mark\.[a-z]+[0-9]*\.[0-9]+\.end")
COLUMNS = "pos, run, seq, v, kind, at, actor, body"
Event = collections.namedtuple("Event", "pos run seq v kind at actor body steady")


def copy_database(source, folder):
    """Copies the database with its log and its mark. Returns the copy."""
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(20):
        before = stamp(source)
        for suffix in ("", "-wal", "-mark"):
            path = pathlib.Path(f"{source}{suffix}")
            target = folder / path.name
            target.unlink(missing_ok=True)
            if path.exists():
                shutil.copyfile(path, target)
        if stamp(source) == before:
            break
        time.sleep(0.2)
    return folder / source.name


def stamp(source):
    found = []
    for suffix in ("", "-wal"):
        path = pathlib.Path(f"{source}{suffix}")
        if path.exists():
            it = path.stat()
            found.append((it.st_size, it.st_mtime_ns))
    return found


def read_events(database):
    """Returns all events in the order of their commits."""
    connection = sqlite3.connect(f"file:{database}?mode=rw", uri=True)
    try:
        connection.text_factory = bytes
        return connection.execute(f"SELECT {COLUMNS}, steady FROM events ORDER BY pos").fetchall()
    finally:
        connection.close()


class Checker:
    """One look at everything."""

    def __init__(self, place, ledger, scratch, touch, restart):
        # Has a server look at the file of a run.
        self.touch = touch
        # Starts all servers again.
        self.restart = restart
        self.place = place
        self.ledger = ledger
        self.scratch = scratch
        self.rounds = 0
        self.is_owed_told = False

    def check(self, is_last):
        """Compares everything. The drivers rest meanwhile."""
        self.load()
        if any(it["written"] < it["owed"] for it in self.files):
            self.wait_for_owed()
        self.judge()
        self.check_audit()
        self.check_files(is_last)
        with self.ledger.lock:
            self.ledger.counts["events"] = len(self.events)
            self.ledger.counts["runs"] = len(self.runs)

    def load(self):
        """Reads a copy of the database."""
        self.rounds += 1
        copy = copy_database(self.place.database, self.scratch / f"check-{self.rounds}")
        connection = sqlite3.connect(f"file:{copy}?mode=rw", uri=True)
        connection.row_factory = sqlite3.Row
        try:
            rows = connection.execute(f"SELECT {COLUMNS}, steady FROM events ORDER BY pos")
            self.events = [Event(**dict(it)) for it in rows]
            self.runs = [dict(it) for it in connection.execute("SELECT * FROM runs")]
            self.files = [dict(it) for it in connection.execute("SELECT * FROM files")]
            self.requests = [dict(it) for it in connection.execute("SELECT * FROM requests ORDER BY id")]
            found = connection.execute("PRAGMA integrity_check").fetchone()[0]
        finally:
            connection.close()
        shutil.rmtree(copy.parent, ignore_errors=True)
        if found != "ok":
            self.ledger.violate("SQLite's own check found something", found[:300])

    def wait_for_owed(self):
        """Files that a full disk or a kill held up are written soon."""
        began = time.monotonic()
        while any(it["written"] < it["owed"] for it in self.files):
            if time.monotonic() - began > OWED_PATIENCE_S:
                late = [it["path"] for it in self.files if it["written"] < it["owed"]]
                what = f"OWED: files are still not written after {OWED_PATIENCE_S} s of rest"
                if not self.is_owed_told:
                    self.ledger.violate(what, f"{len(late)} files, such as {late[:5]}")
                    self.is_owed_told = True
                self.ledger.count("files owed for too long", len(late))
                self.restart()
                return
            time.sleep(1)
            self.load()
        self.ledger.count("rounds that waited for files that were owed")

    def judge(self):
        """Holds what was read against what the drivers know."""
        self.by_run = collections.defaultdict(list)
        for event in self.events:
            self.by_run[event.run].append(event)
        self.check_sequences()
        self.check_markers()
        self.check_requests()
        self.check_gates()
        self.check_answers()
        self.check_leases()
        self.check_damages()

    def name(self, run):
        return str(uuid.UUID(bytes=run))

    def check_sequences(self):
        for row in self.runs:
            events = self.by_run[row["run"]]
            numbers = [it.seq for it in events]
            where = f"run {self.name(row['run'])} ({row['workflow']})"
            if numbers != list(range(1, len(numbers) + 1)):
                self.ledger.violate("a log has gaps or is out of order", f"{where}: {numbers[:50]}")
            if row["length"] != len(numbers):
                what = "a run's row says another length than its log has"
                self.ledger.violate(what, f"{where}: {row['length']} and {len(numbers)}")
            for event in events:
                try:
                    is_fine = json.loads(event.body)["kind"] == event.kind
                except (ValueError, KeyError, TypeError):
                    is_fine = False
                if not is_fine:
                    self.ledger.violate("an event cannot be read", f"{where}, {event.seq}")
        known = {it["run"] for it in self.runs}
        for run in self.by_run:
            if run not in known:
                self.ledger.violate("events of a run that there is not", self.name(run))

    def copied(self, run):
        """Returns how many of a run's events are copies of another run's."""
        for event in self.by_run[run]:
            if event.kind == "RunForked":
                return event.seq
        return 0

    def check_markers(self):
        found = collections.Counter()
        anywhere = collections.Counter()
        for run, events in self.by_run.items():
            copied = self.copied(run)
            for event in events[copied:]:
                for marker in set(MARKER.findall(event.body)):
                    found[marker, event.kind] += 1
                    anywhere[marker] += 1
        lost = doubled = 0
        for call in self.ledger.taken():
            if call.marker is None or not call.kinds:
                continue
            number = sum(found[call.marker, kind] for kind in call.kinds)
            if call.state == "done" and number == 0:
                self.ledger.violate("LOST: an acknowledged write is not in the log", describe(call))
                lost += 1
            elif number > 1:
                self.ledger.violate(f"DOUBLED: {number} events of one write", describe(call))
                doubled += 1
            elif call.state in ("refused", "unkept") and number:
                self.ledger.violate("a refused write is in the log", describe(call))
        with self.ledger.lock:
            counts = self.ledger.counts
            marked = [it for it in self.ledger.calls if it.kinds and it.state == "done"]
            counts["marked writes acknowledged"] = len(marked)
            counts["marked writes lost"] += lost
            counts["marked writes doubled"] += doubled

    def check_requests(self):
        """No request id has two contents, and no two of its commits say the same."""
        by_request = collections.defaultdict(list)
        for row in self.requests:
            by_request[row["project"], row["request"]].append(row)
        for (_, request), rows in by_request.items():
            if len({it["fingerprint"] for it in rows}) > 1:
                self.ledger.violate("a request id with two contents", request)
            if len(rows) < 2:
                continue
            seen = set()
            for row in rows:
                events = self.by_run[row["run"]][row["first"] - 1 : row["last"]]
                bodies = (row["run"], tuple((it.kind, it.body) for it in events))
                if events and bodies in seen:
                    kinds = [it.kind for it in events]
                    self.ledger.violate("DOUBLED: a request was done twice", f"{request}: {kinds}")
                seen.add(bodies)

    def check_gates(self):
        """No run is past a gate that was not answered by a person."""
        for row in self.runs:
            guards = GUARDS.get(row["workflow"])
            if not guards:
                continue
            events = self.by_run[row["run"]]
            owed = set(guards)
            where = f"run {self.name(row['run'])} ({row['workflow']}, key {row['key']})"
            for event in events:
                body = json.loads(event.body)
                step = body.get("step")
                if event.kind in ("StepEntered", "StepReopened") and step in guards:
                    owed.add(step)
                elif event.kind == "GateAnswered" and step in guards:
                    if body["how"] != "verified":
                        what = "a gate took an answer that no person gave"
                        self.ledger.violate(what, f"{where}, {event.seq}: {event.body}")
                    elif body["answer"] in ("approve", "proceed"):
                        owed.discard(step)
                elif event.kind == "GateWaived":
                    self.ledger.violate("a gate was waived", f"{where}, {event.seq}: {event.body}")
                elif event.kind in ("StepStarted", "StepCompleted", "StepReported"):
                    for gate in owed:
                        if step in guards[gate]:
                            what = f"GATE PASSED: `{event.kind}` of `{step}` while `{gate}` is owed"
                            self.ledger.violate(what, f"{where}, seq {event.seq}")
                elif event.kind == "RunCompleted" and owed:
                    what = f"GATE PASSED: completed while {sorted(owed)} is owed"
                    self.ledger.violate(what, f"{where}, seq {event.seq}: {event.body[:300]}")
            past = [it for it in owed if row["step"] in guards[it]]
            if past and row["status"] in ("running", "completed"):
                what = f"GATE PASSED: `{row['status']}` at `{row['step']}` while {past} is owed"
                self.ledger.violate(what, f"{where}, {len(events)} events")

    def check_answers(self):
        """Every person's answer in a log was given by the storm's person, and all that were are there."""
        given = collections.Counter()
        for run, events in self.by_run.items():
            for event in events[self.copied(run) :]:
                if event.kind == "GateAnswered":
                    body = json.loads(event.body)
                    if body["how"] == "verified":
                        given[self.name(run), body["step"]] += 1
        for key, number in given.items():
            if number > self.ledger.approvals[key]:
                self.ledger.violate("an answer that the person did not give", f"{key}: {number}")
        for key, number in self.ledger.approvals_acked.items():
            if given[key] < number:
                self.ledger.violate("LOST: an answer of the person", f"{key}: {number}")

    def check_leases(self):
        """One holder for each step at a time: by the log, and as the rivals saw it."""
        for run, events in self.by_run.items():
            held, newest = {}, 0
            for event in events:
                body = json.loads(event.body)
                step = body.get("step")
                if event.kind == "LeaseTaken":
                    self.check_lease(run, event, body, held, newest)
                    newest = body["generation"]
                    until = parse_time(body["until"]) - event.at + (event.steady or event.at)
                    held[step] = (body["holder"], until)
                elif event.kind in ("LeaseReleased", "StepCompleted", "StepFailed", "StepSkipped",
                                    "StepReopened", "RunReopened", "RunCancelled", "RunFailed"):
                    if step is None:
                        held.clear()
                    held.pop(step, None)
        self.check_holds()

    def check_lease(self, run, event, body, held, newest):
        where = f"run {self.name(run)}, seq {event.seq}: {event.body}"
        if body["generation"] <= newest:
            self.ledger.violate("a fencing number did not grow", where)
        holder, until = held.get(body["step"], (None, 0))
        steady = event.steady or event.at
        if holder not in (None, body["holder"]) and steady < until:
            what = f"TWO HOLDERS: `{holder}` had {(until - steady) / 1e6:.3f} s left"
            self.ledger.violate(what, where)

    def check_holds(self):
        with self.ledger.lock:
            # The numbers tell the order in which the server gave the leases: a call may take long.
            holds = sorted(self.ledger.holds, key=lambda it: (it[0], it[2]))
            self.ledger.counts["leases granted"] = len(holds)
        ended = {}
        for call in self.ledger.taken():
            if call.tool == "advance_workflow" and call.state == "done" and call.first_sent:
                key = (call.arguments["instance_id"], call.arguments["report"]["step_id"])
                ended[key] = min(call.first_sent, ended.get(key, call.first_sent))
        for one, two in zip(holds, holds[1:], strict=False):
            run, step, _, holder, sent, _, seconds = one
            if (run, step) != tuple(two[:2]) or holder == two[3]:
                continue
            ends = min(sent + seconds, ended.get((run, step), float("inf")))
            if two[5] < ends:
                self.ledger.violate("TWO HOLDERS, as the rivals saw it", f"{one} {two}")

    def check_damages(self):
        """What a person spoiled is kept, told of and in the log; nothing was healed silently."""
        replaced = collections.Counter()
        for event in self.events:
            if event.kind == "FileReplaced":
                replaced[json.loads(event.body)["path"]] += 1
        with self.ledger.lock:
            damages = list(self.ledger.damages)
        healed = collections.Counter()
        hows = collections.defaultdict(list)
        counts = collections.Counter()
        for it in damages:
            kind = "workflow_state.md" if it.path.suffix == ".md" else "JSON"
            counts["spoiled files"] += 1
            counts["spoiled files told of at once"] += it.is_told
            counts[f"spoiled files left as they are ({kind})"] += it.is_left
            if it.is_left and kind == "JSON" and not it.is_told and "disk" not in it.said:
                what = f"a spoiled file ({it.how}) was left, and the answer does not say so"
                self.ledger.violate(what, f"{it.path}: {it.now[-80:]!r} → {it.said}")
            if it.is_left or it.now is None:
                continue
            name = str(it.path.relative_to(self.place.work))
            healed[name] += 1
            hows[name].append(f"{it.how}, {'told' if it.is_told else 'not told: ' + it.said[:300]}")
            if it.now and not it.is_kept:
                what = f"a spoiled file ({it.how}) was replaced and not kept"
                self.ledger.violate(what, f"{it.path}: {it.now[:80]!r}… → {it.said}")
        for name, number in healed.items():
            if replaced[name] < number:
                what = f"a spoiled file was healed {number} times, and its log has {replaced[name]}"
                self.ledger.violate(what, f"{name}: {hows[name]}")
        with self.ledger.lock:
            for what, number in counts.items():
                self.ledger.counts[what] = number

    def check_audit(self):
        for command in ("audit", "doctor"):
            code, value, text = self.place.ask(command)
            self.ledger.count(f"{command} of the database")
            if code or not value.get("is_fine"):
                problems = [it for it in value.get("runs", []) if it.get("problems")]
                fine = ("fine", "doubtful")
                problems += [it for it in value.get("findings", []) if it["state"] not in fine]
                what = f"`{command}` is not content (exit {code})"
                self.ledger.violate(what, str(problems or text)[:1500])

    def check_files(self, is_last):
        """Every promised file parses, and agrees with what the command line shows."""
        limit = 80 if is_last else 12
        rows = {it["run"]: it for it in self.runs}
        files = [it for it in self.files if not it["path"].startswith("errand:")]
        files.sort(key=lambda it: -rows[it["run"]]["id"])
        newest = {}
        for file in files:
            path = self.locate(file)
            row = rows[file["run"]]
            if path is None or row["is_shadowed"]:
                continue
            newest.setdefault(path, (file, row))
        for path, (_, row) in list(newest.items())[:limit]:
            run = self.name(row["run"])
            code, value, text = self.place.ask("run", "show", run)
            if code:
                self.ledger.violate(f"`run show` failed with exit {code}", f"{run}: {text[:500]}")
                continue
            self.ledger.count("files compared")
            self.compare(path, row, value["run"])

    def locate(self, file):
        work = self.place.work
        if file["workflow"] == "scene-generation":
            return work / "workspace" / file["path"]
        if file["path"].startswith("sessions/"):
            return work / ".accordo" / file["path"]
        return work / file["path"]

    def compare(self, path, row, shown):
        """Compares a file. One that a person spoiled is looked at by a server first."""
        found = self.find_difference(path, row, shown)
        if found is None:
            return
        with self.ledger.lock:
            hands = [it.now for it in self.ledger.damages if it.path == path]
            is_touched = self.ledger.hands[path] > 0
        try:
            now = path.read_bytes()
        except OSError:
            now = None
        if not is_touched or (now is None and None not in hands):
            self.ledger.violate(*found)
            return
        self.ledger.count("files that a person spoiled and nobody had looked at")
        answer = self.touch(path, row)
        found = self.find_difference(path, row, shown)
        if found is not None:
            said = answer.short() if answer else "no answer"
            self.ledger.violate(found[0], f"{found[1]}, also after a look: {said}")

    def find_difference(self, path, row, shown):
        """Returns what is wrong with a file, and where."""
        where = f"{path.relative_to(self.place.work)} of run {self.name(row['run'])}"
        try:
            content = path.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as problem:
            return "a promised file cannot be read", f"{where}: {problem}"
        workflow, status, step = row["workflow"], shown["status"], shown["step"]
        if status == "waiting" and shown.get("gate"):
            # A run that claims to be behind a gate waits at that gate, and its file says so.
            step = shown["gate"]["step"]
        events = self.by_run[row["run"]]
        try:
            if workflow == "dev-workflow":
                said = dict(re.findall(r"^(Phase|Status): *(\S+)", content, re.MULTILINE))
                expected = {"Phase": step} if status in ("running", "waiting") else {}
                said = {key: said[key] for key in expected}
            elif workflow == "forge":
                state = json.loads(content)
                said = {"currentPhase": state["currentPhase"], "log": entries(state["phaseLog"])}
                expected = {"log": self.recorded(events, "usage")}
                if status in ("running", "waiting"):
                    expected["currentPhase"] = step
                else:
                    said.pop("currentPhase")
            elif workflow == "scene-generation":
                state = json.loads(content)
                questions = [it["question"] for it in state["user_questions"]]
                said = {"status": state["workflow_status"], "log": entries(questions)}
                words = {"running": "IN_PROGRESS", "waiting": "WAITING_USER_APPROVAL"}
                expected = {"status": words.get(status, status.upper())}
                expected["log"] = self.recorded(events, "question")
            else:
                state = json.loads(content)
                said, expected = {"node": state["current_node"]}, {"node": step}
        except (ValueError, KeyError, TypeError) as problem:
            return "a promised file cannot be read", f"{where}: {problem!r}"
        if said != expected:
            short = lambda it: {key: diff(it, expected, said, key) for key in it}
            what = f"{where} says {short(said)}, the log {short(expected)} (status {status}, step {step})"
            return "a promised file differs from its log", what
        return None

    def recorded(self, events, kind):
        found = []
        for event in events:
            if event.kind == "EntryRecorded":
                entry = json.loads(event.body)["entry"]
                if entry["type"] == kind:
                    found += MARKER.findall(json.dumps(entry))
        return sorted(found)


def diff(one, expected, said, key):
    if key != "log":
        return one[key]
    both = collections.Counter(said["log"]) & collections.Counter(expected["log"])
    return sorted((collections.Counter(one["log"]) - both).elements())[:6]


def entries(values):
    return sorted(it for value in values for it in MARKER.findall(json.dumps(value)))


def describe(call):
    answer = call.answer.short() if call.answer else "(no answer)"
    return f"{call.where()}, sent {call.sends} times → {answer}"


def parse_time(text):
    """Returns microseconds since 1970."""
    moment = datetime.datetime.fromisoformat(text)
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return (moment - epoch) // datetime.timedelta(microseconds=1)
