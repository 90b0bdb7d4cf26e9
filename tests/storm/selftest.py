"""Tries the checker itself: spoils what it has read in ways that it must find."""

import json
import random

CASES = []


def case(words):
    def keep(function):
        CASES.append((words, function))
        return function

    return keep


def tried(checker, ledger):
    """Spoils one thing after the other. A case that is not found is a violation."""
    found = []
    ledger.violate = lambda what, where: found.append(what)
    missed = []
    for words, spoil in CASES:
        checker.load()
        found.clear()
        spoil(checker)
        checker.judge()
        if any(words in it for it in found):
            print(f"the checker finds: {spoil.__doc__}")
        else:
            missed.append(f"the checker does not find: {spoil.__doc__} ({found[:3]})")
    del ledger.violate
    for it in missed:
        ledger.violate(it, "selftest.py")


def pick(checker, kind, where=lambda body: True):
    events = [it for it in checker.events if it.kind == kind and where(json.loads(it.body))]
    return random.choice(events)


def drop(checker, event):
    """Takes an event out, and closes the gap."""
    events = []
    for it in checker.events:
        if it is event:
            continue
        later = it.run == event.run and it.seq > event.seq
        events.append(it._replace(seq=it.seq - 1) if later else it)
    checker.events = events
    for row in checker.runs:
        if row["run"] == event.run:
            row["length"] -= 1


def add(checker, event):
    """Puts an event at the end of its run."""
    row = next(it for it in checker.runs if it["run"] == event.run)
    row["length"] += 1
    checker.events.append(event._replace(seq=row["length"], pos=len(checker.events) + 1))


@case("LOST")
def a_lost_note(checker):
    """an acknowledged note that is not in the log"""
    drop(checker, pick(checker, "EntryRecorded", lambda it: "mark." in json.dumps(it)))


@case("DOUBLED")
def a_doubled_note(checker):
    """a note that is in the log twice"""
    add(checker, pick(checker, "EntryRecorded", lambda it: "mark." in json.dumps(it)))


@case("gaps")
def a_gap(checker):
    """a log with a gap"""
    event = pick(checker, "StepEntered")
    checker.events.remove(event)


@case("GATE PASSED")
def a_passed_gate(checker):
    """a run behind a gate that nobody answered"""
    answered = lambda it: it["step"] == "plan" and it["answer"] == "approve"
    drop(checker, pick(checker, "GateAnswered", answered))


@case("did not give")
def a_forged_answer(checker):
    """an answer that the person did not give"""
    event = pick(checker, "GateOpened")
    step = json.loads(event.body)["step"]
    body = {"kind": "GateAnswered", "step": step, "answer": "approve", "how": "verified"}
    for _ in range(3):
        add(checker, event._replace(kind="GateAnswered", body=json.dumps(body)))


@case("no person gave")
def a_relayed_answer(checker):
    """an answer that somebody passed on"""
    event = pick(checker, "GateAnswered", lambda it: it["step"] == "plan")
    body = event.body.replace("verified", "relayed")
    checker.events[checker.events.index(event)] = event._replace(body=body)


@case("TWO HOLDERS")
def two_holders(checker):
    """a step that two hold at the same time"""
    event = pick(checker, "LeaseTaken")
    body = json.loads(event.body)
    body |= {"holder": "somebody else", "generation": body["generation"] + 1}
    at = checker.events.index(event)
    checker.events.insert(at + 1, event._replace(body=json.dumps(body)))


@case("healed")
def a_silent_cure(checker):
    """a spoiled file that was healed silently"""
    path = json.loads(pick(checker, "FileReplaced").body)["path"]
    checker.events = [
        it for it in checker.events
        if it.kind != "FileReplaced" or json.loads(it.body)["path"] != path
    ]
