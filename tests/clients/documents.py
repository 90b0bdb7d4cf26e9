"""Types every command that the README and the guide print, page by page, each page in a new project
on a new machine. Every command must end with exit code 0.

    documents.py BINARY

Where a page tells of work that an agent has begun, an agent begins it first, over MCP.
"""

import asyncio
import contextlib
import json
import pathlib
import shutil
import sqlite3
import sys
import tempfile

from mcp import Client, StdioServerParameters

from console import consoles
from fresh import Fresh
from scenarios import written

BINARY = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
FIXTURE = ROOT / "surfaces/cli/tests/fixtures/orchestrator.sqlite"


async def call(place, toolset, *calls):
    """Has an agent call tools, none of which may refuse."""
    server = StdioServerParameters(
        command="milepost",
        args=["mcp", "--toolset", toolset],
        env=place.environment,
        cwd=str(place.folder),
    )
    async with Client(server) as client:
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, f"{tool}: {result.content}"


async def plan_login_page(place):
    """An agent has planned the login page, and waits for the person."""
    for path, text in written("build", "login-page").items():
        if path.endswith("/plan.md"):
            place.write(path, text)
    begun = {"workflow_name": "build", "key": "login-page", "title": "add a login page"}
    report = {"step_id": "Plan", "status": "success", "result": "The plan is written."}
    await call(
        place,
        "core",
        ("start_workflow", {**begun, "context": {"task": "add a login page"}}),
        ("advance_workflow", {"instance_id": "login-page", "report": report}),
    )


async def getting_started(place):
    await plan_login_page(place)
    old = place.folder / "data/workflows.sqlite"
    old.parent.mkdir()
    shutil.copy(FIXTURE, old)
    # Its other instances are broken, so that their import fails.
    with contextlib.closing(sqlite3.connect(old)) as database, database:
        for table in ("workflow_history", "workflow_instances"):
            database.execute(f"DELETE FROM {table} WHERE instance_id NOT GLOB '0000000[1-3]-*'")


async def dev_workflow(place):
    """A plan waits for the person's approval."""
    task = {"task_description": "Add: a login form"}
    update = {"phase": "BLUEPRINT", "status": "NEEDS_PLAN_APPROVAL", "plan": "1. a form"}
    await call(
        place,
        "devworkflow",
        ("init_workflow_guidance", task),
        ("analyze_phase_guidance", task),
        ("blueprint_phase_guidance", {**task, "requirements_summary": "a form"}),
        ("update_workflow_state_guidance", update),
    )


async def forge(place):
    """The old server has left a pipeline."""
    state = {
        "version": 2,
        "specName": "x",
        "branch": "feature/x",
        "currentPhase": "phase-3",
        "currentPhaseStatus": "in_progress",
        "tasks": {},
        "timestamps": {"lastUpdated": "2026-01-01T10:00:00Z"},
    }
    place.write(".specs/20260101-x/state.json", json.dumps(state))


async def generation(place):
    """The old server has left a scene whose plan waits for the author, and Milepost knows nothing."""
    scene = {"scene_id": "0204"}
    blueprint = {"blueprint_path": "blueprints/0204.md"}
    steps = []
    for number, name in enumerate(["File System Check", "Blueprint Validation"], 1):
        step = {**scene, "step_number": number}
        steps += [
            ("start_step", {**step, "phase_name": name}),
            ("complete_step", {**step, "duration_seconds": 1}),
        ]
    step = {**scene, "step_number": 3, "phase_name": "Verification Plan"}
    await call(
        place,
        "generation",
        ("start_generation", {**scene, **blueprint}),
        *steps,
        ("start_step", {**step, "awaiting_approval": True}),
    )
    shutil.rmtree(place.folder / ".milepost")


async def clients(place):
    """The project is used with an editor."""
    (place.folder / ".cursor").mkdir()


async def deciders(place):
    path = place.home / ".config/milepost/model-key"
    path.parent.mkdir(parents=True)
    path.write_text("a-key", encoding="utf-8")
    path.chmod(0o600)


async def set_up(place):
    """The project is in use."""
    await asyncio.to_thread(place.type, "milepost setup claude")
    await plan_login_page(place)


STAGES = {
    "README.md": plan_login_page,
    "connecting-clients.md": clients,
    "deciders.md": deciders,
    "from-dev-workflow.md": dev_workflow,
    "from-forge-state.md": forge,
    "from-generation-state-tracker.md": generation,
    "getting-started.md": getting_started,
    "troubleshooting.md": plan_login_page,
    "upgrade-and-uninstall.md": set_up,
}


class Copies:
    """A machine as it was, at the same place: runs belong to their folder."""

    def __init__(self, top):
        self.top = top

    def keep(self, name):
        copy = self.top.parent / name
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.top, copy, symlinks=True)

    def restore(self, name):
        shutil.rmtree(self.top)
        (self.top.parent / name).rename(self.top)


async def follow(page, alone):
    """Types the commands of a page in its order, and returns how many there were."""
    blocks = consoles(page)
    if not blocks:
        return 0
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name, "machine")
        top.mkdir()
        place, copies = Fresh(BINARY, str(top)), Copies(top)
        if stage := STAGES.get(page.name):
            await stage(place)
        for block in blocks:
            copies.keep("after" if block.is_instead else "before")
            if block.is_instead:
                copies.restore("before")
            try:
                async with alone if block.serves else contextlib.nullcontext():
                    await asyncio.to_thread(place.type, *block.commands)
            except AssertionError as error:
                raise AssertionError(f"{page.relative_to(ROOT)}:{block.line}: {error}") from None
            if block.is_instead:
                copies.restore("after")
    return sum(len(it.commands) for it in blocks)


async def main():
    # The address that a server has by default is there once.
    alone = asyncio.Lock()
    following = (follow(page, alone) for page in PAGES)
    followed = await asyncio.gather(*following, return_exceptions=True)
    wrong = [it for it in followed if isinstance(it, BaseException)]
    if wrong:
        raise ExceptionGroup("pages whose commands do not work", wrong)
    counts = {page.name: count for page, count in zip(PAGES, followed, strict=True)}
    missing = [name for name in STAGES if not counts.get(name)]
    assert not missing, f"these pages have no commands: {missing}"
    pages = sum(1 for it in counts.values() if it)
    print(f"documents: {sum(counts.values())} commands of {pages} pages did what they are said to")


asyncio.run(main())
