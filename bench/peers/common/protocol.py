"""How a peer talks with the benchmark, for the peers in Python. `bench/peers/README.md` describes the lines.

A peer is an asynchronous context in which its servers run, with `name`, `version`, `durable` and `setting`. Of its methods
`prepare(clients)` connects them, `cycle(client)` does one whole cycle and returns a key, and `found(keys)` counts the keys whose
answer is kept.
"""

import asyncio
import json
import os
import signal
import sys
import time

PROMPT = (
    "The service needs a place for its sessions, and both candidates are there already. Which of the two shall it "
    "use, given that sessions must survive a restart and that no tenant may ever read another's?"
)
OPTIONS = ["Postgres", "SQLite"]
ANSWER = "Postgres"
# A run that takes longer has come to a stop.
PATIENCE = 180

assert len(PROMPT.encode()) == 200


def drive(peer) -> None:
    """Runs cycles of `peer` until the input ends."""
    try:
        asyncio.run(serve(peer))
    except (asyncio.CancelledError, BrokenPipeError):
        pass
    except Exception as error:
        say({"error": f"{type(error).__name__}: {error}".replace("\n", " ")})
        sys.exit(1)


async def serve(peer) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    guard = asyncio.create_task(cancel_when_orphaned(task))
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with peer:
        say({key: getattr(peer, key) for key in ("name", "version", "durable", "setting")} | {"ready": True})
        async for line in lines:
            say(await measure(peer, **json.loads(line)))
    guard.cancel()


async def measure(peer, clients: int, cycles: int) -> dict:
    """So many cycles, which the clients share."""
    latencies, keys, left = [], [], iter(range(cycles))

    async def work(client: int) -> None:
        for _ in left:
            start = time.perf_counter_ns()
            keys.append(await peer.cycle(client))
            latencies.append((time.perf_counter_ns() - start) // 1000)

    await peer.prepare(clients)
    start = time.perf_counter()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(work(client) for client in range(clients)))
    seconds = time.perf_counter() - start
    found = await peer.found(keys) if peer.durable else None
    return {"cycles": len(keys), "seconds": seconds, "latencies_us": latencies, "found": found}


def say(line: dict) -> None:
    print(json.dumps(line), flush=True)


async def cancel_when_orphaned(task: asyncio.Task) -> None:
    """Nobody reads what is measured when the parent has gone, even if the input is still open elsewhere."""
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(1)
    task.cancel()
