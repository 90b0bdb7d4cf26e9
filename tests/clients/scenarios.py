"""What the scenario of a built-in workflow has in its files."""

import json
import pathlib
import re

WORKFLOWS = pathlib.Path(__file__).resolve().parents[2] / "workflows"
START = re.compile(r"^> start(?: key=(\S+))?", re.MULTILINE)
WRITTEN = re.compile(r'^write (\S+) ("(?:[^"\\]|\\.)*")(?: pad=(\d+))?$', re.MULTILINE)


def written(workflow, key):
    """Returns paths and texts as they are at the end of its first run, for a run with this key."""
    text = (WORKFLOWS / workflow / "scenario.txt").read_text(encoding="utf-8")
    first = text.split("\nagain\n")[0]
    own = START.search(first)[1]
    files = {}
    for path, quoted, pad in WRITTEN.findall(first):
        content = json.loads(quoted) + "\n\n" + "word " * int(pad or 0)
        files[path.replace(f"work/{own}/", f"work/{key}/")] = content
    return files
