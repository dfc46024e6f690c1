"""A question tool as people write it themselves with FastMCP: questions in memory, and a call that waits for the answer.

    server.py stdio|http [PORT]
"""

import asyncio
import sys
from itertools import count

from fastmcp import FastMCP

mcp = FastMCP("questions")
numbers = count(1)
questions = {}


@mcp.tool
async def question_create(prompt: str, options: list[str]) -> dict:
    """Ask a question."""
    question_id = f"Q-{next(numbers)}"
    questions[question_id] = {"prompt": prompt, "options": options, "answer": asyncio.get_running_loop().create_future()}
    return {"question_id": question_id, "status": "open"}


@mcp.tool
async def await_answer(question_id: str) -> dict:
    """Wait until a question has its answer."""
    answer = await asyncio.shield(questions[question_id]["answer"])
    return {"question_id": question_id, "status": "answered", "answer": answer}


@mcp.tool
async def question_answer(question_id: str, answer: str) -> dict:
    """Answer a question."""
    question = questions[question_id]
    if answer not in question["options"]:
        raise ValueError(f"{answer} is not among {question['options']}")
    if question["answer"].done():
        raise ValueError(f"{question_id} has its answer")
    question["answer"].set_result(answer)
    return {"question_id": question_id, "status": "answered"}


quiet = {"show_banner": False, "log_level": "ERROR"}
if sys.argv[1] == "http":
    # A reply in one piece costs less than a stream of events.
    mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), json_response=True, **quiet)
else:
    mcp.run(**quiet)
