"""What the drivers know: every call with its answer, what was counted, and what was wrong.

The checker compares this with the database. Nothing in here comes from the product's own code.
"""

import collections
import threading
import time

VIOLATIONS_MAX = 100


class Call:
    """A call that changes something. It is sent with the same id until it is answered."""

    def __init__(self, driver, tool, arguments, request, marker, kinds):
        self.driver = driver
        self.tool = tool
        self.arguments = arguments
        self.request = request
        # A text that is in no other call, and the kinds of events that have to carry it.
        self.marker = marker
        self.kinds = kinds
        self.first_sent = None
        self.acked = None
        self.sends = 0
        self.answer = None
        self.was_disk_full = False
        # pending, done, refused, unkept (answered that nothing was kept)
        self.state = "pending"

    def settle(self, answer):
        self.answer = answer
        self.acked = time.monotonic()
        if answer.is_error:
            self.state = "refused"
        elif "nothing of this call was kept" in answer.text:
            self.state = "unkept"
        else:
            self.state = "done"

    def where(self):
        return f"{self.driver}: {self.tool} {self.arguments} (request {self.request})"


class Damage:
    """A promised file that somebody spoiled by hand, and what was said about it."""

    def __init__(self, path, how, was, now):
        self.path = path
        self.how = how
        self.was = was
        self.now = now
        self.is_told = False
        # The file is still as it was spoiled: taken in as an edit, or not looked at so far.
        self.is_left = False
        # What was found there is kept in a folder for it.
        self.is_kept = False
        self.said = ""


class Ledger:
    """Shared by all threads."""

    def __init__(self, seed):
        self.seed = seed
        self.lock = threading.Lock()
        self.calls = []
        self.damages = []
        # Leases that were granted: run, step, number, holder, when it was asked for, when it was
        # answered, the seconds.
        self.holds = []
        # Gates that the person tried to approve: run and step.
        self.approvals = collections.Counter()
        self.approvals_acked = collections.Counter()
        # How often a hand was laid on each promised file.
        self.hands = collections.Counter()
        # What a person wrote last to each file, and the files that are being written.
        self.strokes = collections.defaultdict(lambda: collections.deque(maxlen=3))
        self.in_hand = set()
        # Until when a fault of the disk or of the lock may still be felt.
        self.trouble_until = {}
        self.counts = collections.Counter()
        self.refusals = collections.Counter()
        self.violations = []
        self.seen = set()

    def count(self, what, by=1):
        with self.lock:
            self.counts[what] += by

    def expect(self, what, seconds):
        """Notes that faults of the disk or of the lock are to be expected from now on."""
        with self.lock:
            until = time.monotonic() + seconds
            self.trouble_until[what] = max(until, self.trouble_until.get(what, 0))

    def add(self, call):
        with self.lock:
            self.calls.append(call)

    def violate(self, what, where):
        """Notes that a promise was broken. The same one at the same place is noted once."""
        with self.lock:
            if (what, where) in self.seen:
                return
            self.seen.add((what, where))
            self.counts["violations"] += 1
            if len(self.violations) < VIOLATIONS_MAX:
                self.violations.append((what, where))
                print(f"VIOLATION (seed {self.seed}): {what}\n    {where}", flush=True)

    def taken(self):
        """Returns the calls so far."""
        with self.lock:
            return list(self.calls)
