"""Count the Redis commands that a test causes."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import redis
from django.conf import settings

# Commands that open and check connections. Their number depends on how many threads run at the same time.
CONNECTING = frozenset({"HELLO", "AUTH", "CLIENT", "SELECT", "PING"})


@contextmanager
def counted_redis_commands() -> Iterator[Counter[str]]:
    """Count commands by name, including those of scripts. The counter is filled at the end of the block.

    Only commands of this test process count, because each process has its own database, and no command that opens a
    connection.
    """
    commands, end = Counter[str](), uuid.uuid4().hex
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=60) as client:
        database = client.get_connection_kwargs().get("db", 0)
        with client.monitor() as monitor:
            yield commands
            client.echo(end)
            while end not in (command := monitor.next_command())["command"]:
                name = command["command"].split(" ", 1)[0].upper()
                if command["db"] == database and name not in CONNECTING:
                    commands[name] += 1
