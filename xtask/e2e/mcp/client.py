"""The official Python client, on the life of two questions. A line of JSON says what happened; the suite reads it.

Usage: python client.py legacy|auto QUERENT
"""

import json
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult


def say(step, **said):
    print(json.dumps({"step": step, **said}), flush=True)


def question(prompt, wait_seconds):
    return {"item": "42", "to": "human", "topic": "Tokens", "prompt": prompt, "wait_seconds": wait_seconds}


async def ask_and_wait(client):
    asked = await client.call_tool("question_create", question("JWT or cookies?", 0))
    say("asked", data=asked.structured_content)

    async def waiting(_progress, _total, _message):
        say("waiting")

    wait = {"question_id": asked.structured_content["question_id"], "wait_seconds": 40}
    answered = await client.call_tool("await_answer", wait, progress_callback=waiting)
    say("answered", data=answered.structured_content, text=answered.content[0].text)


async def ask_and_cancel(client):
    with anyio.CancelScope() as scope:

        async def enough(_progress, _total, _message):
            scope.cancel()

        await client.call_tool("question_create", question("And for how long?", 40), progress_callback=enough)
    say("cancelled" if scope.cancelled_caught else "not cancelled")
    still = await client.call_tool("question_list", {"item": "42"})
    say("open", data=still.structured_content)
    return still.structured_content["questions"][0]["id"]


async def make_mistakes(client):
    refused = await client.call_tool("await_answer", {"question_id": "CLR-42-999"})
    say("refused", is_error=refused.is_error, data=refused.structured_content)
    try:
        await client.call_tool("question_create", {"topic": 7})
        say("not malformed")
    except MCPError as error:
        say("malformed", code=error.code)


async def fill_in(_context, params):
    say("shown", message=params.message, schema=params.requested_schema)
    return ElicitResult(action="accept", content={"answer": "A week."})


async def main(mode, querent):
    server = StdioServerParameters(command=querent, args=["mcp", "--agent", "engineer"])
    async with Client(server, mode=mode) as client:
        say("connected", version=client.protocol_version)
        listed = await client.list_tools()
        say("listed", tools=[tool.name for tool in listed.tools])
        await ask_and_wait(client)
        question_id = await ask_and_cancel(client)
        await make_mistakes(client)
    # Another client has forms, and a person before it.
    async with Client(server, mode=mode, elicitation_callback=fill_in) as client:
        filled = await client.call_tool("await_answer", {"question_id": question_id, "wait_seconds": 40})
        say("filled", data=filled.structured_content)
    say("closed")


anyio.run(main, *sys.argv[1:])
