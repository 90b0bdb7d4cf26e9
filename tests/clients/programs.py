"""Asks the clients themselves whether `milepost setup` has made the server known to them: Claude Code,
Codex, Gemini CLI and OpenCode, each with an empty home, no login and no model.

    python programs.py BINARY PROGRAMS

PROGRAMS is the folder that `npm install` has put the clients into. One that did not come, for another
system for example, is named and left out; if none came, that is a failure.
"""

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BINARY = Path(sys.argv[1]).resolve()
PROGRAMS = Path(sys.argv[2]).resolve() / "node_modules" / ".bin"
# Each listing starts the server, and OpenCode prepares its own database first.
TIMEOUT_S = 300


class Place:
    """An empty home, and a project beside it."""

    def __init__(self, folder):
        self.home, self.project = Path(folder) / "home", Path(folder) / "project"
        self.home.mkdir()
        self.project.mkdir()
        # The entry then says `milepost`, as on a machine where it is installed.
        (Path(folder) / "bin").mkdir()
        (Path(folder) / "bin" / "milepost").symlink_to(BINARY)
        path = [Path(folder) / "bin", PROGRAMS, Path(sys.executable).parent, os.environ["PATH"]]
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join(map(str, path)),
            "TERM": "dumb",
            "NO_COLOR": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
        }

    def run(self, *words):
        """Runs a program in the project, and returns what it prints, without colours."""
        done = subprocess.run(
            words,
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
        assert done.returncode == 0, f"{words} ended with {done.returncode}:\n{text}"
        return text

    def setup(self, *words):
        return self.run("milepost", "setup", *words)

    def write(self, path, value):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))

    def listed(self, program, *wanted):
        """Asks the program for its servers: the lines about ours must say what is wanted."""
        text = self.run(program, "mcp", "list")
        lines = "\n".join(line for line in text.splitlines() if "milepost" in line)
        for word in wanted:
            assert word in lines, f"`{program} mcp list` does not say {word!r}:\n{text}"

    def not_listed(self, program):
        text = self.run(program, "mcp", "list")
        assert "milepost" not in text, f"`{program} mcp list` still has it:\n{text}"


def claude_project(place):
    said = place.setup("claude", "--yes")
    assert 'choose "Use this MCP server"' in said, said
    place.listed("claude", "milepost mcp", "Pending approval")
    # What the two dialogs write: the trust in the folder, and the server that is used.
    state = place.home / ".claude.json"
    known = json.loads(state.read_text()) if state.exists() else {}
    known["projects"] = {str(place.project): {"hasTrustDialogAccepted": True}}
    place.write(state, known)
    place.write(
        place.project / ".claude/settings.local.json", {"enabledMcpjsonServers": ["milepost"]}
    )
    place.listed("claude", "milepost mcp", "✔ Connected")
    place.setup("claude", "--undo", "--yes")
    place.not_listed("claude")


def claude_user(place):
    said = place.setup("claude", "--global", "--yes")
    assert "Claude Code added the entry" in said, said
    place.listed("claude", "milepost mcp", "✔ Connected")
    entry = json.loads((place.home / ".claude.json").read_text())["mcpServers"]["milepost"]
    assert (entry["command"], entry["args"]) == ("milepost", ["mcp"]), entry
    place.setup("claude", "--global", "--toolset", "core", "--yes")
    place.listed("claude", "milepost mcp --toolset core", "✔ Connected")
    place.setup("claude", "--global", "--undo", "--yes")
    place.listed("claude", "milepost mcp -", "✔ Connected")
    place.setup("remove", "claude", "--global", "--yes")
    place.not_listed("claude")


def codex_user(place):
    place.setup("codex", "--yes")
    place.listed("codex", "milepost", "mcp", "enabled")
    place.setup("codex", "--undo", "--yes")
    place.not_listed("codex")


def codex_project(place):
    place.setup("codex", "--scope", "project", "--yes")
    # Without trust, Codex ignores the file.
    place.not_listed("codex")
    config = place.home / ".codex/config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(f'[projects."{place.project}"]\ntrust_level = "trusted"\n')
    place.listed("codex", "milepost", "mcp", "enabled")


def gemini_project(place):
    said = place.setup("gemini", "--yes")
    assert "trust the folder" in said, said
    place.listed("gemini", "milepost mcp", "Disabled")
    place.write(place.home / ".gemini/trustedFolders.json", {str(place.project): "TRUST_FOLDER"})
    place.listed("gemini", "milepost mcp", "✓", "Connected")
    place.setup("gemini", "--undo", "--yes")
    place.not_listed("gemini")


def gemini_user(place):
    place.write(place.home / ".gemini/trustedFolders.json", {str(place.project): "TRUST_FOLDER"})
    place.setup("gemini", "--global", "--yes")
    place.listed("gemini", "milepost mcp", "✓", "Connected")


def opencode_project(place):
    place.setup("opencode", "--yes")
    place.listed("opencode", "✓", "milepost", "connected")
    place.setup("opencode", "--undo", "--yes")
    place.not_listed("opencode")


def opencode_user(place):
    place.setup("opencode", "--global", "--yes")
    place.listed("opencode", "✓", "milepost", "connected")


def found(place):
    """`setup` without a name offers every client that is installed."""
    clients = json.loads(place.run("milepost", "setup", "--yes", "--json"))["clients"]
    assert all(it["is_written"] for it in clients), clients
    names = {it["client"] for it in clients}
    assert names == set(ALL) - set(MISSING), names


def offered(place):
    """A person at a terminal is asked about each client that is found, and may decline."""
    (place.project / ".cursor").mkdir()
    (place.home / ".codex").mkdir()
    place.environment["PATH"] = str(place.project.parent / "bin")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(place.project)
        os.execvpe(BINARY, ["milepost", "setup"], place.environment)
    answers, said = [b"y\n", b"n\n"], b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            part = b""
        if not part:
            break
        said += part
        if part.rstrip().endswith(b"[y/N]"):
            os.write(terminal, answers.pop(0))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0 and not answers, said
    assert (place.project / ".cursor/mcp.json").exists(), said
    assert not (place.home / ".codex/config.toml").exists(), said
    assert b"asks whether to enable" in said and b"not set up" in said, said


ALL = {
    "claude": [claude_project, claude_user],
    "codex": [codex_user, codex_project],
    "gemini": [gemini_project, gemini_user],
    "opencode": [opencode_project, opencode_user],
}
MISSING = {}


def main():
    for program in ALL:
        with tempfile.TemporaryDirectory() as folder:
            try:
                Place(folder).run(program, "--version")
            except (OSError, AssertionError, subprocess.TimeoutExpired) as problem:
                MISSING[program] = problem
    tried = [it for program, tests in ALL.items() if program not in MISSING for it in tests]
    if not tried:
        sys.exit(f"no client could be installed: {MISSING}")
    for test in [*tried, found, offered]:
        with tempfile.TemporaryDirectory() as folder:
            test(Place(folder))
            print(f"programs: {test.__name__}")
    for program, problem in MISSING.items():
        print(f"programs: {program} was NOT TRIED, it cannot be started here: {problem}")


main()
