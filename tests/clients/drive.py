"""Works a whole workflow from start to end with the Python SDK, in every era of the protocol.

    drive.py BINARY
"""

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from mcp import Client, StdioServerParameters

BINARY = sys.argv[1]
WORKFLOWS = str(pathlib.Path(__file__).resolve().parent / "workflows")
MODES = ("auto", "legacy", "2026-07-28")
SEED_TOOLS = {
    "list_workflows",
    "start_workflow",
    "get_workflow_status",
    "advance_workflow",
    "resume_workflow",
}


class Agent:
    """A client that checks every answer on the way in."""

    def __init__(self, client):
        self.client = client

    async def ask(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        value = result.structured_content
        assert len(result.content) == 1, result.content
        assert json.loads(result.content[0].text) == value, f"{tool}: text and data differ"
        return bool(result.is_error), value

    async def done(self, tool, **arguments):
        is_error, value = await self.ask(tool, **arguments)
        assert not is_error, f"{tool} refused: {value}"
        return value

    async def refused(self, code, tool, **arguments):
        is_error, value = await self.ask(tool, **arguments)
        assert is_error, f"{tool} did not refuse: {value}"
        assert value["refusal"]["code"] == code, value
        assert value["refusal"]["message"] and value["refusal"]["hint"], value
        return value


async def work(agent, folder, environment):
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

    def report(step):
        return {"instance_id": run, "report": {"step_id": step, "status": "success"}}

    # A gate that takes what the agent passes on.
    waits = await agent.done("advance_workflow", **report("Plan"))
    assert waits["status"] == "SUSPENDED" and waits["next_step"] is None, waits
    assert waits["waiting"]["answers"] == "relayed", waits
    assert "1.0" in waits["waiting"]["ask"], waits
    await agent.refused("gate_open", "advance_workflow", **report("Plan"))
    answered = await agent.done("answer_gate", instance_id=run, answer="approve", person="ann")
    assert answered["status"] == "RUNNING", answered

    # An artifact that the server looks for itself.
    await agent.refused("artifact_missing", "advance_workflow", **report("Write"))
    (folder / "notes.md").write_text("# Notes\n\n## Changes\n\n- All new.\n")
    moved = await agent.done("advance_workflow", **report("Write"))
    assert moved["next_step"]["step_name"] == "Publish", moved

    # A gate that only a person can answer.
    waits = await agent.done("advance_workflow", **report("Publish"))
    assert waits["waiting"]["answers"] == "verified", waits
    answer = {"instance_id": run, "answer": "approve", "person": "ann"}
    await agent.refused("gate_needs_person", "answer_gate", **answer)
    waiting = asyncio.create_task(
        agent.done("get_workflow_status", instance_id=run, wait_seconds=30, after_seq=waits["seq"])
    )
    approve = [BINARY, "gate", "approve", "--yes", waits["run"]]
    await asyncio.to_thread(
        subprocess.run, approve, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL
    )
    woken = await waiting
    assert woken["status"] == "RUNNING" and woken["current_step_name"] == "Announce", woken

    ended = await agent.done("advance_workflow", **report("Announce"))
    assert ended["status"] == "COMPLETED", ended
    assert ended["next_step"]["step_name"] == "FINISH", ended
    status = await agent.done("get_workflow_status", instance_id=run, include_history=True)
    answers = [it for it in status["history"] if it["kind"] == "GateAnswered"]
    assert len(answers) == 2, status
    note = {"instance_id": run, "type": "note", "text": "It went surprisingly well."}
    await agent.done("record_entry", **note)
    found = await agent.done("search_history", query="surprisingly")
    assert [it["instance_id"] for it in found["hits"]] == [run], found


async def main():
    for mode in MODES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": name,
                "WORKFLOW_DEFINITIONS_DIR": WORKFLOWS,
                "LOG_LEVEL": "warn",
            }
            server = StdioServerParameters(
                command=BINARY, args=["mcp"], env=environment, cwd=name
            )
            async with Client(server, mode=mode) as client:
                await work(Agent(client), folder, environment)
                version = getattr(client, "protocol_version", None)
            print(f"python sdk, mode {mode}: a whole run in revision {version}")


asyncio.run(main())
