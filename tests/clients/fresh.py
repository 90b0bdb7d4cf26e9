"""A new machine: an empty home with nothing but the program, and an empty project."""

import contextlib
import json
import os
import pathlib

from mcp import StdioServerParameters
from places import Place
from terminal import type_in


class Fresh(Place):
    """A home, a project, and a person at a terminal in it."""

    def __init__(self, binary, folder):
        super().__init__(binary, folder, "core", {})
        self.home = pathlib.Path(folder, "home")
        self.folder = pathlib.Path(folder, "project")
        # Where `cargo install` puts it.
        programs = self.home / ".cargo" / "bin"
        programs.mkdir(parents=True)
        self.folder.mkdir()
        (programs / "milepost").symlink_to(binary)
        path = f"{programs}:/usr/local/bin:/usr/bin:/bin"
        self.environment = {"PATH": path, "HOME": str(self.home)}

    def type(self, *commands):
        """Has the person type commands, all of which must work, and returns what they are shown."""
        shown = type_in(commands, self.folder, self.environment)
        assert shown.code == 0, f"{commands} ended with {shown.code}:\n{shown.text}"
        return shown.text

    @contextlib.contextmanager
    def served(self):
        """Has the client start the server as its own configuration says."""
        entry = self.entry()
        yield StdioServerParameters(
            command=entry["command"],
            args=entry["args"],
            env=self.environment,
            cwd=str(self.folder),
        )

    def entry(self):
        path = self.folder / ".mcp.json"
        if not path.exists():
            return {"command": "milepost", "args": ["mcp"]}
        [entry] = json.loads(path.read_text(encoding="utf-8"))["mcpServers"].values()
        return entry

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
