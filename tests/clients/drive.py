"""Works whole workflows from start to end with the Python SDK: in every era of the protocol, over
standard input and output and over HTTP.

    drive.py BINARY
"""

import asyncio
import contextlib
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
from typing import Any, Literal

from mcp import Client, StdioServerParameters
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import (
    ElicitResult,
    PromptReference,
    Request,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
    Result,
)

from person import TOKEN, acting
from pydantic import TypeAdapter

BINARY = sys.argv[1]
WORKFLOWS = str(pathlib.Path(__file__).resolve().parent / "workflows")
MODES = ("auto", "legacy", "2026-07-28")
MODERN = "2026-07-28"
SEED_TOOLS = {
    "list_workflows",
    "start_workflow",
    "get_workflow_status",
    "advance_workflow",
    "resume_workflow",
}
# How long anything may take before the test gives up, in seconds.
PATIENCE = 30

# Watching resources one by one is of the older era, which is tested here too.
warnings.filterwarnings("ignore", category=MCPDeprecationWarning)


class Complaints(logging.Handler):
    """What the SDK remarks on of its own accord."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.heard = []

    def emit(self, record):
        self.heard.append(record.getMessage())


class Place:
    """A project of its own, and a way to a server for it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "WORKFLOW_DEFINITIONS_DIR": WORKFLOWS,
            "LOG_LEVEL": "warn",
        }

    def start(self):
        pass

    def kill(self):
        pass

    async def approve(self, run):
        """Has a person approve by their token: in another process than the server's."""
        command = [BINARY, "gate", "approve", "--yes", run]
        options = {"cwd": self.folder, "env": acting(self.environment), "check": True}
        await asyncio.to_thread(subprocess.run, command, stdout=subprocess.DEVNULL, **options)


class Stdio(Place):
    """Every client starts a server for itself."""

    name = "stdio"

    def target(self):
        return StdioServerParameters(
            command=BINARY, args=["mcp"], env=self.environment, cwd=str(self.folder)
        )


class Http(Place):
    """One server for all clients. Killed and started again, it is found where it was."""

    name = "http"
    address = "127.0.0.1:0"

    def start(self):
        command = [BINARY, "serve", "--json", "--address", self.address]
        self.server = subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        )
        said = json.loads(self.server.stdout.readline())
        self.address = said["address"].removeprefix("http://")
        self.endpoint = said["mcp"]

    def kill(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()

    def target(self):
        """Over HTTP the client that a person runs shows it by their token."""
        acting(self.environment)
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"})
        return streamable_http_client(self.endpoint, http_client=http)


class Person:
    """Answers what the client shows, as the test says beforehand."""

    def __init__(self):
        self.will = []
        self.asked = []

    async def __call__(self, context, params):
        self.asked.append(params)
        return self.will.pop(0)

    def says(self, action, answer=None):
        content = {"answer": answer} if answer else None
        self.will.append(ElicitResult(action=action, content=content))


class Agent:
    """A client that checks every answer on the way in."""

    def __init__(self, client, person, updates):
        self.client = client
        self.person = person
        self.updates = updates

    async def ask(self, tool, progress=None, **arguments):
        result = await self.client.call_tool(tool, arguments, progress_callback=progress)
        value = result.structured_content
        # What the server noticed besides comes in a block of its own.
        assert all(it.text.startswith("Noticed:") for it in result.content[1:]), result.content
        assert json.loads(result.content[0].text) == value, f"{tool}: text and data differ"
        return bool(result.is_error), value

    async def done(self, tool, progress=None, **arguments):
        is_error, value = await self.ask(tool, progress, **arguments)
        assert not is_error, f"{tool} refused: {value}"
        return value

    async def refused(self, code, tool, **arguments):
        is_error, value = await self.ask(tool, **arguments)
        assert is_error, f"{tool} did not refuse: {value}"
        assert value["refusal"]["code"] == code, value
        assert value["refusal"]["message"] and value["refusal"]["hint"], value
        return value

    async def read(self, uri):
        contents = (await self.client.read_resource(uri)).contents
        assert [it.uri for it in contents] == [uri], contents
        return json.loads(contents[0].text)

    @contextlib.asynccontextmanager
    async def watching(self, uri):
        """Yields a way to wait until the server says that a resource has changed."""
        if self.client.protocol_version == MODERN:
            async with self.client.listen(resource_subscriptions=[uri]) as heard:
                assert list(heard.honored.resource_subscriptions) == [uri], heard.honored
                events = aiter(heard)

                async def changed():
                    event = await anext(events)
                    assert isinstance(event, ResourceUpdated), event
                    return event.uri

                yield changed
            return
        await self.client.subscribe_resource(uri)

        async def changed():
            return await self.updates.get()

        yield changed
        await self.client.unsubscribe_resource(uri)


@contextlib.asynccontextmanager
async def connected(place, mode, extensions=None):
    person, updates = Person(), asyncio.Queue()

    async def heard(message):
        if isinstance(message, ResourceUpdatedNotification):
            updates.put_nowait(str(message.params.uri))

    client = Client(
        place.target(),
        mode=mode,
        elicitation_callback=person,
        message_handler=heard,
        extensions=extensions,
    )
    async with client:
        yield Agent(client, person, updates)
    assert not person.will, "the person was not asked"


def report(run, step):
    return {"instance_id": run, "report": {"step_id": step, "status": "success"}}


async def release(agent, place):
    """Refusals, an answer that the agent passes on, and one that a person gives elsewhere."""
    tools = (await agent.client.list_tools()).tools
    names = {tool.name for tool in tools}
    assert SEED_TOOLS <= names and len(names) <= 12, names
    listed = await agent.done("list_workflows")
    assert "RELEASE" in [it["name"] for it in listed["workflows"]], listed
    refusal = await agent.refused("workflow_unknown", "start_workflow", workflow_name="NOPE")
    assert refusal["error"].startswith("Failed to start workflow 'NOPE':"), refusal

    start = {"workflow_name": "RELEASE", "context": {"release": "1.0"}, "request_id": "first"}
    begun = await agent.done("start_workflow", **start)
    assert await agent.done("start_workflow", **start) == begun
    assert await agent.done("start_workflow", input_data=start) == begun
    run = begun["instance_id"]
    assert begun["next_step"]["step_name"] == "Plan", begun
    assert begun["current_context"] == {"release": "1.0"}, begun

    # A gate that takes what the agent passes on.
    waits = await agent.done("advance_workflow", **report(run, "Plan"))
    assert waits["status"] == "SUSPENDED" and waits["next_step"] is None, waits
    assert waits["waiting"]["answers"] == "relayed", waits
    assert "1.0" in waits["waiting"]["ask"], waits
    await agent.refused("gate_open", "advance_workflow", **report(run, "Plan"))
    answered = await agent.done("answer_gate", instance_id=run, answer="approve", person="ann")
    assert answered["status"] == "RUNNING", answered

    # An artifact that the server looks for itself.
    await agent.refused("artifact_missing", "advance_workflow", **report(run, "Write"))
    (place.folder / "notes.md").write_text("# Notes\n\n## Changes\n\n- All new.\n")
    moved = await agent.done("advance_workflow", **report(run, "Write"))
    assert moved["next_step"]["step_name"] == "Publish", moved

    # A gate that only a person can answer.
    waits = await agent.done("advance_workflow", **report(run, "Publish"))
    assert waits["waiting"]["answers"] == "verified", waits
    answer = {"instance_id": run, "answer": "approve", "person": "ann"}
    await agent.refused("gate_needs_person", "answer_gate", **answer)
    waiting = asyncio.create_task(
        agent.done("get_workflow_status", instance_id=run, wait_seconds=30, after_seq=waits["seq"])
    )
    await place.approve(waits["run"])
    woken = await waiting
    assert woken["status"] == "RUNNING" and woken["current_step_name"] == "Announce", woken

    ended = await agent.done("advance_workflow", **report(run, "Announce"))
    assert ended["status"] == "COMPLETED", ended
    assert ended["next_step"]["step_name"] == "FINISH", ended
    status = await agent.done("get_workflow_status", instance_id=run, include_history=True)
    answers = [it for it in status["history"] if it["kind"] == "GateAnswered"]
    assert len(answers) == 2, status
    note = {"instance_id": run, "type": "note", "text": "It went surprisingly well."}
    await agent.done("record_entry", **note)
    found = await agent.done("search_history", query="surprisingly")
    assert [it["instance_id"] for it in found["hits"]] == [run], found


async def begin_rollout(agent, place):
    """Begins a run and comes to its first gate."""
    begun = await agent.done(
        "start_workflow", workflow_name="ROLLOUT", context={"target": "staging"}
    )
    run = begun["run"]
    (place.folder / "rollout.md").write_text("# Rollout\n\nBack with one command.\n")
    moved = await agent.done("advance_workflow", **report(run, "Prepare"))
    assert moved["next_step"]["step_name"] == "Sign", moved
    waits = await agent.done("advance_workflow", **report(run, "Sign"))
    assert waits["status"] == "SUSPENDED" and waits["waiting"]["answers"] == "verified", waits
    return run


async def rollout(agent, place):
    """Everything beside the tools, and gates that the client itself puts to the person."""
    client, person = agent.client, agent.person
    prompts = {it.name: it for it in (await client.list_prompts()).prompts}
    wanted = {it.name: it.required for it in prompts["ROLLOUT"].arguments}
    assert wanted == {"target": True, "version": False}, wanted
    said = (await client.get_prompt("ROLLOUT", {"target": "staging"})).messages
    assert len(said) == 1 and '"target":"staging"' in said[0].content.text, said
    found = await client.complete(
        PromptReference(name="ROLLOUT"), {"name": "target", "value": "pro"}
    )
    assert found.completion.values == ["production"], found
    step = ResourceTemplateReference(uri="milepost://workflows/{workflow}/steps/{step}")
    typed, beside = {"name": "step", "value": "r"}, {"workflow": "ROLLOUT"}
    found = await client.complete(step, typed, context_arguments=beside)
    assert found.completion.values == ["Roll out"], found

    run = await begin_rollout(agent, place)
    uri = f"milepost://runs/{run}"
    templates = (await client.list_resource_templates()).resource_templates
    assert "milepost://runs/{run}" in [it.uri_template for it in templates], templates
    found = await client.complete(
        ResourceTemplateReference(uri="milepost://runs/{run}"), {"name": "run", "value": run[:6]}
    )
    assert run in found.completion.values, found
    assert uri in [it.uri for it in (await client.list_resources()).resources]
    status = await agent.done("get_workflow_status", instance_id=run)
    # A tool's hint says how this client reaches the person; a resource is read by anyone.
    record = await agent.read(uri)
    for told in (record, status):
        assert told["waiting"].pop("hint"), told
    assert record == status, (record, status)

    # A person who declines, or looks away, has not answered: the gate stays open.
    for times, action in enumerate(("decline", "cancel"), 1):
        person.says(action)
        silent = await agent.done("answer_gate", instance_id=run)
        assert silent["status"] == "SUSPENDED", silent
        assert "the gate stays open" in json.dumps(silent["warnings"]), silent
        assert len(person.asked) == times, person.asked
    shown = person.asked[0]
    assert "staging" in shown.message and "rollout.md" in shown.message, shown
    assert (await agent.read(uri))["status"] == "SUSPENDED"
    person.says("accept", "approve")
    moved = await agent.done("answer_gate", instance_id=run)
    assert moved["status"] == "RUNNING", moved
    assert moved["next_step"]["step_name"] == "Roll out", moved
    history = await agent.read(f"{uri}/history")
    answered = [it for it in history["events"] if it["kind"] == "GateAnswered"]
    assert len(answered) == 1, history

    # A wait that tells how it goes, and news that another process makes.
    waits = await agent.done("advance_workflow", **report(run, "Roll out"))
    assert waits["status"] == "SUSPENDED", waits
    told, is_told = [], asyncio.Event()

    async def progress(done, total, message):
        told.append(done)
        is_told.set()

    async with agent.watching(uri) as changed:
        wait = {"instance_id": run, "wait_seconds": 50, "after_seq": waits["seq"]}
        waiting = asyncio.create_task(agent.done("get_workflow_status", progress, **wait))
        await is_told.wait()
        await place.approve(run)
        assert await changed() == uri
        woken = await waiting
    assert told == sorted(set(told)), f"progress goes back: {told}"
    assert woken["status"] == "COMPLETED", woken
    assert (await agent.read(uri))["status"] == "COMPLETED"


class Task(Result):
    """What a server answers with that goes on without the client."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: str


class Tasks(ClientExtension):
    """Says that the client looks after tasks; the test does it itself."""

    identifier = "io.modelcontextprotocol/tasks"

    def claims(self):
        async def never(task, context):
            raise AssertionError("the test looks after tasks itself")

        return [ResultClaim(result_type="task", model=Task, resolve=never)]


class TaskRequest(Request[dict[str, Any], str]):
    """`tasks/get` and `tasks/update`."""

    name_param = "taskId"


ANYTHING = TypeAdapter(dict[str, Any])


async def wait_as_task(agent, run):
    arguments = {"instance_id": run, "wait_seconds": 50}
    task = await agent.client.session.call_tool(
        "get_workflow_status", arguments, allow_claimed=True
    )
    assert isinstance(task, Task), task
    assert task.status == "working" and task.task_id.startswith(f"{run}@"), task
    return task.task_id


async def ask_task(agent, method, **params):
    request = TaskRequest(method=method, params=params)
    return await agent.client.session.send_request(request, ANYTHING)


async def survive(place, mode):
    """A wait as a task is still there after the server was killed, and after another time."""
    async with connected(place, mode, [Tasks()]) as agent:
        run = await begin_rollout(agent, place)
        task = await wait_as_task(agent, run)
        place.kill()
    place.start()
    async with connected(place, mode, [Tasks()]) as agent:
        asks = await ask_task(agent, "tasks/get", taskId=task)
        assert asks["status"] == "input_required", asks
        [(key, question)] = asks["inputRequests"].items()
        assert question["method"] == "elicitation/create", question
        declined = {key: {"action": "decline"}}
        await ask_task(agent, "tasks/update", taskId=task, inputResponses=declined)
        # That nobody answered is news too: the wait ends with it, and the next one asks again.
        ended = await ask_task(agent, "tasks/get", taskId=task)
        assert ended["status"] == "completed", ended
        assert ended["result"]["structuredContent"]["status"] == "SUSPENDED", ended
        task = await wait_as_task(agent, run)
        [key] = (await ask_task(agent, "tasks/get", taskId=task))["inputRequests"]
        # Nobody approves what they were not shown.
        approval = {"action": "accept", "content": {"answer": "approve"}}
        (place.folder / "rollout.md").write_text("# Another rollout\n")
        await ask_task(agent, "tasks/update", taskId=task, inputResponses={key: approval})
        asks = await ask_task(agent, "tasks/get", taskId=task)
        assert asks["status"] == "input_required" and key not in asks["inputRequests"], asks
        [key] = asks["inputRequests"]
        await ask_task(agent, "tasks/update", taskId=task, inputResponses={key: approval})
        ended = await ask_task(agent, "tasks/get", taskId=task)
        assert ended["status"] == "completed", ended
        assert ended["result"]["structuredContent"]["status"] == "RUNNING", ended

        await agent.done("advance_workflow", **report(run, "Roll out"))
        task = await wait_as_task(agent, run)
        place.kill()
    await place.approve(run)
    place.start()
    async with connected(place, mode, [Tasks()]) as agent:
        ended = await ask_task(agent, "tasks/get", taskId=task)
        assert ended["status"] == "completed", ended
        assert ended["result"]["structuredContent"]["status"] == "COMPLETED", ended


async def drive(kind, mode):
    with tempfile.TemporaryDirectory() as name:
        place = kind(name)
        place.start()
        complaints = Complaints()
        logging.getLogger().addHandler(complaints)
        try:
            async with asyncio.timeout(PATIENCE):
                async with connected(place, mode) as agent:
                    version = agent.client.protocol_version
                    await release(agent, place)
                    await rollout(agent, place)
            assert not complaints.heard, complaints.heard
            if version == MODERN:
                async with asyncio.timeout(PATIENCE):
                    await survive(place, mode)
        finally:
            logging.getLogger().removeHandler(complaints)
            place.kill()
    tasks = "with tasks" if version == MODERN else "without tasks, which its era has not"
    print(f"python sdk, {kind.name}, mode {mode}: whole runs in revision {version}, {tasks}")


async def main():
    for kind in (Stdio, Http):
        for mode in MODES:
            await drive(kind, mode)


asyncio.run(main())
