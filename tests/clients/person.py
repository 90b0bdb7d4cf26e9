"""A person who acts where there is no terminal: by a token with the scope `approve`."""

import hashlib
import json
from pathlib import Path

TOKEN = "a-token-that-approves-for-tests"


def acting(environment):
    """Makes the token known in the person's own folder, and returns what they act with."""
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    folder = Path(environment["HOME"], ".local/state/milepost/tokens")
    folder.mkdir(parents=True, exist_ok=True)
    record = {"version": 1, "name": "tests", "scope": "approve", "at": "today"}
    (folder / f"{digest}.json").write_text(json.dumps(record))
    return {**environment, "MILEPOST_APPROVE_TOKEN": TOKEN}
