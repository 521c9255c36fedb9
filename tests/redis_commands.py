"""Count the Redis commands that a test causes."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import redis
from django.conf import settings


@contextmanager
def counted_redis_commands() -> Iterator[Counter[str]]:
    """Count commands by name, including those of scripts. The counter is filled at the end of the block.

    Only commands of this test process count, because each process has its own database.
    """
    commands, end = Counter[str](), uuid.uuid4().hex
    # The monitor occupies its own connection. Commands that open the other one do not count.
    with redis.Redis.from_url(settings.REDIS_URL) as client, redis.Redis.from_url(settings.REDIS_URL) as other:
        client.ping()
        database = client.get_connection_kwargs().get("db", 0)
        with other.monitor() as monitor:
            yield commands
            client.echo(end)
            while end not in (command := monitor.next_command())["command"]:
                if command["db"] == database:
                    commands[command["command"].split(" ", 1)[0].upper()] += 1
