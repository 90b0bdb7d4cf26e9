"""Follows the README literally, on a machine with an empty home and in an empty project: from the
first command to a finished run, with a kill, a resume and an approval in between.

    newcomer.py BINARY

The person types what the README's blocks have, at a terminal, and says to the agent what its quotes
have. The agent is the Python SDK: it calls what the server's answers name, and claims before it
works.
"""

import asyncio
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from mcp import StdioServerParameters

from console import consoles
from fresh import Fresh
from places import connected
from scenarios import written

BINARY = sys.argv[1]
README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
# What the README has its reader say to the agent.
SAID = re.compile(r"^> (.+)$", re.MULTILINE)
START = re.compile(r"start the workflow `([^`]+)` with the key `([^`]+)`: (.+)\.$")
RESUME = re.compile(r"Resume the Milepost run `([^`]+)`\.$")
FEEDBACK = re.compile(r'--feedback "([^"]+)"')
PATIENCE = 300
# How far an agent is when its server is killed.
HALF = "The goal and the criteria are written; the steps are missing."


class Machine(Fresh):
    """Knows the process of the server, so that it can be killed."""

    # What the agent writes into files that it is asked for.
    contents = {}

    @property
    def pid(self):
        return self.home / "server.pid"

    @contextlib.contextmanager
    def served(self):
        with super().served() as server:
            line = ["-c", 'echo $$ >"$0"; exec "$@"', str(self.pid)]
            args = [*line, server.command, *server.args]
            yield StdioServerParameters(command="sh", args=args, env=server.env, cwd=server.cwd)

    def kill(self):
        os.kill(int(self.pid.read_text(encoding="utf-8")), signal.SIGKILL)

    @contextlib.asynccontextmanager
    async def agent(self):
        """Yields an agent that knows nothing, with a server that its client started for it."""
        async with connected(self, "auto") as client:
            yield Agent(client)

    def piped(self, command):
        """Has something without a terminal run a command, and returns how that ended."""
        words = ["sh", "-c", command]
        options = {"cwd": self.folder, "env": self.environment, "stdin": subprocess.DEVNULL}
        return subprocess.run(words, capture_output=True, text=True, check=False, **options)


class Agent:
    """Calls tools, and does what their answers say."""

    def __init__(self, client):
        self.client = client

    async def call(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        return bool(result.is_error), result.structured_content

    async def done(self, tool, **arguments):
        is_error, answer = await self.call(tool, **arguments)
        assert not is_error, f"{tool} refused: {answer}"
        return answer

    async def report(self, run, step, **more):
        report = {"step_id": step["step_name"], "status": "success", **more}
        return await self.call("advance_workflow", instance_id=run, report=report)

    async def claims(self, run, step):
        """Claims that a step is done, and returns why that is refused."""
        evidence = dict.fromkeys(step.get("criteria", {}), "done")
        details = {"evidence": evidence}
        is_error, answer = await self.report(run, step, result="done", details=details)
        assert is_error, f"a claim was believed at {step['step_name']}: {answer}"
        return answer["refusal"]

    async def works(self, place, run, step):
        """Does what a step asks for, and reports it."""
        for path in step.get("produces", []):
            place.write(path, place.contents[path])
        evidence = {key: f"Seen: {text}" for key, text in step.get("criteria", {}).items()}
        details = {"evidence": evidence}
        is_error, answer = await self.report(run, step, result="As planned.", details=details)
        assert not is_error, f"{step['step_name']} was refused: {answer}"
        return answer


class Reader:
    """Goes through the README's blocks and quotes from its start to its end."""

    def __init__(self, place):
        self.place = place
        self.blocks = consoles(README)
        self.said = SAID.findall(README.read_text(encoding="utf-8"))

    def turn(self, *begins):
        """Returns the commands of the next block, which must begin like this."""
        block = self.blocks.pop(0)
        typed = block.commands
        are_these = len(typed) == len(begins) and all(map(str.startswith, typed, begins))
        assert are_these, f"README.md:{block.line}: {typed} instead of {begins}"
        return typed

    def type(self, *begins):
        """Types the next block, and returns what is shown."""
        return self.place.type(*self.turn(*begins))

    def say(self, pattern):
        """Returns what the next sentence to the agent names."""
        said = self.said.pop(0)
        found = pattern.search(said)
        assert found, f"README.md: {said!r} does not tell the agent enough"
        return found.groups()


async def follow(place):
    reader = Reader(place)
    reader.type("milepost demo")
    reader.type("milepost setup claude")
    assert place.entry()["command"] == "milepost", place.entry()

    # Give it work, watch it, and kill the server in the middle of a step.
    workflow, run, task = reader.say(START)
    place.contents = written(workflow, run)
    async with place.agent() as agent:
        step = await begin(agent, workflow, run, task)
        watched = reader.type("milepost run list", "milepost run show")
        assert run in watched and step["step_name"] in watched, watched
        place.kill()
    shown = reader.type("milepost run show")
    assert "running" in shown and HALF in shown, shown

    # Another process resumes it at the same step, with the brief that the terminal prints.
    assert reader.say(RESUME) == (run,)
    async with place.agent() as agent:
        resumed = await agent.done("resume_workflow", instance_id=run)
        assert resumed["next_step"] == step, (resumed["next_step"], step)
        assert HALF in resumed["brief"], resumed["brief"]
        printed = reader.type("milepost brief")
        assert printed.split() == resumed["brief"].split(), f"{printed}\n{resumed['brief']}"
        answer = await agent.works(place, run, step)
        assert answer["status"] == "SUSPENDED", answer
        await only_a_person_approves(place, reader, agent, run)
        steps = await finish(place, agent, run)

    # Look at what happened.
    looked = reader.type("milepost run history", "milepost search")
    assert all(f"`{it}`" in looked for it in [step["step_name"], *steps]), looked
    shown = place.type(f"milepost run show {run}")
    assert "completed" in shown and f"✓ {steps[-1]}" in shown, shown
    reader.type("milepost workflow new", "milepost workflow check", "milepost workflow show")
    assert not reader.blocks and not reader.said, (reader.blocks, reader.said)
    return [step["step_name"], *steps]


async def begin(agent, workflow, run, task):
    """Starts the run, claims that its first step is done, and says how far the work is."""
    context = {"task": task}
    begun = await agent.done("start_workflow", workflow_name=workflow, key=run, context=context)
    step = begun["next_step"]
    refusal = await agent.claims(run, step)
    assert refusal["code"] == "artifact_missing", refusal
    [path] = step["produces"]
    assert path in refusal["message"], refusal
    is_error, answer = await agent.report(run, step, status="in_progress", result=HALF)
    assert not is_error, answer
    return step


async def only_a_person_approves(place, reader, agent, run):
    """Nobody but the person gets past the gate, who sends the plan back once before."""
    is_error, answer = await agent.call("answer_gate", instance_id=run, answer="approve")
    assert is_error and answer["refusal"]["code"] == "gate_needs_person", answer
    show, approve = reader.turn("milepost gate show", "milepost gate approve")
    piped = place.piped(approve)
    assert piped.returncode != 0 and "only a person can answer" in piped.stderr, piped
    question = place.type(show)
    assert "AC-1" in question, question

    [reject] = reader.turn("milepost gate reject")
    place.type(reject)
    [feedback] = FEEDBACK.findall(reject)
    again = await agent.done("get_workflow_status", instance_id=run)
    assert again["next_step"]["feedback"] == feedback, again
    answer = await agent.works(place, run, again["next_step"])
    assert answer["status"] == "SUSPENDED", answer
    place.type(approve)


async def finish(place, agent, run):
    """Works on step after step to the end, claiming each one first, and returns their names."""
    answer = await agent.done("get_workflow_status", instance_id=run)
    steps = []
    while answer["status"] == "RUNNING":
        step = answer["next_step"]
        steps.append(step["step_name"])
        await agent.claims(run, step)
        answer = await agent.works(place, run, step)
    assert answer["status"] == "COMPLETED", answer
    return steps


async def main():
    with tempfile.TemporaryDirectory() as folder:
        async with asyncio.timeout(PATIENCE):
            steps = await follow(Machine(BINARY, folder))
    print(f"newcomer: the README leads to a run that is killed, resumed, approved: {', '.join(steps)}")


asyncio.run(main())
