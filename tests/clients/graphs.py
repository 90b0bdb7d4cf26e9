"""Walks through a graph that comes with the program: found, started, left and taken up again, with
evidence for every criterion and the approvals that it asks for, and found again by its words."""

import json
import re

from places import connected

TOOLS = {
    "workflow_guidance",
    "workflow_state",
    "workflow_discovery",
    "workflow_creation_guidance",
    "workflow_cache_management",
    "workflow_semantic_search",
}
NAME = "Approval Example Workflow"
TASK = "Move: the shop | to the harbour"
# The nodes on the way, and whether a person has to agree before they are left.
WAY = {
    "analyze": False,
    "plan_with_approval": True,
    "implement": False,
    "review_for_deployment": True,
    "deploy": False,
    "complete": False,
}


class Walker:
    """A client that compares every answer with the file of its session."""

    def __init__(self, client, folder):
        self.client = client
        self.folder = folder / ".accordo" / "sessions"

    async def ask(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        value = result.structured_content
        # What the server noticed besides comes in a block of its own.
        assert all(it.text.startswith("Noticed:") for it in result.content[1:]), result.content
        assert json.loads(result.content[0].text) == value, f"{tool}: text and data differ"
        assert bool(result.is_error) == ("refusal" in value), value
        return bool(result.is_error), value

    async def done(self, tool, *parts, **arguments):
        is_error, value = await self.ask(tool, **arguments)
        assert not is_error, f"{tool} refused: {value}"
        for part in parts:
            assert part in value["content"], f"no {part!r} in:\n{value['content']}"
        return value

    async def guide(self, session, *parts, **arguments):
        arguments |= {"task_description": TASK, "session_id": session}
        value = await self.done("workflow_guidance", *parts, **arguments)
        assert value["session_id"] == session and value["ok"] is True, value
        return value["content"]

    def record(self, session):
        """Returns what the file of a session says."""
        [file] = self.folder.glob(f"{session}_*.json")
        return json.loads(file.read_text(encoding="utf-8"))

    def check(self, session, node, status):
        record = self.record(session)
        assert (record["current_node"], record["status"]) == (node, status), record
        return record


def criteria(view):
    """Returns the criteria that the view of a node lists."""
    [listed] = re.findall(r"\*\*📋 ACCEPTANCE CRITERIA:\*\*\n((?:- .*\n)+)", view)
    return re.findall(r"^- (\w+): ", listed, re.MULTILINE)


async def begin(walker):
    """Finds the workflow, and starts it."""
    found = await walker.done("workflow_discovery", task_description=TASK)
    assert found["status"] == "workflows_discovered", found
    known = found["available_workflows"][NAME]
    assert (known["node_names"], known["root_node"]) == (list(WAY), "analyze"), known
    is_error, value = await walker.ask("workflow_guidance", task_description=TASK, action="build")
    assert is_error and value["error_code"] == "NO_SESSION", value
    value = await walker.done(
        "workflow_guidance",
        f"🚀 **Workflow Started:** {NAME}",
        task_description=TASK,
        action="start",
        context=f"workflow: {NAME}",
    )
    record = walker.check(value["session_id"], "analyze", "READY")
    assert record["inputs"]["task_description"] == TASK, record
    return value["session_id"]


async def leave(walker, session, node, following):
    """Does the work of a node, and goes on to the next."""
    view = await walker.guide(session, f"**📍 Node:** {node}\n")
    assert ("⚠️ APPROVAL REQUIRED" in view) is WAY[node], view
    wanted = criteria(view)
    evidence = {it: f"{node}: {it} was looked at by the lantern keeper" for it in wanted}
    choice = {"choose": following, "criteria_evidence": evidence}
    arguments = {"task_description": TASK, "session_id": session}
    is_error, value = await walker.ask("workflow_guidance", context="choose: nowhere", **arguments)
    assert is_error and value["error_code"] == "INVALID_CHOICE", value
    empty = choice | {"criteria_evidence": {wanted[0]: " "}, "user_approval": True}
    is_error, value = await walker.ask("workflow_guidance", context=json.dumps(empty), **arguments)
    assert is_error and value["error_code"] == "EMPTY_EVIDENCE", value
    if WAY[node]:
        for answer in ({}, {"user_approval": False}, {"user_approval": "true"}):
            context = json.dumps(choice | answer)
            is_error, value = await walker.ask("workflow_guidance", context=context, **arguments)
            assert is_error and value["error_code"] == "APPROVAL_REQUIRED", value
        choice["user_approval"] = True
    assert walker.record(session)["current_node"] == node
    said = f"✅ **Transitioned to:** {following.upper()}"
    await walker.guide(session, said, context=json.dumps(choice))
    record = walker.check(session, following, "RUNNING")
    assert record["node_outputs"][node]["completed_criteria"] == evidence, record
    assert record["node_history"] == list(WAY)[: list(WAY).index(following)], record


async def finish(walker, session):
    """Does the work of the last node, which ends the session, and looks for what was done."""
    view = await walker.guide(session, "This is a terminal node")
    evidence = {it: f"{it}: the harbour master knows" for it in criteria(view)}
    await walker.guide(session, "COMPLETED", context=json.dumps({"criteria_evidence": evidence}))
    record = walker.check(session, "complete", "COMPLETED")
    assert record["node_outputs"]["complete"]["completed_criteria"] == evidence, record
    assert sum("USER APPROVAL GRANTED" in it for it in record["log"]) == sum(WAY.values()), record
    arguments = {"task_description": TASK, "session_id": session, "context": "choose: deploy"}
    is_error, value = await walker.ask("workflow_guidance", **arguments)
    assert is_error and value["error_code"] == "SESSION_CLOSED", value


async def search(walker, session):
    """Finds the session by its words, beside another that has nothing to do with it."""
    other = await walker.done(
        "workflow_guidance",
        task_description="Bake: bread",
        action="start",
        context="workflow: Simple Linear Workflow",
    )
    update = {"log_entry": "sourdough rests over night"}
    await walker.done(
        "workflow_state",
        operation="update",
        session_id=other["session_id"],
        updates=json.dumps(update),
    )
    for query, wanted in (
        ("harbour lantern keeper", session),
        ("sourdough over night", other["session_id"]),
    ):
        found = await walker.done("workflow_semantic_search", "--- Result 1 ---", query=query)
        assert found["results"][0]["session_id"] == wanted, found
    listed = await walker.done("workflow_cache_management", operation="list")
    ids = {it["session_id"] for it in listed["results"]}
    assert ids == {session, other["session_id"]}, listed


async def walk(place, mode):
    """Has the whole way gone, with another server for each two nodes."""
    nodes = list(WAY)
    async with connected(place, mode) as client:
        session = await begin(Walker(client, place.folder))
    for half in (nodes[:3], nodes[2:5], nodes[4:]):
        async with connected(place, mode) as client:
            walker = Walker(client, place.folder)
            for node, following in zip(half, half[1:], strict=False):
                await leave(walker, session, node, following)
    async with connected(place, mode) as client:
        walker = Walker(client, place.folder)
        await finish(walker, session)
        await search(walker, session)
        return client.protocol_version
