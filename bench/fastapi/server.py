"""What `querent serve` is held against: questions in SQLite behind FastAPI, written the usual way.

    server.py FILE PORT    FILE is the database, which is made if it is not there

One process of uvicorn with uvloop and httptools. Calls run on Starlette's threads, each of which has a connection of its own.
The database writes ahead and syncs every commit, so that what was replied is durable.
"""

import sqlite3
import sys
import threading
from datetime import datetime, timezone
from typing import Annotated

import uvicorn
from fastapi import FastAPI, HTTPException, Query
from pydantic import BaseModel, Field

SCHEMA = """
CREATE TABLE IF NOT EXISTS questions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    question_id TEXT NOT NULL UNIQUE,
    item TEXT NOT NULL,
    asker TEXT NOT NULL,
    addressee TEXT NOT NULL,
    topic TEXT NOT NULL,
    prompt TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    answer TEXT,
    answered_by TEXT,
    created_at TEXT NOT NULL,
    answered_at TEXT
);
CREATE TABLE IF NOT EXISTS items (
    item TEXT PRIMARY KEY,
    asked INTEGER NOT NULL
) WITHOUT ROWID;
"""

app = FastAPI()
local = threading.local()


def connection() -> sqlite3.Connection:
    """The connection of this thread."""
    if not hasattr(local, "connection"):
        made = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None, cached_statements=256)
        made.row_factory = sqlite3.Row
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("PRAGMA synchronous = FULL")
        local.connection = made
    return local.connection


class Transaction:
    """Takes the lock of writers at once, so that nothing is done twice."""

    def __enter__(self) -> sqlite3.Connection:
        self.connection = connection()
        self.connection.execute("BEGIN IMMEDIATE")
        return self.connection

    def __exit__(self, error, *_):
        self.connection.execute("COMMIT" if error is None else "ROLLBACK")


class Ask(BaseModel):
    item: str = Field(max_length=64)
    asker: str = Field(alias="from", max_length=64)
    to: str = Field(max_length=64)
    topic: str = Field(min_length=1, max_length=200)
    prompt: str = Field(min_length=1, max_length=2_000)
    kind: str = Field(max_length=32)


class Answer(BaseModel):
    answer: str = Field(max_length=16_384)
    by: str = Field(max_length=64)


def now() -> str:
    return datetime.now(timezone.utc).isoformat()


@app.post("/api/v1/questions")
def ask(it: Ask) -> dict:
    with Transaction() as db:
        (number,) = db.execute(
            "INSERT INTO items VALUES (?, 1) ON CONFLICT (item) DO UPDATE SET asked = asked + 1 RETURNING asked",
            (it.item,),
        ).fetchone()
        question_id = f"CLR-{it.item}-{number:03}"
        db.execute(
            "INSERT INTO questions (question_id, item, asker, addressee, topic, prompt, kind, status, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, 'open', ?)",
            (question_id, it.item, it.asker, it.to, it.topic, it.prompt, it.kind, now()),
        )
    return {"ok": True, "data": {"question_id": question_id, "status": "open"}}


@app.post("/api/v1/questions/{question_id}/answer")
def answer(question_id: str, it: Answer) -> dict:
    with Transaction() as db:
        changed = db.execute(
            "UPDATE questions SET status = 'answered', answer = ?, answered_by = ?, answered_at = ?"
            " WHERE question_id = ? AND status = 'open'",
            (it.answer, it.by, now(), question_id),
        )
        if changed.rowcount == 0:
            raise HTTPException(409, "there is no such question, or it has its answer")
    return {"ok": True, "data": {"question_id": question_id, "status": "answered", "answer": it.answer}}


@app.get("/api/v1/questions")
def questions(limit: Annotated[int, Query(ge=1, le=500)] = 100) -> dict:
    rows = connection().execute(
        "SELECT * FROM questions WHERE status IN ('open', 'answered') ORDER BY number LIMIT ?", (limit,)
    )
    return {"ok": True, "data": {"questions": [dict(row) for row in rows]}}


@app.get("/api/v1/questions/{question_id}")
def show(question_id: str) -> dict:
    row = connection().execute("SELECT * FROM questions WHERE question_id = ?", (question_id,)).fetchone()
    if row is None:
        raise HTTPException(404, "there is no such question")
    return {"ok": True, "data": {"question": dict(row)}}


connection().executescript(SCHEMA)
uvicorn.run(
    app,
    host="127.0.0.1",
    port=int(sys.argv[2]),
    loop="uvloop",
    http="httptools",
    access_log=False,
    log_level="error",
)
