"""Tells the whole life of a scene to the toolset `generation` with the Python SDK, in every era of
the protocol: steps, errors, an attempt that fails, an approval, a failure, a resume in another
process, and the end. The state file is read after every call.

    generation.py BINARY
"""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import sys
import tempfile

from mcp import Client, StdioServerParameters

BINARY = sys.argv[1]
MODES = ("auto", "legacy", "2026-07-28")
SCENE = "0204"
BLUEPRINT = "acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md"
FINAL = "acts/act-1/chapters/chapter-02/content/scene-0204.md"
REPORT = "workspace/artifacts/scene-0204/validation-report.md"
STEPS = {
    1: ("step_1_file_check", "File System Check"),
    2: ("step_2_blueprint_validation", "Blueprint Validation"),
    3: ("step_3_verification_plan", "Verification Plan"),
    4: ("step_4_generation", "Prose Generation"),
    5: ("step_5_fast_compliance", "Fast Compliance Check"),
    6: ("step_6_full_validation", "Full Validation"),
    7: ("step_7_final_output", "Final Output"),
}
TOOLS = {
    "resume_generation",
    "get_generation_status",
    "get_status",
    "cancel_generation",
    "list_generations",
    "start_generation",
    "start_step",
    "complete_step",
    "fail_step",
    "retry_step",
    "record_error",
    "fail_generation",
    "complete_generation",
    "log_question_answer",
}
# How long one life may take before the test gives up, in seconds.
PATIENCE = 60


class Agent:
    """A client that compares every answer with the state file."""

    def __init__(self, client, folder):
        self.client = client
        self.file = folder / "workspace" / f"generation-state-{SCENE}.json"

    def state(self):
        return json.loads(self.file.read_text(encoding="utf-8"))

    async def ask(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        value = result.structured_content
        # What the server noticed besides comes in a block of its own.
        assert all(it.text.startswith("Noticed:") for it in result.content[1:]), result.content
        assert value["result"] == result.content[0].text, f"{tool}: text and data differ"
        assert value["ok"] is (not result.is_error) or "INFO" in value["result"], value
        assert bool(result.is_error) == ("code" in (value.get("refusal") or {})), value
        return bool(result.is_error), value

    async def done(self, tool, *parts, status="IN_PROGRESS", step=None, **arguments):
        """Calls a tool that must do it, and returns what it says and what the file then has."""
        is_error, value = await self.ask(tool, scene_id=SCENE, **arguments)
        assert not is_error, f"{tool} refused: {value['result']}"
        for part in parts:
            assert part in value["result"], f"no {part!r} in:\n{value['result']}"
        state = self.state()
        assert state["scene_id"] == value["scene_id"] == SCENE, value
        assert state["workflow_status"] == value["workflow_status"] == status, (value, state)
        assert (state["current_step"] or 0) == (value["current_step"] or 0), (value, state)
        if step is not None:
            assert state["current_step"] == step, state
        return value, state

    async def refused(self, tool, part, **arguments):
        """Calls a tool that must refuse, and leave the file as it is."""
        before = self.file.read_bytes()
        is_error, value = await self.ask(tool, scene_id=SCENE, **arguments)
        assert is_error, f"{tool} did not refuse: {value['result']}"
        assert part in value["result"], f"no {part!r} in:\n{value['result']}"
        assert self.file.read_bytes() == before, f"{tool} changed the file"

    async def read(self, tool, *parts, **arguments):
        """Calls a tool that must only read."""
        before = self.file.read_bytes()
        value, _ = await self.done(tool, *parts, **arguments)
        assert self.file.read_bytes() == before, f"{tool} changed the file"
        return value

    async def start(self, number, status="IN_PROGRESS", **more):
        key, title = STEPS[number]
        arguments = {"step_number": number, "phase_name": title, **more}
        _, state = await self.done(
            "start_step", "STEP STARTED", title, status=status, step=number, **arguments
        )
        assert state["steps"][key]["status"] == "IN_PROGRESS", state
        assert state["current_phase"] == title, state
        return state

    async def complete(self, number, seconds, **artifacts):
        key, _ = STEPS[number]
        arguments = {"step_number": number, "duration_seconds": seconds, "artifacts": artifacts}
        _, state = await self.done(
            "complete_step", "STEP COMPLETED", step=min(number + 1, 7), **arguments
        )
        assert state["steps"][key]["status"] == "COMPLETED", state
        assert state["steps"][key]["duration_seconds"] == seconds, state
        assert artifacts.items() <= state["artifacts"].items(), state
        return state

    async def work(self, number, seconds, **artifacts):
        await self.start(number)
        return await self.complete(number, seconds, **artifacts)

    async def record_error(self, number, message, retry, total):
        _, state = await self.done(
            "record_error",
            f"Error Count: {total} total",
            step_number=number,
            error_type="location_constraint_violated",
            error_message=message,
            severity="HIGH",
            retry_count=retry,
        )
        last = state["errors"][-1]
        assert len(state["errors"]) == total, state
        assert (last["step"], last["message"], last["severity"]) == (number, message, "HIGH"), last
        return state


@contextlib.asynccontextmanager
async def connected(folder, mode):
    """Yields an agent with a server process of its own."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LOG_LEVEL": "warn"}
    arguments = ["mcp", "--toolset", "generation"]
    target = StdioServerParameters(
        command=BINARY, args=arguments, env=environment, cwd=str(folder)
    )
    async with Client(target, mode=mode) as client:
        yield Agent(client, folder)


def attempts(state):
    history = state["generation_attempts"]["attempts_history"]
    return [it["status"] for it in history]


async def begin(agent):
    """From the start to the failure."""
    names = {it.name for it in (await agent.client.list_tools()).tools}
    assert names == TOOLS, names
    is_error, empty = await agent.ask("list_generations")
    assert not is_error and empty["total"] == 0, empty
    assert not agent.file.exists()

    _, state = await agent.done(
        "start_generation", "GENERATION STARTED: Scene 0204", blueprint_path=BLUEPRINT
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d{6}-scene-0204", state["session_id"]), state
    assert state["artifacts"] == {"blueprint_path": BLUEPRINT}, state
    await agent.refused("start_step", "First step must be", step_number=2, phase_name="x")
    await agent.work(1, 1.5, constraints_list_path="workspace/artifacts/constraints.json")
    await agent.refused("start_step", "Step order violation", step_number=3, phase_name="x")
    await agent.work(2, 19.0)

    # A person looks at the plan.
    state = await agent.start(3, status="WAITING_USER_APPROVAL", awaiting_approval=True)
    assert len(state["user_interactions"]) == 1, state
    _, state = await agent.done(
        "log_question_answer",
        "Total Q&A entries: 1",
        status="WAITING_USER_APPROVAL",
        question="Approve verification plan for Step 3?",
        answer="Да, дальше",
    )
    assert state["user_questions"][0]["answer"] == "Да, дальше", state
    assert "Да, дальше" in agent.file.read_text(encoding="utf-8")
    state = await agent.complete(3, 12.0, verified_plan_path="workspace/artifacts/plan.json")
    assert len(state["user_interactions"]) == 2, state

    # The first draft does not pass the fast check, and is written again.
    state = await agent.start(4)
    assert attempts(state) == ["IN_PROGRESS"], state
    state = await agent.complete(4, 180.0, draft_path="workspace/artifacts/draft-1.md")
    assert attempts(state) == ["SUCCESS"], state
    await agent.start(5)
    state = await agent.record_error(5, "Found больница, required Башня Книжников", 1, 1)
    assert attempts(state) == ["FAILED"], state
    state = await agent.start(4)
    assert attempts(state) == ["FAILED", "IN_PROGRESS"], state
    assert state["generation_attempts"]["current_attempt"] == 2, state
    assert state["steps"][STEPS[5][0]]["status"] == "PENDING", state
    state = await agent.record_error(4, "The place is wrong again", 2, 2)
    assert attempts(state) == ["FAILED", "FAILED"], state

    reason = "Location constraint violated"
    _, state = await agent.done(
        "fail_generation",
        "resume_generation(scene_id='0204')",
        status="FAILED",
        step=4,
        step_number=4,
        failure_reason=reason,
    )
    assert (state["failed_at_step"], state["failure_reason"]) == (4, reason), state
    await agent.refused("start_step", "terminal state: FAILED", step_number=4, phase_name="x")


async def go_on(agent):
    """In another process: from the failure to the end."""
    before = agent.state()
    await agent.read("get_generation_status", "Step 4/7", status="FAILED", detailed=True)
    plan = await agent.read(
        "resume_generation",
        "⚠️ Step 4: Prose Generation (RESUME - was at this step)",
        "⚡ Time saved: ~32s (Steps 1-3 already completed)",
        "Location constraint violated",
        status="FAILED",
    )
    assert (plan["resume_step"], plan["completed_steps"]) == (4, [1, 2, 3]), plan
    assert plan["time_saved_seconds"] == 32.5, plan
    resumed, state = await agent.done("resume_generation", "resume #1", step=4, confirm=True)
    assert resumed["resume_step"] == 4, resumed
    assert [it["from_step"] for it in state["resume_history"]] == [4], state
    assert state["generation_attempts"]["current_attempt"] == 0, state
    assert attempts(state) == ["FAILED", "FAILED"], state
    assert "failure_reason" not in state and "failed_at_step" not in state, state
    for number in (1, 2, 3):
        key, _ = STEPS[number]
        assert state["steps"][key] == before["steps"][key], state
    assert state["errors"] == before["errors"], state

    await agent.work(4, 150.0, draft_path="workspace/artifacts/draft-3.md")
    await agent.work(5, 8.0)
    await agent.work(6, 95.0, final_validation_report_path=REPORT)
    await agent.work(7, 6.0)
    metrics = {
        "final_scene_path": FINAL,
        "validation_report_path": REPORT,
        "word_count": 2847,
        "total_duration_seconds": 324.5,
        "retry_count": 2,
    }
    _, state = await agent.done(
        "complete_generation",
        "2,847 words",
        "5m 24s",
        "after 2 retry(ies)",
        status="COMPLETED",
        step=7,
        **metrics,
    )
    assert state["completion_metrics"] == metrics, state
    assert state["artifacts"]["final_scene_path"] == FINAL, state
    again = metrics | {"word_count": 1}
    await agent.read("complete_generation", "already COMPLETED", status="COMPLETED", **again)
    await agent.refused("resume_generation", "already completed")
    await agent.refused("cancel_generation", "Cannot cancel completed workflow")
    is_error, listed = await agent.ask("list_generations", filter="completed")
    assert not is_error and listed["total"] == 1, listed
    assert [it["scene_id"] for it in listed["generations"]] == [SCENE], listed


async def live(mode):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        async with asyncio.timeout(PATIENCE):
            async with connected(folder, mode) as agent:
                version = agent.client.protocol_version
                await begin(agent)
            async with connected(folder, mode) as agent:
                await go_on(agent)
    print(f"python sdk, generation, mode {mode}: the life of a scene in revision {version}")


async def main():
    for mode in MODES:
        await live(mode)


asyncio.run(main())
