"""Runs pipelines of every effort through the toolset `forge` by the Python SDK, in a git repository
and with agents that write what a script says, over standard input and output in every era of the
protocol. The longer ones are run once more with a server that is killed after each action that it
gives, and must end in the same state but for times and paths. One is abandoned, and stays so.

    forge.py BINARY
"""

import asyncio
import sys
import tempfile

from pipelines import TASK, Pipeline, Repository, ask
from places import MODES, connected

BINARY = sys.argv[1]
# How long one story may take before the test gives up, in seconds.
PATIENCE = 120
REVISE = "## Verdict: REVISE\n\n**1. [CRITICAL] Nobody handles the error**\n"
FAIL = "## Verdict: FAIL\n\nThe tests PASS, but it is not what was designed.\n"
PARTS = "".join(TASK.format(*it) for it in ((1, "parallel"), (2, "parallel"), (3, "human_gate")))
PARTS += TASK.format(4, "sequential") + "depends_on: [1, 2]\n"
BATCH = "chore: batch commit parallel tasks"
END = "comprehensive-review final-verification summary done"

# What the agents write and the person answers before they come to their usual selves, by the file
# or the question; and the way that a pipeline then goes.
SMALL = ("S", {}, f"analysis design review-design checkpoint-a=proceed tasks= impl-1 {END}")
MEDIUM = (
    "M",
    {"review-design.md": [REVISE], "checkpoint-a": ["revise"], "review-1.md": [FAIL]},
    "analysis investigation design review-design design review-design checkpoint-a=revise"
    " design review-design checkpoint-a=proceed tasks impl-1 review-1 impl-1 review-1 " + END,
)
LARGE = (
    "L",
    {"tasks.md": [PARTS] * 2, "review-tasks.md": [REVISE], "review-2.md": [FAIL]},
    "analysis investigation design review-design checkpoint-a=proceed tasks review-tasks tasks"
    " review-tasks checkpoint-b=proceed impl-1+impl-2 3=done impl-4 review-1+review-2+review-4"
    " impl-2 review-2 " + END,
)


async def work(client, place):
    """Runs a pipeline of each effort, and returns the two that had it hard."""
    tools = (await client.list_tools()).tools
    assert len(tools) == len({it.name for it in tools}) == 47, [it.name for it in tools]
    small, medium, large = runs = [
        Pipeline(place, "small", *SMALL),
        Pipeline(place, "medium", *MEDIUM),
        Pipeline(place, "large", *LARGE),
    ]
    for run in runs:
        await run.begin(client)
        run.check_end(await run.run(client))
    assert [it["implStatus"] for it in small.state()["tasks"].values()] == ["completed"]
    state = medium.state()
    assert state["revisions"]["designRevisions"] == 1, state["revisions"]
    assert state["tasks"]["1"]["implRetries"] == 1, state["tasks"]
    # The parallel tasks are committed together; the one that failed once more when it is fixed.
    state = large.state()
    assert state["revisions"]["taskRevisions"] == 1, state["revisions"]
    assert [it["implRetries"] for _, it in sorted(state["tasks"].items())] == [0, 1, 0, 0], state
    check_commits(place)
    return medium, large


def check_commits(place):
    commits = place.git("log", "--format=%s")
    assert commits == [BATCH, BATCH, "Open the shop"], commits
    first, second = (place.git("show", "--format=", "--name-only", it) for it in ("HEAD~", "HEAD"))
    assert (first, second) == (["part-1.txt", "part-2.txt"], ["part-2.txt"]), (first, second)


async def give_up(client, place):
    """Abandons a pipeline, and asks for more of it."""
    run = Pipeline(place, "dropped", "M", {"checkpoint-a": ["abandon"]})
    await run.begin(client)
    action = await run.run(client)
    assert action["summary"] == "pipeline abandoned at checkpoint-a", action
    await check_abandoned(client, run)
    return run


async def check_abandoned(client, run):
    before = run.plain()
    for answer in ({}, {"user_response": "proceed"}):
        action = await run.go(client, **answer)
        assert action["type"] == "done", action
        told = await ask(client, "get", workspace=str(run.workspace), field="currentPhaseStatus")
        assert told == run.state()["currentPhaseStatus"] == "abandoned", told
    assert run.plain() == before, (before, run.plain())


async def look_back(client):
    """Has the past and the code looked at."""
    found = await ask(client, "history_search", query="thing", limit=5)
    names = {it["spec_name"] for it in found["results"]}
    assert names == {"small", "medium", "large", "dropped"}, found
    board = await ask(client, "analytics_repo_dashboard")
    assert (board["completed"], board["abandoned"]) == (3, 1), board
    counts = {name: it["count"] for name, it in board["by_flow_template"].items()}
    assert counts == {"light": 1, "standard": 1, "full": 1}, board
    graph = await ask(client, "dependency_graph", root_path=".", language="python")
    assert graph["edges"] == [{"from": "shop.py", "to": "till.py"}], graph


async def live(mode):
    with tempfile.TemporaryDirectory() as folder:
        place = Repository(BINARY, folder)
        async with connected(place, mode) as client:
            runs = await work(client, place)
            dropped = await give_up(client, place)
            await look_back(client)
            version = client.protocol_version
        async with connected(place, mode) as client:
            await check_abandoned(client, dropped)
        ends = [it.plain() for it in runs]
    print(f"python sdk, forge, stdio, mode {mode}: S, M, L and one abandoned in revision {version}")
    return ends


def asked(action):
    """Returns what an action asks for, without what it says of the call before it."""
    said = ("report_result", "warning", "still_waiting")
    return {name: it for name, it in action.items() if name not in said}


async def interrupt(mode, name, *script):
    """Runs a pipeline whose server is killed each time that it has said what to do, and returns
    the last state. The next session asks again, is told the same, does it and reports it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Repository(BINARY, folder)
        run = Pipeline(place, name, *script)
        async with connected(place, mode) as client:
            await run.begin(client)
            action = await run.go(client)
            place.kill()
        while action["type"] != "done":
            async with connected(place, mode) as client:
                again = await run.go(client)
                assert asked(again) == asked(action), (action, again)
                action = await run.go(client, **run.act(again))
                place.kill()
        run.act(action)
        run.check_end(action)
        if run.effort == "L":
            check_commits(place)
        return run.plain(), len(run.way)


async def main():
    for mode in MODES:
        async with asyncio.timeout(PATIENCE):
            ends = await live(mode)
        for end, name, script in zip(ends, ("medium", "large"), (MEDIUM, LARGE), strict=True):
            async with asyncio.timeout(PATIENCE):
                state, kills = await interrupt(mode, name, *script)
            assert state == end, f"ended in another state:\n{end}\n{state}"
            print(f"python sdk, forge, stdio, mode {mode}: {script[0]} the same with {kills} kills")


asyncio.run(main())
