"""What goes wrong, by seed: kill -9, SIGSTOP, other clocks, a full disk, a limit on file sizes."""

import random
import threading
import time

FAULTS = ("kill",) * 10 + ("two",) * 2 + ("stop",) * 3 + ("limit", "full")


class Faults(threading.Thread):
    """Strikes until it is told to rest, and goes on when it is told to."""

    def __init__(self, slots, place, ledger, seed, pause_s=(0.05, 0.8)):
        super().__init__(daemon=True, name="faults")
        self.slots = slots
        self.place = place
        self.ledger = ledger
        self.random = random.Random(f"{seed} faults")
        self.pause_s = pause_s
        self.may_strike = threading.Event()
        self.is_resting = threading.Event()
        self.is_over = False

    def rest(self):
        self.may_strike.clear()
        self.is_resting.wait(60)

    def run(self):
        while not self.is_over:
            if not self.may_strike.is_set():
                self.is_resting.set()
                self.may_strike.wait(0.2)
                continue
            self.is_resting.clear()
            time.sleep(self.random.uniform(*self.pause_s))
            self.strike(self.random.choice(FAULTS))
        self.is_resting.set()

    def strike(self, fault):
        slot = self.random.choice(self.slots)
        if fault == "kill":
            self.ledger.count("kill -9", slot.kill())
        elif fault == "two":
            other = self.random.choice(self.slots)
            self.ledger.count("kill -9", slot.kill() + other.kill())
        elif fault == "stop":
            seconds = self.random.uniform(0.2, 2.5)
            # It may have been stopped with the lock in its hand.
            self.ledger.expect("lock", seconds + 10)
            self.ledger.count("SIGSTOP", slot.stop(seconds))
        elif fault == "limit":
            # Its next process cannot write long files. Then comes one that can.
            slot.is_limited_next = True
            slot.kill()
            self.ledger.count("RLIMIT_FSIZE")
            time.sleep(self.random.uniform(0.5, 1.5))
            slot.is_limited_next = False
            slot.kill()
        elif fault == "full" and self.place.is_mounted:
            self.fill(self.random.uniform(0.3, 1.2))

    def fill(self, seconds):
        """Fills the file system to the last byte for a while."""
        ballast = self.place.work / "ballast"
        self.ledger.count("full disk")
        try:
            with open(ballast, "wb", buffering=0) as file:
                block = bytes(1 << 20)
                while block:
                    # Filling may take long on a busy machine.
                    self.expect_full(seconds)
                    try:
                        if file.write(block) < len(block):
                            block = block[: len(block) // 2]
                    except OSError:
                        block = block[: len(block) // 2]
            self.expect_full(seconds)
            time.sleep(seconds)
        finally:
            ballast.unlink(missing_ok=True)
            self.expect_full(0)

    def expect_full(self, seconds):
        for what, after in (("full", 2), ("disk", 5), ("lock", 10)):
            self.ledger.expect(what, seconds + after)
