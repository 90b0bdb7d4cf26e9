"""A pipeline of the toolset `forge` in a git repository, with agents and a person that follow a
script."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess

from mcp import StdioServerParameters
from places import Stdio

SPENT = {"previous_action_complete": True, "previous_tokens": 1000, "previous_duration_ms": 2000}
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
TASK = "## Task {0}: Part {0}\nmode: {1}\nfiles:\n- part-{0}.txt\n\n"
DEFAULTS = {
    "design.md": "# Design\n\n## Approach\n\nIn parts.\n",
    "tasks.md": "# Tasks\n\n" + TASK.format(1, "sequential"),
    "review-design.md": "## Verdict: APPROVE\n",
    "review-tasks.md": "## Verdict: APPROVE\n",
}


class Repository(Stdio):
    """A fresh git repository with one commit, and a server whose process can be killed."""

    def __init__(self, binary, folder):
        settings = {"MILEPOST_FORGE_POLL": "0s"}
        super().__init__(binary, str(pathlib.Path(folder).resolve()), "forge", settings)
        self.pid = self.folder / ".git" / "server.pid"
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "Ann")
        self.git("config", "user.email", "ann@example.com")
        (self.folder / "shop.py").write_text("import till\n", encoding="utf-8")
        (self.folder / "till.py").write_text("MONEY = 0\n", encoding="utf-8")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "Open the shop")

    def git(self, *arguments):
        command = ["git", *arguments]
        options = {"cwd": self.folder, "env": self.environment, "check": True, "text": True}
        return subprocess.run(command, stdout=subprocess.PIPE, **options).stdout.splitlines()

    @contextlib.contextmanager
    def served(self):
        line = ["-c", 'echo $$ >"$0"; exec "$@"', str(self.pid)]
        command = [self.binary, "mcp", "--toolset", "forge"]
        yield StdioServerParameters(
            command="sh", args=line + command, env=self.environment, cwd=str(self.folder)
        )

    def kill(self):
        os.kill(int(self.pid.read_text()), signal.SIGKILL)


async def ask(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    [content] = result.content
    assert not result.is_error, f"{tool} refused: {content.text}"
    if content.text.startswith("{"):
        assert json.loads(content.text) == result.structured_content, content.text
        return result.structured_content
    return content.text


class Pipeline:
    """A pipeline, its agents and its person."""

    def __init__(self, place, name, effort, script, way=""):
        self.place = place
        self.workspace = place.folder / ".specs" / f"20260101-{name}"
        self.effort = effort
        self.script = {it: list(texts) for it, texts in script.items()}
        self.wanted = way.split()
        self.way = []

    def state(self):
        return json.loads((self.workspace / "state.json").read_text(encoding="utf-8"))

    def plain(self):
        """Returns the state without times and paths."""
        text = (self.workspace / "state.json").read_text(encoding="utf-8")
        return TIME.sub("TIME", text).replace(str(self.place.folder), "FOLDER")

    async def begin(self, client):
        """Has it set up: first the question, then the answer."""
        about = {"workspace": f".specs/{self.workspace.name}", "task_text": "Add thing xx"}
        about["flags"] = {"skip_pr": True}
        asked = await ask(client, "pipeline_init_with_context", **about)
        assert asked["needs_user_confirmation"]["detected_effort"] == "M", asked
        assert not self.workspace.exists(), "a question wrote something"
        about["user_confirmation"] = {"effort": self.effort, "use_current_branch": True}
        begun = await ask(client, "pipeline_init_with_context", **about)
        assert begun["ready"] and begun["effort"] == self.effort, begun

    async def go(self, client, **arguments):
        """Asks for the next action; after a review that sends its subject back, once more."""
        about = {"workspace": str(self.workspace), **arguments}
        action = await ask(client, "pipeline_next_action", **about)
        if action["type"] == "":
            assert action["report_result"]["next_action_hint"] == "revision_required", action
            assert action["report_result"]["verdict_parsed"] == "REVISE", action
            return await self.go(client)
        return action

    def say(self, name, usual):
        return self.script[name].pop(0) if self.script.get(name) else usual

    def write(self, name):
        """Is an agent that writes its file, and an implementer changes the code too."""
        usual = "## Verdict: PASS\n" if name.startswith("review-") else f"{name}, at length.\n"
        text = self.say(name, DEFAULTS.get(name, usual))
        (self.workspace / name).write_text(text, encoding="utf-8")
        if name.startswith("impl-"):
            part = self.place.folder / name.replace("impl-", "part-").replace(".md", ".txt")
            with part.open("a", encoding="utf-8") as code:
                code.write("a line\n")
        return name.removesuffix(".md")

    def act(self, action):
        """Does what an action asks for, and returns what to call with then."""
        match action["type"]:
            case "spawn_agent":
                assert action["agent"] in action["prompt"], action
                tasks = action.get("parallel_tasks") or [action]
                self.way.append("+".join([self.write(it["output_file"]) for it in tasks]))
                return SPENT
            case "write_file":
                path = pathlib.Path(action["path"])
                path.write_text(action["content"], encoding="utf-8")
                self.way.append(f"{path.stem}=")
                return SPENT
            case "checkpoint" | "human_gate":
                assert action["present_to_user"], action
                answer = self.say(action["name"], action["options"][0])
                self.way.append(f"{action['name']}={answer}")
                return {"user_response": answer}
        assert action["type"] == "done", action
        self.way.append("done")
        return None

    async def run(self, client):
        """Does what it is told until it is told that all is done, and returns that."""
        action = await self.go(client)
        while answer := self.act(action):
            action = await self.go(client, **answer)
        return action

    def check_end(self, action):
        assert action["summary"] == "pipeline completed", action
        assert self.way == self.wanted, f"{self.effort} went another way:\n{' '.join(self.way)}"
        assert not any(self.script.values()), self.script
        state = self.state()
        agents = [it for it in self.way if it == "tasks=" or "=" not in it][:-1]
        assert sum(it["tokens"] for it in state["phaseLog"]) == 1000 * len(agents), state
        assert (state["currentPhase"], state["currentPhaseStatus"]) == ("completed",) * 2, state
        # A small one has no reviews.
        passed = {it["reviewStatus"] for it in state["tasks"].values()}
        assert self.effort == "S" or passed == {"completed_pass"}, state
