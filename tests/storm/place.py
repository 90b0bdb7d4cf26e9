"""The project that the storm rages in: a folder, its git repository, its workflows, its person, and
the command line. The person's token is written into the person's own folder, where no agent of the
storm looks."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess

TOKEN = "the-token-of-the-person-in-the-storm"
TMPFS_MIB = 512
STEP = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n"
GUARDED = {
    "draft": "next: plan",
    "plan": "gate: true\nattempts: {max: 3}\nnext: ship",
    "ship": "next: close",
    "close": "",
}
RELAY_STEPS = 30
PATH = "/usr/local/bin:/usr/bin:/bin"


class Place:
    """A folder `work` with the project, and `home` of the person."""

    def __init__(self, binary, folder):
        self.folder = pathlib.Path(folder)
        self.work = self.folder / "work"
        self.home = self.folder / "home"
        self.binary = self.folder / "milepost"
        for it in (self.work, self.home):
            it.mkdir()
        # The binary is rebuilt now and then, so the storm has its own.
        shutil.copy2(binary, self.binary)
        self.is_mounted = self._mount()
        self.environment = {
            "PATH": PATH,
            "HOME": str(self.home),
            "LOG_LEVEL": "warn",
            "MILEPOST_GATES_ANSWERS": "verified",
            "MILEPOST_FORGE_POLL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self._write_workflows()
        self._write_token()
        self._init_git()

    def _mount(self):
        """Puts the project on a small file system, so that it can be filled. Needs root."""
        if os.geteuid() != 0:
            return False
        command = ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_MIB}m", "tmpfs", str(self.work)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def unmount(self):
        if self.is_mounted:
            subprocess.run(["umount", "-l", str(self.work)], check=False)
            self.is_mounted = False

    def _write_workflows(self):
        folder = self.work / ".milepost" / "workflows"
        steps = folder / "GUARDED" / "steps"
        steps.mkdir(parents=True)
        lines = [f"1. [{name}](steps/{name}.md)" for name in GUARDED]
        (folder / "GUARDED" / "index.md").write_text("# Goal\n\nShip it.\n\n" + "\n".join(lines))
        for name, matter in GUARDED.items():
            (steps / f"{name}.md").write_text(f"---\n{matter}\n---\n{STEP}" if matter else STEP)
        steps = folder / "RELAY" / "steps"
        steps.mkdir(parents=True)
        lines = [f"1. [Step {number}](steps/any.md)" for number in range(RELAY_STEPS)]
        (folder / "RELAY" / "index.md").write_text("# Goal\n\nGo far.\n\n" + "\n".join(lines))
        (steps / "any.md").write_text(STEP)

    def _write_token(self):
        folder = self.home / ".local/state/milepost/tokens"
        folder.mkdir(parents=True, mode=0o700)
        known = {"version": 1, "name": "storm", "scope": "approve", "at": "today"}
        file = folder / (hashlib.sha256(TOKEN.encode()).hexdigest() + ".json")
        file.write_text(json.dumps(known))
        file.chmod(0o600)

    def _init_git(self):
        (self.work / ".gitignore").write_text(
            ".milepost\n.specs\nworkspace\n.accordo\nballast\nworkflow_state.md\n"
        )
        (self.work / ".specs").mkdir()
        for arguments in (
            ["init", "-q", "-b", "main"],
            ["config", "user.name", "Storm"],
            ["config", "user.email", "storm@example.org"],
            ["add", ".gitignore"],
            ["commit", "-qm", "one"],
            ["checkout", "-qb", "storm"],
        ):
            subprocess.run(["git", *arguments], cwd=self.work, env=self.environment, check=True)

    @property
    def database(self):
        return self.work / ".milepost" / "milepost.db"

    def ask(self, *arguments, is_person=False, cwd=None, patience=180):
        """Runs a command. Returns its exit code, what it answers, and its text."""
        environment = dict(self.environment)
        if is_person:
            environment["MILEPOST_APPROVE_TOKEN"] = TOKEN
        done = subprocess.run(
            [str(self.binary), *arguments, "--json"],
            cwd=cwd or self.work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=patience,
            check=False,
        )
        text = done.stdout.decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except ValueError:
            value = {}
        return done.returncode, value, text + done.stderr.decode("utf-8", "replace")
