"""What all drivers have in common: a stream of work from the seed, calls that are sent again until
they are answered, repeats of answered calls, and files that a person spoils in between."""

import random
import threading
import time
import traceback

from client import Gone
from ledger import Call, Damage

# Faults of the disk or the lock: nothing was done, and the same call may work later.
TRANSIENT = {"disk_full", "database", "busy", "io", "file_failed", "disk_failed", "storage"}
PATIENCE_S = 90
SENDS_MAX = 400
NOTICES = (
    "was not taken in",
    "was gone",
    "replaced from the log",
    "written from the log",
    "could not be written",
)


class Pace:
    """Lets all drivers stop between two calls."""

    def __init__(self):
        self.condition = threading.Condition()
        self.is_held = True
        self.busy = 0

    def enter(self, is_over):
        with self.condition:
            while self.is_held and not is_over():
                self.condition.wait(0.2)
            self.busy += 1

    def leave(self):
        with self.condition:
            self.busy -= 1
            self.condition.notify_all()

    def hold(self, patience):
        """Returns whether all have stopped."""
        deadline = time.monotonic() + patience
        with self.condition:
            self.is_held = True
            while self.busy and time.monotonic() < deadline:
                self.condition.wait(0.2)
            return self.busy == 0

    def go_on(self):
        with self.condition:
            self.is_held = False
            self.condition.notify_all()


class Driver(threading.Thread):
    """An agent that never gives up."""

    # Whether the request id is an argument, as in core, or beside the arguments.
    has_request_argument = False
    think_s = (0.0, 0.03)

    def __init__(self, name, slots, place, ledger, pace, seed):
        super().__init__(daemon=True, name=name)
        self.slots = slots
        self.place = place
        self.ledger = ledger
        self.pace = pace
        self.random = random.Random(f"{seed} driver {name}")
        self.is_over = False
        self.number = 0
        self.answered = []
        self.problem = None

    def run(self):
        while not self.is_over:
            self.pace.enter(lambda: self.is_over)
            try:
                if not self.is_over:
                    self.step()
            except Exception as problem:  # The storm's own mistake: told at the end.
                self.problem = traceback.format_exc()
                self.ledger.violate(f"the driver {self.name} failed: {problem}", self.problem)
                self.is_over = True
            finally:
                self.pace.leave()
            time.sleep(self.random.uniform(*self.think_s))

    def step(self):
        raise NotImplementedError

    def mark(self):
        self.number += 1
        return f"mark.{self.name}.{self.number}.end"

    def ask(self, tool, arguments, marker=None, kinds=()):
        """Makes a call that changes something. Sends it again until it is answered."""
        self.number += 1
        request = f"{self.ledger.seed}.{self.name}.{self.number}"
        if self.has_request_argument:
            arguments = {**arguments, "request_id": request}
        call = Call(self.name, tool, arguments, request, marker, frozenset(kinds))
        self.ledger.add(call)
        answer = self.send(call)
        if answer is not None:
            call.settle(answer)
            call.was_disk_full = time.monotonic() < self.ledger.trouble_until.get("full", 0)
            self.ledger.count(f"calls {call.state}")
            if call.state == "refused":
                with self.ledger.lock:
                    self.ledger.refusals[f"{tool}: {answer.code}"] += 1
            if call.state == "done":
                self.answered.append(call)
                del self.answered[:-400]
        return answer

    def read(self, tool, arguments):
        """Makes a call that only looks. Returns None where nobody answers."""
        call = Call(self.name, tool, arguments, None, None, ())
        return self.send(call)

    def send(self, call):
        for _ in range(SENDS_MAX):
            slot = self.random.choice(self.slots)
            call.sends += 1
            try:
                server = slot.get()
                if call.first_sent is None:
                    call.first_sent = time.monotonic()
                request = None if self.has_request_argument else call.request
                answer = server.call(call.tool, call.arguments, request, PATIENCE_S)
            except Gone as gone:
                self.ledger.count("answers lost")
                if "no answer within" in str(gone):
                    self.ledger.violate(f"no answer within {PATIENCE_S} s", call.where())
                    slot.kill()
                time.sleep(0.05)
                continue
            if self.judge(call, answer, slot):
                return answer
            time.sleep(self.random.uniform(0.05, 0.3))
        self.ledger.violate("a call was never answered", call.where())
        return None

    def judge(self, call, answer, slot):
        """Returns whether this is an answer, rather than a fault that passes."""
        if answer.is_protocol_error:
            self.ledger.violate("a protocol error", f"{call.where()} → {answer.short()}")
            return True
        if "database is locked" in answer.text:
            self.ledger.violate("`database is locked`", f"{call.where()} → {answer.short()}")
        if not answer.is_error or answer.code not in TRANSIENT:
            return True
        self.ledger.count(f"faults answered: {answer.code}")
        now = time.monotonic()
        trouble = self.ledger.trouble_until
        is_explained = now < trouble.get("lock" if answer.code == "busy" else "disk", 0)
        if not is_explained and not slot.is_limited:
            what = f"`{answer.code}` was answered while nothing was wrong with the disk"
            self.ledger.violate(what, f"{call.where()} → {answer.short()}")
        return False

    def repeat(self):
        """Sends an answered call again. It must be answered in the same way."""
        if not self.answered:
            return
        call = self.random.choice(self.answered)
        again = Call(call.driver, call.tool, call.arguments, call.request, None, ())
        answer = self.send(again)
        self.ledger.count("repeats")
        if answer is None or answer.same(call.answer):
            return
        if call.was_disk_full and answer.is_error == call.answer.is_error:
            # The first answer could not be kept on a full disk, so it is worded again. The checker
            # sees to it that nothing was done again.
            self.ledger.count("repeats worded again, since the disk was full")
        else:
            where = f"{call.where()}\n      first {call.answer.short()}\n      then {answer.short()}"
            self.ledger.violate("a repeat was answered otherwise", where)

    def spoil(self, path, look):
        """Has a person spoil a promised file, and looks at what the next answer says."""
        try:
            was = path.read_bytes()
        except OSError:
            return
        how = self.random.choice(("torn", "cut", "emptied", "deleted", "zeros"))
        cut = self.random.randrange(1, max(2, len(was) - 40))
        now = {
            "torn": was[:cut] + b"\0half\n",
            "cut": was[:cut],
            "emptied": b"",
            "deleted": None,
            "zeros": bytes(64),
        }[how]
        damage = Damage(path, how, was, now)
        if not self.overwrite(path, now):
            return
        self.ledger.count(f"files {how}")
        answer = look()
        if answer is None:
            return
        damage.said = answer.short()
        damage.is_told = any(it in str(answer.message) for it in NOTICES)
        try:
            damage.is_left = now is not None and path.read_bytes() == now
        except OSError:
            pass
        damage.is_kept = bool(now) and self.is_kept(path, now)
        with self.ledger.lock:
            self.ledger.damages.append(damage)

    def overwrite(self, path, data):
        """Has a person write a file, or delete it. Returns whether the disk let them."""
        with self.ledger.lock:
            self.ledger.hands[path] += 1
            self.ledger.in_hand.add(path)
            self.ledger.strokes[path].append(data)
        try:
            if data is None:
                path.unlink()
            else:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(data)
        except OSError:
            # The disk is full. What is there now is torn by this hand.
            try:
                with self.ledger.lock:
                    self.ledger.strokes[path].append(path.read_bytes())
            except OSError:
                pass
            return False
        finally:
            with self.ledger.lock:
                self.ledger.in_hand.discard(path)
        return True

    def is_kept(self, path, data):
        folders = (path.parent / "backups", path.parent.parent / "backups")
        folders += (self.place.work / ".accordo" / "backups",)
        for folder in folders:
            for file in folder.glob("*"):
                try:
                    if file.is_file() and file.stat().st_size == len(data):
                        if file.read_bytes() == data:
                            return True
                except OSError:
                    continue
        return False
