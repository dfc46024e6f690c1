"""What Querent's MCP server is held against: the same tools, written the usual way with FastMCP, on lists in memory.

    server.py LIST [PORT]    LIST is a file with the reply of question_list; on stdio without PORT
"""

import json
import sys
from pathlib import Path

from fastmcp import FastMCP

mcp = FastMCP("questions")
listed = json.loads(Path(sys.argv[1]).read_text())
questions = {}


@mcp.tool
def question_list() -> dict:
    """List questions."""
    return listed


@mcp.tool
def question_create(item: str, topic: str, prompt: str, to: str, wait_seconds: int) -> dict:
    """Ask a question."""
    question_id = f"CLR-{item}-{len(questions) + 1:03}"
    questions[question_id] = {"topic": topic, "prompt": prompt, "to": to, "answer": None}
    return {"question_id": question_id, "status": "open"}


@mcp.tool
def question_answer(question_id: str, answer: str) -> dict:
    """Answer a question."""
    question = questions[question_id]
    if question["answer"] is not None:
        raise ValueError(f"{question_id} has its answer")
    question["answer"] = answer
    return {"question_id": question_id, "status": "answered"}


if len(sys.argv) > 2:
    mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False, log_level="ERROR")
else:
    mcp.run(show_banner=False, log_level="ERROR")
