"""A project of its own, and a way to a server for it that offers one toolset."""

import asyncio
import contextlib
import json
import os
import pathlib
import subprocess

from mcp import Client, StdioServerParameters

from person import acting

MODES = ("auto", "legacy", "2026-07-28")


class Place:
    """A folder, and what a program is started with in it."""

    def __init__(self, binary, folder, toolset, settings):
        self.binary = binary
        self.folder = pathlib.Path(folder)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "MILEPOST_MCP_TOOLSETS": toolset,
            "LOG_LEVEL": "warn",
            **settings,
        }

    async def ask(self, *arguments):
        """Has a person ask by their token: in another process than the server's."""
        command = [self.binary, "--json", *arguments]
        options = {"cwd": self.folder, "env": acting(self.environment), "check": True}
        done = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, **options)
        return json.loads(done.stdout)


class Stdio(Place):
    """Every client starts a server for itself."""

    name = "stdio"

    @contextlib.contextmanager
    def served(self):
        yield StdioServerParameters(
            command=self.binary, args=["mcp"], env=self.environment, cwd=str(self.folder)
        )


class Http(Place):
    """A server that is killed when its client has gone."""

    name = "http"

    @contextlib.contextmanager
    def served(self):
        command = [self.binary, "serve", "--json", "--address", "127.0.0.1:0"]
        server = subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        )
        try:
            yield json.loads(server.stdout.readline())["mcp"]
        finally:
            server.kill()
            server.wait()
            server.stdout.close()


@contextlib.asynccontextmanager
async def connected(place, mode):
    """Yields a client with a server that was started for it."""
    with place.served() as target:
        async with Client(target, mode=mode) as client:
            yield client
