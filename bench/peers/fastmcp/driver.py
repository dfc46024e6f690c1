"""The question tool of `server.py`, called with FastMCP's own client.

    driver.py stdio|http DIR
"""

import asyncio
import socket
import subprocess
import sys
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

sys.path.append(str(Path(__file__).parents[1] / "common"))
from protocol import ANSWER, OPTIONS, PROMPT, drive  # noqa: E402

# The server ends with this process.
SERVER = ["setpriv", "--pdeathsig", "TERM", sys.executable, str(Path(__file__).with_name("server.py"))]


class FastMcp:
    """Two connections for each client, one of which asks and waits."""

    durable = False
    version = f"fastmcp {version('fastmcp')}, uvicorn {version('uvicorn')}, uvloop {version('uvloop')}"

    async def __aenter__(self) -> "FastMcp":
        self.clients = []
        async with AsyncExitStack() as self.contexts:
            await self.start()
            self.contexts = self.contexts.pop_all()
        return self

    async def __aexit__(self, *_) -> None:
        await self.contexts.aclose()

    async def prepare(self, clients: int) -> None:
        while len(self.clients) < clients:
            self.clients.append([await self.connect() for _ in range(2)])

    async def cycle(self, client: int) -> str:
        asker, answerer = self.clients[client]
        asked = await asker.call_tool("question_create", {"prompt": PROMPT, "options": OPTIONS})
        question = {"question_id": asked.structured_content["question_id"]}
        waiter = asyncio.create_task(asker.call_tool("await_answer", question))
        await answerer.call_tool("question_answer", question | {"answer": ANSWER})
        assert (await waiter).structured_content["answer"] == ANSWER
        return question["question_id"]


class OverStdio(FastMcp):
    name = "FastMCP, stdio"
    setting = "Questions in memory of one process, all calls over its one connection."

    async def start(self) -> None:
        self.client = await self.contexts.enter_async_context(Client(StdioTransport(SERVER[0], [*SERVER[1:], "stdio"])))

    async def connect(self) -> Client:
        return self.client


class OverHttp(FastMcp):
    name = "FastMCP, HTTP"
    setting = "Questions in memory of one process of uvicorn with uvloop and httptools, json_response=True."

    async def start(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.server = subprocess.Popen([*SERVER, "http", str(self.port)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.contexts.push_async_callback(self.stop)
        while self.server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                await asyncio.sleep(0.05)
        raise ChildProcessError(f"the server ended with {self.server.returncode}")

    async def stop(self) -> None:
        self.server.terminate()
        await asyncio.to_thread(self.server.wait)

    async def connect(self) -> Client:
        return await self.contexts.enter_async_context(Client(f"http://127.0.0.1:{self.port}/mcp"))


drive({"stdio": OverStdio, "http": OverHttp}[sys.argv[1]]())
