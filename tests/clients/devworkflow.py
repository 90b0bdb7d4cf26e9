"""Lets an agent and a person work on one `workflow_state.md`: the agent by the Python SDK and the
toolset `devworkflow`, the person by an editor and the terminal. Then the agent walks a graph.
All of it over standard input and output in every era of the protocol, and over HTTP.

The file is read after every call, by a reader of its own. At the end all that either of them wrote
must still be somewhere.

    devworkflow.py BINARY
"""

import asyncio
import re
import shutil
import sys
import tempfile

import graphs
from places import MODES, Http, Stdio, connected
from statefile import Sheet, changelog

BINARY = sys.argv[1]
LOGIN = "Add: login"
LOGOUT = "Add: logout | and the door"
SIGN = "Fix: the sign"
CONFIG = """# Project configuration

## Project Info
A shop.

## Dependencies
None.

## Test Commands
```bash
cargo test
```

## Changelog
- Opened the shop.
- Drew the sign.

## Documentation Maintenance Plan
Anyone who changes it writes it down.
"""
NOTES = "## Notes\n\n* mine, and *only* mine\n\n```\n## Log\nnot a log\n```\n"
CLASSIC = {
    "init_workflow_guidance",
    "analyze_phase_guidance",
    "blueprint_phase_guidance",
    "construct_phase_guidance",
    "validate_phase_guidance",
    "revise_blueprint_guidance",
    "complete_workflow_guidance",
    "iterate_next_item_guidance",
    "finalize_workflow_guidance",
    "error_recovery_guidance",
    "fix_validation_issues_guidance",
    "escalate_to_user_guidance",
    "changelog_update_guidance",
    "update_workflow_state_guidance",
    "create_workflow_state_file_guidance",
    "check_project_config_guidance",
    "create_project_config_guidance",
    "validate_workflow_files_guidance",
    "hello_workflow",
}
# How long one story may take before the test gives up, in seconds.
PATIENCE = 120
ROTATION = re.compile(r"^--- LOG ROTATION \S+ \((\d+) entr(?:y|ies), (\d+) chars\) ---$", re.M)
STAMP = re.compile(r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\] ", re.M)


class Project:
    """The files that both work on, and all that was ever written to them."""

    def __init__(self, place):
        self.place = place
        self.folder = place.folder
        self.file = self.folder / "workflow_state.md"
        self.config = self.folder / "project_config.md"
        self.config.write_text(CONFIG, encoding="utf-8")
        self.written = set()
        self.histories = []

    def sheet(self):
        return Sheet.read(self.file)

    def archives(self):
        """Returns the whole logs that were put away, the oldest first."""
        files = sorted(self.folder.rglob("archive/log-*.md"))
        return [it.read_text(encoding="utf-8") for it in files]

    def edit(self, *changes):
        """Has the person change the file: what is old, what is new, and what of it is theirs."""
        text = self.file.read_bytes().decode("utf-8")
        for old, new, *own in changes:
            assert old in text, f"no {old!r} in:\n{text}"
            text = text.replace(old, new, 1)
            self.written.update(own)
        self.file.write_bytes(text.encode("utf-8"))

    async def remember(self):
        """Keeps what the database knows of the runs."""
        for run in (await self.place.ask("run", "list"))["runs"]:
            history = await self.place.ask("run", "history", run["run"], "--limit", "10000")
            self.histories.append(list(strings(history)))

    def lose_database(self):
        shutil.rmtree(self.folder / ".milepost")

    def check_nothing_is_lost(self):
        sheet = self.sheet()
        # A torn file that was put aside may end within a letter.
        files = self.folder.rglob("*.md")
        kept = [it.read_text(encoding="utf-8", errors="replace") for it in files]
        kept += [sheet.plan, sheet.log, sheet.archive, *(it[1] for it in sheet.items)]
        kept += [it for history in self.histories for it in history]
        kept = [it.replace("\r\n", "\n") for it in kept]
        for text in sorted(self.written):
            assert any(text in it for it in kept), f"lost: {text!r}"


def strings(value):
    """Returns every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for it in value.values():
            yield from strings(it)
    elif isinstance(value, list):
        for it in value:
            yield from strings(it)


class Agent:
    """A client that compares every answer with the state file."""

    def __init__(self, client, project):
        self.client = client
        self.project = project

    async def ask(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        value = result.structured_content
        # What the server noticed besides comes in a block of its own.
        assert all(it.text.startswith("Noticed:") for it in result.content[1:]), result.content
        assert value["result"] == result.content[0].text, f"{tool}: text and data differ"
        assert value["tool"] == tool, value
        assert bool(result.is_error) == ("refusal" in value), value
        for it in value.get("next", []):
            assert it["tool"] in CLASSIC and it["tool"] in value["result"] and it["when"], value
        return bool(result.is_error), value

    async def done(self, name, stands=None, **arguments):
        """Calls a tool that must do it, and returns its answer and what the file then says."""
        tool = f"{name}_guidance"
        before = self.project.sheet() if self.project.file.exists() else None
        archives = "".join(self.project.archives())
        is_error, value = await self.ask(tool, **arguments)
        assert not is_error, f"{tool} refused: {value['result']}"
        self.project.written.update(strings(arguments))
        sheet = self.project.sheet()
        assert value["file"] == "workflow_state.md", value
        said = (value["phase"], value["status"], value["current_item"])
        assert said == (sheet.phase, sheet.status, sheet.item), (value, sheet.text)
        assert stands in (None, (sheet.phase, sheet.status)), (value, sheet.text)
        if before:
            is_next = sheet.item != before.item
            compare(before, sheet, may_plan="plan" in arguments or is_next)
            if is_next and before.plan and sheet.plan != before.plan:
                # A plan is for one item, and is kept with the item's log.
                kept = "".join(self.project.archives()).replace("\r\n", "\n")
                assert before.plan.replace("\r\n", "\n").strip() in kept, (before.plan, kept)
            if not sheet.log.startswith(before.log):
                kept = "".join(self.project.archives())
                assert kept.count(before.log) == archives.count(before.log) + 1, before.log
        return value, sheet

    async def task(self, name, *stands, task=LOGIN, **arguments):
        return await self.done(name, stands or None, task_description=task, **arguments)

    async def update(self, phase, status, **arguments):
        arguments |= {"phase": phase, "status": status}
        return await self.done("update_workflow_state", (phase, status), **arguments)

    async def note(self, text):
        """Appends to the log, and changes nothing else."""
        sheet = self.project.sheet()
        return await self.update(sheet.phase, sheet.status, log_entry=text)

    async def refused(self, name, code, **arguments):
        """Calls a tool that must refuse, and leave the file as it is."""
        before = self.project.file.read_bytes()
        is_error, value = await self.ask(f"{name}_guidance", **arguments)
        assert is_error, f"{name} did not refuse: {value['result']}"
        assert value["error_code"] == code and value["refusal"]["hint"], value
        assert self.project.file.read_bytes() == before, f"{name} changed the file"
        return value

    async def look(self):
        """Has the files checked, which changes nothing."""
        before = self.project.file.read_bytes()
        value, _ = await self.done("validate_workflow_files")
        assert self.project.file.read_bytes() == before, "a look changed the file"
        return value


def compare(before, after, may_plan):
    """Checks that a call left alone what it has no business in, and took nothing away."""
    assert after.foreign() == before.foreign(), (before.text, after.text)
    if not may_plan:
        assert after.sections["Plan"] == before.sections["Plan"], (before.text, after.text)
    assert after.archive.startswith(before.archive), (before.text, after.text)
    assert len(after.items) >= len(before.items), (before.text, after.text)
    for old, new in zip(before.items, after.items, strict=False):
        assert new in (old, (*old[:2], "completed")), (old, new)


async def begin(agent):
    """The task is named, and the person looks at the file for the first time."""
    project = agent.project
    names = {it.name for it in (await agent.client.list_tools()).tools}
    assert CLASSIC | graphs.TOOLS <= names, names
    is_error, value = await agent.ask("hello_workflow")
    assert not is_error and value["phase"] is None, value
    is_error, value = await agent.ask("validate_workflow_files_guidance")
    assert "workflow_state.md: workflow_state.md file does not exist" in value["issues"], value
    assert not project.file.exists()

    value, sheet = await agent.task("init_workflow", "INIT", "READY")
    assert sheet.items == [(1, LOGIN, "pending")] and sheet.item == LOGIN, sheet.text
    assert [it["tool"] for it in value["next"]] == ["analyze_phase_guidance"], value
    row = "| 1 | Add: login | pending |\n"
    project.edit(
        (row, row + "| 2 | Add: logout \\| and the door | pending |\n", LOGOUT),
        ("## Rules\n", "## Rules\n> do not touch my rules\n\n", "> do not touch my rules"),
        ("\n## Items\n", f"\n{NOTES}\n## Items\n", NOTES),
        ("\n\n## ArchiveLog", "\n[09:30:00] ask Ann first\n\n## ArchiveLog", "ask Ann first"),
    )
    _, sheet = await agent.task("analyze_phase", "ANALYZE", "RUNNING")
    assert sheet.items == [(1, LOGIN, "pending"), (2, LOGOUT, "pending")], sheet.text
    assert "ask Ann first" in sheet.log, sheet.text
    refused = await agent.refused("construct_phase", "ILLEGAL_TRANSITION", task_description=LOGIN)
    assert "blueprint_phase_guidance" in refused["legal"], refused
    await agent.note("people sign in with a name and a word\n## Items\n| 9 | forged | pending |")
    await agent.update("ANALYZE", "READY")


async def plan(agent):
    """A plan is rejected; the next is approved, changed by hand and has to be approved again."""
    project = agent.project
    first = "1. keep the words in a text file"
    second = "### Second try\n\n1. keep digests\n\n| file | change |\n|---|---|\n| `a.rs` | new |"
    summary = "names and words, kept safely"
    await agent.task("blueprint_phase", "BLUEPRINT", "RUNNING", requirements_summary=summary)
    _, sheet = await agent.update("BLUEPRINT", "NEEDS_PLAN_APPROVAL", plan=first)
    assert sheet.plan == first, sheet.text
    _, sheet = await agent.task(
        "revise_blueprint", "BLUEPRINT", "RUNNING", feedback="never keep words in plain text"
    )
    assert "never keep words in plain text" in sheet.log, sheet.text
    _, sheet = await agent.update("BLUEPRINT", "NEEDS_PLAN_APPROVAL", plan=second)
    assert sheet.plan == second, sheet.text

    # The person approves at the terminal, and then has a better idea.
    [gate] = (await project.place.ask("gate", "list"))["gates"]
    await project.place.ask("gate", "approve", gate["run"]["run"], "--yes")
    project.edit(("1. keep digests\n", "1. keep digests, with salt\n", "digests, with salt"))
    refused = await agent.refused("construct_phase", "ILLEGAL_TRANSITION", task_description=LOGIN)
    assert "approved" in refused["result"], refused
    _, sheet = await agent.task("construct_phase", "CONSTRUCT", "RUNNING", user_approval=True)
    assert sheet.plan == second.replace("digests", "digests, with salt"), sheet.text


async def build(agent):
    """In another process: a check fails, and the log grows until it is rotated."""
    project = agent.project
    await agent.note("step 1: wrote `login.rs`")
    details = "error: `cargo test` failed in `login::salt`"
    await agent.task("error_recovery", "CONSTRUCT", "ERROR", error_details=details)
    await agent.refused("validate_phase", "ILLEGAL_TRANSITION", task_description=LOGIN)
    await agent.task("construct_phase", "CONSTRUCT", "RUNNING")
    # The person's editor writes line ends of its own.
    project.file.write_bytes(project.file.read_bytes().replace(b"\n", b"\r\n"))
    assert not project.archives()
    notes = [f"run {it}: {'всё хорошо ' * 80}" for it in range(1, 6)]
    for note in ("warning: `salt` is unused", "decision: use the small digest", *notes):
        _, sheet = await agent.note(note)
        assert len(sheet.log) <= 5000, len(sheet.log)
        if project.archives():
            break
    assert sheet.text.count("\n") == sheet.text.count("\r\n"), "the line ends are mixed"
    check_rotation(project, sheet, details)
    project.file.write_bytes(project.file.read_bytes().replace(b"\r\n", b"\n"))
    await agent.look()


def check_rotation(project, sheet, finding):
    """Checks what is left of a log that was rotated against what was put away."""
    [archive] = project.archives()
    [(entries, length)] = ROTATION.findall(sheet.archive)
    log = archive[STAMP.search(archive).start() :].rstrip("\n")
    assert int(length) == len(log) > 5000, (length, len(log))
    assert "people sign in with a name" in log and "ask Ann first" in log, log
    starts = re.findall(r"^\[\S+\] ", log, re.M)
    assert int(entries) == len(starts), (entries, starts)
    findings = [it[2:] for it in sheet.archive.splitlines() if it.startswith("- ")]
    assert len(findings) == 5 and all(len(it) <= 300 for it in findings), sheet.archive
    assert any(finding in it for it in findings), sheet.archive
    places = [log.index(it[:60]) for it in findings]
    assert places == sorted(places), sheet.archive


async def clash(agent):
    """The person changes one line twice, the second time in an editor that had the old text."""
    project = agent.project
    old = project.file.read_bytes()
    mine = "> do not touch my rules"
    project.edit(
        (mine, f"{mine}, please", f"{mine}, please"),
        ("## Notes\n", "## Notes\n\nMind the step.\n", "Mind the step."),
    )
    await agent.look()
    project.file.write_bytes(old)
    project.edit((mine, f"{mine}, or else", f"{mine}, or else"))
    is_error, value = await agent.ask("complete_workflow_guidance", task_description=LOGIN)
    assert is_error and value["error_code"] == "ILLEGAL_TRANSITION", value
    # Whichever of them stays, the other is on record; what is kept beside the file is found there.
    for kept in re.findall(r"is kept in `(.+?)`", value["result"]):
        assert f"{mine}, or else" in (project.folder / kept).read_text(encoding="utf-8"), kept
    assert mine in project.sheet().sections["Rules"], project.sheet().text


async def complete(agent):
    """The file is deleted, and torn; the first item is validated in a second try, and completed."""
    project = agent.project
    before = project.file.read_bytes()
    for torn in (None, b"", before[: len(before) // 2], b"\0" * 512):
        if torn is None:
            project.file.unlink()
        else:
            project.file.write_bytes(torn)
        is_error, value = await agent.ask("validate_workflow_files_guidance")
        assert not is_error and value["phase"] == "CONSTRUCT", value
        assert project.file.read_bytes() == before, project.file.read_text(encoding="utf-8")
    await clash(agent)
    await agent.update("CONSTRUCT", "READY")
    await agent.task("validate_phase", "VALIDATE", "RUNNING")
    await agent.task("fix_validation_issues", "VALIDATE", "ERROR", issues="the docs are silent")
    await agent.refused("complete_workflow", "ILLEGAL_TRANSITION", task_description=LOGIN)
    await agent.task("validate_phase", "VALIDATE", "RUNNING")
    bullets, rest = changelog(project.config)
    summary = "People can sign in."
    _, sheet = await agent.task("complete_workflow", "ANALYZE", "READY", summary=summary)
    assert changelog(project.config) == ([f"- {summary}", *bullets], rest)
    assert (sheet.item, sheet.log) == (LOGOUT, ""), sheet.text
    assert [it[2] for it in sheet.items] == ["completed", "pending"], sheet.text
    await agent.task("changelog_update", summary="The sign is lit.", task=LOGOUT)
    wanted = ["- The sign is lit.", f"- {summary}", *bullets]
    assert changelog(project.config) == (wanted, rest)


async def go_on(agent):
    """The second item is planned, as the answers say, and one more is added in passing."""
    value, _ = await agent.done("iterate_next_item", ("ANALYZE", "READY"))
    [following] = [it["params"] for it in value["next"] if it["tool"] == "analyze_phase_guidance"]
    assert following["task_description"] == LOGOUT, value
    await agent.task("analyze_phase", "ANALYZE", "RUNNING", task=LOGOUT)
    _, sheet = await agent.task("init_workflow", "ANALYZE", "RUNNING", task=SIGN)
    assert (sheet.item, sheet.items[2]) == (LOGOUT, (3, SIGN, "pending")), sheet.text
    agent.project.edit(("## Notes\n", "## Notes\n\nMind the hinges.\n", "Mind the hinges."))
    summary = "anyone who leaves closes the door"
    await agent.task("blueprint_phase", task=LOGOUT, requirements_summary=summary)
    await agent.update("BLUEPRINT", "NEEDS_PLAN_APPROVAL", plan="1. close the door")
    await agent.project.remember()


async def end(agent):
    """The database is gone, and all is as the file says. Both items that are left are completed."""
    project = agent.project
    value = await agent.look()
    assert (value["phase"], value["status"]) == ("BLUEPRINT", "NEEDS_PLAN_APPROVAL"), value
    # An approval is not a matter of the file.
    await agent.refused("construct_phase", "ILLEGAL_TRANSITION", task_description=LOGOUT)
    await agent.task("construct_phase", "CONSTRUCT", "RUNNING", task=LOGOUT, user_approval=True)
    await agent.task("validate_phase", "VALIDATE", "RUNNING", task=LOGOUT)
    bullets, rest = changelog(project.config)
    _, sheet = await agent.task("complete_workflow", "ANALYZE", "READY", task=LOGOUT)
    assert sheet.item == SIGN and sheet.log == "", sheet.text
    assert changelog(project.config) == ([f"- {LOGOUT}", *bullets], rest)
    # The person has done the last one already, and says so.
    project.edit(
        (f"| 3 | {SIGN} | pending |", f"| 3 | {SIGN} | completed |"),
        ("Phase: ANALYZE", "Phase: VALIDATE"),
        ("Status: READY", "Status: COMPLETED"),
    )
    _, sheet = await agent.done("finalize_workflow", ("INIT", "READY"))
    assert sheet.item is None, sheet.text
    assert [it[2] for it in sheet.items] == ["completed"] * 3, sheet.text
    value = await agent.look()
    assert not value.get("issues"), value
    await project.remember()


async def tell(place, mode):
    """Has the story told, each chapter to a server of its own."""
    project = Project(place)
    for chapter in (begin, plan, build, complete, go_on, end):
        if chapter is end:
            project.lose_database()
        async with connected(place, mode) as client:
            await chapter(Agent(client, project))
            version = client.protocol_version
    project.check_nothing_is_lost()
    return version


async def live(kind, mode):
    settings = {"MILEPOST_DEVWORKFLOW_CACHE": "true"}
    for story, name in ((tell, "two items and a person"), (graphs.walk, "a graph")):
        with tempfile.TemporaryDirectory() as folder:
            place = kind(BINARY, folder, "devworkflow", settings)
            async with asyncio.timeout(PATIENCE):
                version = await story(place, mode)
        print(f"python sdk, devworkflow, {kind.name}, mode {mode}: {name} in revision {version}")


async def main():
    for mode in MODES:
        await live(Stdio, mode)
    await live(Http, MODES[0])


asyncio.run(main())
