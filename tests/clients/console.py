"""The fenced blocks of a document, and the commands in those that are run."""

import re
import textwrap

FENCED = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


class Block:
    """A fenced block, and the line of the document that it begins in."""

    def __init__(self, found, document):
        self.line = document.count("\n", 0, found.start()) + 1
        self.info = found[2].split()
        self.text = textwrap.dedent(found[3])

    @property
    def is_console(self):
        return self.info[:1] == ["console"]

    @property
    def is_instead(self):
        """Whether it is typed instead of the block before it."""
        return "instead" in self.info

    @property
    def serves(self):
        """Whether it starts a server that others reach."""
        return any(it.startswith("milepost serve") for it in self.commands)

    @property
    def commands(self):
        return [line.removeprefix("$ ") for line in self.text.splitlines()]


def consoles(path):
    """Returns the blocks of a document that hold commands to run."""
    document = path.read_text(encoding="utf-8")
    blocks = [Block(found, document) for found in FENCED.finditer(document)]
    return [it for it in blocks if it.is_console]
