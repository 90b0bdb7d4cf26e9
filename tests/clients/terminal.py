"""A person at a terminal of their own, who says yes to every question and stops what does not end by
itself."""

import os
import re
import select
import subprocess
import time

QUESTION = re.compile(r"\[y/N\] $")
# What serves until it is told to stop says first where it is.
SERVES = re.compile(r"^milepost serve\b", re.MULTILINE)
SERVING = re.compile(r"http://[\w.:\[\]]+")
STYLE = re.compile(r"\x1b\[[\d;]*m")
PATIENCE = 120


class Shown:
    """What came on the terminal, and how it ended."""

    def __init__(self, code, text):
        self.code = code
        self.text = text


def type_in(commands, folder, environment):
    """Types commands into a shell, and returns what is shown. The first that fails is the last."""
    script = "\n".join(["trap : INT", "set -e", *commands])
    terminal, inner = os.openpty()
    command = ["setsid", "--ctty", "sh", "-c", script]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**environment, "TERM": "xterm"},
        stdin=inner,
        stdout=inner,
        stderr=inner,
    )
    os.close(inner)
    text = ""
    is_to_stop = SERVES.search(script)
    try:
        for text in shown(terminal):
            if QUESTION.search(text):
                os.write(terminal, b"y\n")
            elif is_to_stop and SERVING.search(text):
                os.write(terminal, b"\x03")
                is_to_stop = False
    except TimeoutError as error:
        raise AssertionError(f"{commands} does not end:\n{text}") from error
    finally:
        # Whatever still runs there is hung up on.
        os.close(terminal)
    return Shown(process.wait(PATIENCE), text)


def shown(terminal):
    """Yields all that was shown so far, each time that there is more."""
    end = time.monotonic() + PATIENCE
    raw = b""
    while select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
        try:
            more = os.read(terminal, 65536)
        except OSError:
            # Nobody has the other end open any more.
            return
        if not more:
            return
        raw += more
        yield STYLE.sub("", raw.decode(errors="replace").replace("\r\n", "\n"))
    raise TimeoutError
