"""LangGraph: a graph stops at `interrupt()`, its checkpoint goes into a database, and `Command(resume=...)` takes it on.

    driver.py sqlite|postgres DIR
"""

import os
import sys
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import TypedDict
from uuid import uuid4

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from postgres import Postgres

# Nothing is reported to anybody, whatever the environment says.
os.environ["LANGSMITH_TRACING"] = "false"

sys.path.append(str(Path(__file__).parents[1] / "common"))
from protocol import ANSWER, OPTIONS, PROMPT, drive  # noqa: E402


class State(TypedDict):
    prompt: str
    options: list[str]
    answer: str


async def ask(state: State) -> dict:
    return {"answer": interrupt({"prompt": state["prompt"], "options": state["options"]})}


def graph(saver):
    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    return builder.compile(checkpointer=saver)


class LangGraph:
    """Each question is a thread of the graph. `saver()` opens the database, as a context."""

    durable = True
    # The checkpoint is written where the graph stops, and not after every step as well.
    durability = "exit"

    async def __aenter__(self) -> "LangGraph":
        self.graphs = []
        async with AsyncExitStack() as self.contexts:
            await self.start()
            self.contexts = self.contexts.pop_all()
        return self

    async def __aexit__(self, *_) -> None:
        await self.contexts.aclose()

    async def cycle(self, client: int) -> str:
        key = str(uuid4())
        config = {"configurable": {"thread_id": key}}
        graph = self.graphs[client]
        question = {"prompt": PROMPT, "options": OPTIONS}
        asked = await graph.ainvoke(question, config, durability=self.durability)
        assert asked["__interrupt__"][0].value == question
        resumed = await graph.ainvoke(Command(resume=ANSWER), config, durability=self.durability)
        assert resumed["answer"] == ANSWER
        return key

    async def found(self, keys: list[str]) -> int:
        async with self.saver() as saver:
            kept = [await saver.aget({"configurable": {"thread_id": key}}) for key in keys]
        return sum(it is not None and it["channel_values"].get("answer") == ANSWER for it in kept)


class OnSqlite(LangGraph):
    name = "LangGraph, SQLite"
    version = f"langgraph {version('langgraph')}, langgraph-checkpoint-sqlite {version('langgraph-checkpoint-sqlite')}"
    setting = "AsyncSqliteSaver as it sets itself up (WAL, every commit synced), tasks of one process, durability=\"exit\"."

    def __init__(self, directory: Path):
        self.file = directory / "checkpoints.sqlite"

    def saver(self):
        return AsyncSqliteSaver.from_conn_string(str(self.file))

    async def start(self) -> None:
        saver = await self.contexts.enter_async_context(self.saver())
        await saver.setup()
        self.graph = graph(saver)

    async def prepare(self, clients: int) -> None:
        self.graphs = [self.graph] * clients


class OnPostgres(LangGraph):
    name = "LangGraph, PostgreSQL"
    version = f"langgraph {version('langgraph')}, langgraph-checkpoint-postgres {version('langgraph-checkpoint-postgres')}"
    setting = (
        "AsyncPostgresSaver, a connection for each client, over a Unix socket, tasks of one process, durability=\"exit\"; "
        "the server with Debian's defaults (every commit synced)."
    )

    def __init__(self, directory: Path):
        self.server = Postgres(directory)

    def saver(self):
        return AsyncPostgresSaver.from_conn_string(self.server.address)

    async def start(self) -> None:
        await self.contexts.enter_async_context(self.server)
        self.version += f", PostgreSQL {self.server.version}"
        async with self.saver() as saver:
            await saver.setup()

    async def prepare(self, clients: int) -> None:
        # A saver does one thing at a time, so each client has its own.
        while len(self.graphs) < clients:
            self.graphs.append(graph(await self.contexts.enter_async_context(self.saver())))


drive({"sqlite": OnSqlite, "postgres": OnPostgres}[sys.argv[1]](Path(sys.argv[2])))
