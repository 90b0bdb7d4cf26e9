"""Flips random bytes in a copy of the database, and looks whether the program finds them.

A flip is fine if `audit` or `doctor` finds it, or if history, read by Python's own sqlite3, is what
it was.
"""

import random
import shutil
import sqlite3

from checker import copy_database, read_events


class Flips:
    """Takes a copy whenever it is asked to."""

    def __init__(self, place, ledger, scratch, seed):
        self.place = place
        self.ledger = ledger
        self.scratch = scratch
        self.random = random.Random(f"{seed} flips")
        self.number = 0

    def flip(self, times):
        self.number += 1
        base = self.scratch / f"flips-{self.number}"
        sound = copy_database(self.place.database, base / "sound" / ".milepost")
        for name in ("project.toml", "milepost.key"):
            shutil.copy2(self.place.database.parent / name, sound.parent / name)
        try:
            # Reading moves the log into the file, so it is read from a copy of the copy.
            truth = self.history(sound.parent, base / "read")
            code, text = self.judge(sound.parent, base / "judged")
            if code:
                self.ledger.violate("`doctor` finds fault with a sound copy", text[:1500])
                return
            for _ in range(times):
                self.flip_once(sound, base, truth)
        finally:
            shutil.rmtree(base, ignore_errors=True)

    def flip_once(self, sound, base, truth):
        spoiled = base / "spoiled" / ".milepost"
        shutil.rmtree(spoiled.parent, ignore_errors=True)
        shutil.copytree(sound.parent, spoiled)
        files = [spoiled / sound.name]
        wal = spoiled / f"{sound.name}-wal"
        if wal.exists() and wal.stat().st_size:
            files.append(wal)
        file = self.random.choice(files)
        data = bytearray(file.read_bytes())
        place, bits = self.aim(data), self.random.randrange(1, 256)
        data[place] ^= bits
        file.write_bytes(data)
        try:
            history = self.history(spoiled, base / "read")
        except sqlite3.DatabaseError:
            history = None
        code, text = self.judge(spoiled, base / "judged")
        self.ledger.count("byte flips")
        if code:
            self.ledger.count("byte flips found")
        elif history == truth:
            self.ledger.count("byte flips without effect on history")
        else:
            at = f"byte {place} ^ {bits:#x} of {file.name} ({len(data)} bytes)"
            change = "cannot be read" if history is None else compare(truth, history)
            self.ledger.violate("a flip changed history, and nobody found it", f"{at}: {change}")

    def aim(self, data):
        """Returns a place: anywhere, or in what looks like the body of an event."""
        place = self.random.randrange(len(data))
        if self.random.random() < 0.5:
            found = data.find(b'{"kind":', place)
            if found >= 0:
                return min(found + self.random.randrange(60), len(data) - 1)
        return place

    def history(self, folder, target):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
        return read_events(target / "milepost.db")

    def judge(self, folder, target):
        """Returns the first exit code that is not 0, of `audit` and `doctor` on a copy."""
        text = ""
        for command in ("audit", "doctor"):
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target / ".milepost")
            code, _, text = self.place.ask(command, cwd=target)
            if code == 70 or "panicked at" in text:
                self.ledger.violate(f"`{command}` broke on a spoiled copy", text[:1500])
            if code:
                return code, text
        return 0, text


def compare(truth, history):
    if len(truth) != len(history):
        return f"{len(truth)} events became {len(history)}"
    pairs = [(one, two) for one, two in zip(truth, history, strict=True) if one != two]
    return f"{len(pairs)} events differ, the first: {pairs[0]}"
