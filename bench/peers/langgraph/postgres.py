"""A PostgreSQL server of its own, on a Unix socket, with the defaults of Debian's package: every commit is synced."""

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path

from psycopg import AsyncConnection, OperationalError

# The server refuses to run as root.
USER = "postgres"


class Postgres:
    """A cluster in `directory` while the context lasts."""

    def __init__(self, directory: Path):
        self.data = directory / "postgres"

    async def __aenter__(self) -> "Postgres":
        self.data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            user = pwd.getpwnam(USER)
            os.chown(self.data, user.pw_uid, user.pw_gid)
        make = ["initdb", "--pgdata", self.data, "--auth", "trust", "--username", USER]
        subprocess.run(unprivileged(*make), check=True, stdout=subprocess.DEVNULL, cwd="/")
        # Nobody else reaches the socket in there.
        settings = ["listen_addresses=", f"unix_socket_directories={self.data}"]
        start = ["postgres", "-D", self.data, *(word for it in settings for word in ("-c", it))]
        log = open(self.data / "server.log", "wb")
        self.server = subprocess.Popen(unprivileged(*start), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")
        log.close()
        try:
            await self.until_ready()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_) -> None:
        # This is how its own tools ask for a fast shutdown.
        self.server.send_signal(signal.SIGINT)
        await asyncio.to_thread(self.server.wait)

    async def until_ready(self) -> None:
        while self.server.poll() is None:
            try:
                async with await AsyncConnection.connect(self.address):
                    return
            except OperationalError:
                await asyncio.sleep(0.05)
        raise ChildProcessError(f"PostgreSQL ended with {self.server.returncode}; see {self.data}/server.log")

    @property
    def address(self) -> str:
        return f"host={self.data} user={USER} dbname={USER}"

    @property
    def version(self) -> str:
        # It says `postgres (PostgreSQL) 15.18 (...)`.
        said = subprocess.run([program("postgres"), "--version"], check=True, capture_output=True, text=True).stdout
        return said.split()[2]


def program(name: str) -> str:
    """Debian keeps the programs of the server beside the path, by version."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda it: int(it.parts[4]))
    found = str(installed[-1]) if installed else shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is not installed; it is in Debian's package `postgresql`")
    return found


def unprivileged(name: str, *arguments) -> list[str]:
    """The command as an ordinary user, which ends with this process. It may pass folders that are closed to others, for the data
    can be below one.
    """
    ends = ["setpriv", "--pdeathsig", "INT"]
    if os.geteuid() == 0:
        ends += ["--reuid", USER, "--regid", USER, "--init-groups"]
        ends += ["--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"]
    return [*ends, program(name), *map(str, arguments)]
