"""A small JSON-RPC client for one server process over stdio, in both eras of the protocol.

It uses nothing but the standard library, and shares no code with the product. Several threads may
call at once; each waits for its own answer.
"""

import json
import os
import queue
import signal
import subprocess
import threading
import time

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "storm", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
# How much of what a server logs is kept.
TALK_LINES_MAX = 400


class Gone(Exception):
    """The server is no longer there, or did not answer in time."""


class Answer:
    """What a tool said."""

    def __init__(self, message):
        self.message = message
        result = message.get("result") or {}
        self.value = result.get("structuredContent") or {}
        content = result.get("content") or [{}]
        self.text = content[0].get("text", "")
        self.is_error = result.get("isError") is True
        refusal = self.value.get("refusal") if isinstance(self.value, dict) else None
        self.code = (refusal or {}).get("code") if isinstance(refusal, dict) else None

    @property
    def is_protocol_error(self):
        return "error" in self.message

    def same(self, other):
        return (self.text, self.value, self.is_error) == (other.text, other.value, other.is_error)

    def short(self):
        if self.is_protocol_error:
            return json.dumps(self.message["error"])[:600]
        mark = "refused" if self.is_error else "done"
        text = " ".join(self.text.split())
        return f"{mark} {self.code or ''}: {text[:600]}"


class Server:
    """A running server, and the pipes to it."""

    def __init__(self, command, cwd, environment, modern, preexec=None):
        self.modern = modern
        self.child = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=preexec,
        )
        self.lock = threading.Lock()
        self.waiting = {}
        self.is_over = False
        self.next_id = 0
        self.noise = []
        self.talk = []
        for work in (self._hear, self._note):
            threading.Thread(target=work, daemon=True).start()
        if not modern:
            self._shake_hands()

    def _shake_hands(self):
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "storm", "version": "1"},
        }
        self.request("initialize", params, 120)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool, arguments, request=None, patience=60):
        """Calls a tool. Raises Gone where there is no answer."""
        params = {"name": tool, "arguments": arguments}
        if request is not None:
            params["_meta"] = {"milepost/request_id": request}
        return Answer(self.request("tools/call", params, patience))

    def request(self, method, params, patience):
        if self.modern:
            params = {**params, "_meta": {**META, **params.get("_meta", {})}}
        reply = queue.SimpleQueue()
        with self.lock:
            if self.is_over:
                raise Gone("the server has ended")
            self.next_id += 1
            number = self.next_id
            self.waiting[number] = reply
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._send(message)
        try:
            answer = reply.get(timeout=patience)
        except queue.Empty:
            raise Gone(f"no answer within {patience} s") from None
        if answer is None:
            raise Gone("the server ended before it answered")
        return answer

    def _send(self, message):
        line = json.dumps(message).encode() + b"\n"
        try:
            with self.lock:
                self.child.stdin.write(line)
                self.child.stdin.flush()
        except (OSError, ValueError):
            raise Gone("the server's input is closed") from None

    def _hear(self):
        for line in self.child.stdout:
            # A line without an end is one that the server was killed in the middle of.
            if not line.endswith(b"\n"):
                break
            try:
                message = json.loads(line)
                is_ours = message["jsonrpc"] == "2.0"
            except (ValueError, KeyError, TypeError):
                is_ours = False
            if not is_ours:
                self.noise.append(line[:300])
                continue
            with self.lock:
                reply = self.waiting.pop(message.get("id"), None)
            if reply is not None:
                reply.put(message)
        with self.lock:
            self.is_over = True
            for reply in self.waiting.values():
                reply.put(None)
            self.waiting.clear()

    def _note(self):
        for line in self.child.stderr:
            self.talk.append(line.decode("utf-8", "replace").rstrip())
            del self.talk[:-TALK_LINES_MAX]

    def signal(self, number):
        """Sends a signal to this process only."""
        if self.child.poll() is None:
            os.kill(self.child.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.child.wait()

    def close(self, patience=30):
        """Ends the server as a client does, by closing its input. Returns whether it ended."""
        self.signal(signal.SIGCONT)
        try:
            with self.lock:
                self.child.stdin.close()
        except OSError:
            pass
        deadline = time.monotonic() + patience
        while self.child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        has_ended = self.child.poll() is not None
        if not has_ended:
            self.kill()
        return has_ended
