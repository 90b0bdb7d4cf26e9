"""The server processes: one slot for each, which starts another process when the old one is gone.

A process gets its clock, its era of the protocol and its limits from the seed.
"""

import random
import resource
import signal
import threading
import time

from client import Gone, Server

DAY = 24 * 60 * 60
OFFSETS = (0, 0, 0, 8 * DAY, -60 * 60, 30 * DAY)
# A process with this limit cannot write past it in any file.
FILE_LIMIT = 96 * 1024


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))
    # As a shell with `trap '' XFSZ` leaves it: the write fails, and the process goes on.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


class Slot:
    """One place for a server process."""

    def __init__(self, name, toolset, place, ledger, seed):
        self.name = name
        self.toolset = toolset
        self.place = place
        self.ledger = ledger
        self.random = random.Random(f"{seed} slot {name}")
        self.lock = threading.Lock()
        self.server = None
        self.is_limited_next = False
        self.is_limited = False
        self.is_stopped = False
        self.offset = 0

    def get(self):
        """Returns a server that runs, and starts one if there is none. Raises Gone."""
        with self.lock:
            if self.server is None or self.server.child.poll() is not None:
                self._start()
            return self.server

    def _start(self):
        self._put_away()
        self.offset = self.random.choice(OFFSETS)
        self.is_limited, self.is_limited_next = self.is_limited_next, False
        environment = dict(self.place.environment)
        if self.offset:
            environment["MILEPOST_TEST_CLOCK_AHEAD_S"] = str(self.offset)
            self.ledger.count("clock jumps")
        command = [str(self.place.binary), "mcp", "--toolset", self.toolset]
        self.ledger.count("servers started")
        modern = self.random.random() < 0.5
        preexec = limit_files if self.is_limited else None
        try:
            self.server = Server(command, self.place.work, environment, modern, preexec)
        except Gone:
            self.server = None
            self.ledger.count("servers that did not come up")
            time.sleep(0.2)
            raise

    def _put_away(self):
        """Looks at what the old process left on its pipes."""
        old, self.server = self.server, None
        if old is None:
            return
        if old.noise:
            self.ledger.violate("standard output carried no message", f"{self.name}: {old.noise[:3]}")
        talk = "\n".join(old.talk)
        for word in ("panicked at", "database is locked"):
            if word in talk:
                lines = [it for it in old.talk if word in it]
                self.ledger.violate(f"a server logged `{word}`", f"{self.name}: {lines[:3]}")

    def kill(self):
        """Kills the process, whatever it does."""
        with self.lock:
            if self.server is not None and self.server.child.poll() is None:
                self.server.kill()
                return True
            return False

    def stop(self, seconds):
        """Stops the process for a while."""
        server = self.server
        if server is None:
            return False
        self.is_stopped = True
        server.signal(signal.SIGSTOP)
        time.sleep(seconds)
        server.signal(signal.SIGCONT)
        self.is_stopped = False
        return True

    def revive(self):
        """Starts a server if there is none."""
        for _ in range(20):
            try:
                return self.get()
            except Gone:
                continue
        self.ledger.violate("a server does not come up", self.name)
        return None

    def close(self):
        with self.lock:
            if self.server is not None and self.server.child.poll() is None:
                if not self.server.close(60):
                    self.ledger.violate("a server did not end when its input did", self.name)
            self._put_away()
