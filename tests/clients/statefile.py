"""Reads `workflow_state.md` and `project_config.md` by the rules of their format, and not by the
program's own code: what a tool says is held against this."""

import dataclasses
import re

HEADING = re.compile(r"## (?P<name>[A-Za-z]+(?: [A-Za-z]+)*)(?: \(.*\))?\s*")
FENCE = re.compile(r"\s*(?P<mark>```|~~~)")
PLACEHOLDER = re.compile(r"<!--(?:(?!-->).)*-->", re.DOTALL)
ESCAPED = re.compile(r"\\\\|\\\||\\<br>|<br>")
MEANT = {"\\\\": "\\", "\\|": "|", "\\<br>": "<br>", "<br>": "\n"}


def sections(text):
    """Returns each section as it stands under its name, and what is before them under no name."""
    found, name, fence = {"": []}, "", None
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        if fence is None and line.startswith("## "):
            heading = HEADING.fullmatch(line)
            name = heading["name"] if heading else line[3:].strip()
            assert name not in found, f"two sections {name}:\n{text}"
            found[name] = []
            continue
        if mark and fence in (None, mark["mark"]):
            fence = None if fence else mark["mark"]
        found[name].append(line)
    return {name: "".join(lines) for name, lines in found.items()}


def unescape(text):
    return ESCAPED.sub(lambda it: MEANT[it[0]], text)


def plain(text):
    """Returns the text that was written: no placeholder, no guard before what looks a heading."""
    text = text.replace("\r\n", "\n").strip("\n").rstrip()
    if PLACEHOLDER.fullmatch(text):
        return ""
    return re.sub(r"^\\(?=\\*##? )", "", text, flags=re.MULTILINE)


def rows(text):
    """Returns the rows that begin with a number: id, description and status."""
    found = []
    for line in text.splitlines():
        cells = re.split(r"(?<!\\)((?:\\\\)*)\|", line.strip())
        # A run of whole backslashes before a bar belongs to the cell before it.
        cells = [cell + more for cell, more in zip(cells[0::2], cells[1::2], strict=False)][1:]
        if len(cells) == 3 and cells[0].strip().isdigit():
            found.append((int(cells[0]), unescape(cells[1].strip()), cells[2].strip()))
    return found


@dataclasses.dataclass
class Sheet:
    """What a state file says."""

    text: str
    sections: dict
    phase: str
    status: str
    item: str | None
    plan: str
    items: list
    log: str
    archive: str

    @classmethod
    def read(cls, path):
        text = path.read_bytes().decode("utf-8")
        parts = sections(text)
        for name in ("State", "Plan", "Rules", "Items", "Log", "ArchiveLog"):
            assert name in parts, f"no section {name}:\n{text}"
        state = dict(it.split(":", 1) for it in parts["State"].splitlines() if ":" in it)
        state = {key: value.strip() for key, value in state.items()}
        return cls(
            text=text,
            sections=parts,
            phase=state["Phase"],
            status=state["Status"],
            item=None if state["CurrentItem"] == "null" else unescape(state["CurrentItem"]),
            plan=plain(parts["Plan"]),
            items=rows(parts["Items"]),
            log=plain(parts["Log"]),
            archive=plain(parts["ArchiveLog"]),
        )

    def foreign(self):
        """Returns what no tool has any business in: everything but the parts that tools write."""
        written = ("State", "Plan", "Items", "Log", "ArchiveLog")
        head = [it for it in self.sections[""].splitlines() if not it.startswith("_Last updated:")]
        kept = {name: it for name, it in self.sections.items() if name and name not in written}
        return head, list(self.sections), kept


def changelog(path):
    """Returns the bullets of the changelog, and everything that is not the changelog."""
    parts = sections(path.read_text(encoding="utf-8"))
    bullets = [it for it in parts.pop("Changelog").splitlines() if it.startswith("- ")]
    return bullets, parts
