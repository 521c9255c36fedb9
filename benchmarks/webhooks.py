"""Throughput of webhook deliveries, and the effect of hanging receivers on the others.

10,000 pending deliveries to 50 receivers on loopback: once all of them respond, once 5 accept the
connection and never respond. The worker is the one of `manage.py up`, on the embedded PostgreSQL and Redis.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import django

from benchmarks.installation import BASE_DIR, install, servers

DELIVERIES = 10_000
RECEIVERS = 50
HANGING = 5
ROUNDS = 3
GOAL_PER_S = 150.0
GOAL_COST = 0.10
PATIENCE_S = 300.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def main() -> int:
    """Print the table; return 1 if a goal was missed."""
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers())
        install(folder, stack, SCAN_ALLOWED_NETWORKS="127.0.0.0/8")
        print(f"{f'{DELIVERIES:,} deliveries, {RECEIVERS} receivers':40}{'seconds':>9}{'a second':>10}{'twice':>7}")
        # In turns, so that other work of the machine affects both equally.
        pairs = [(_round(0, folder), _round(HANGING, folder)) for _ in range(ROUNDS)]
    per_second = statistics.median(hung for _, hung in pairs)
    cost = 1 - statistics.median(hung / well for well, hung in pairs)
    is_fast, is_cheap = per_second >= GOAL_PER_S, cost < GOAL_COST
    print(f"{'beside those that hang':40}{per_second:19.0f}{'':7}  goal {GOAL_PER_S:.0f}: {_verdict(is_fast)}")
    print(f"{'what those cost the others':40}{cost:19.1%}{'':7}  goal < {GOAL_COST:.0%}: {_verdict(is_cheap)}")
    return int(not (is_fast and is_cheap))


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def _round(hanging: int, folder: Path) -> float:
    """Return the deliveries per second to responding receivers, from the first request to their last delivery."""
    from webhooks.models import Delivery, Event, Webhook

    with _receivers(hanging) as (ports, counts):
        _seed(ports)
        answering = Delivery.objects.exclude(webhook__receiver__in=[f"127.0.0.1:{port}" for port in ports[:hanging]])
        expected = answering.count()
        with _worker(folder):
            deadline = time.monotonic() + PATIENCE_S
            while not (started := counts.started()):
                assert time.monotonic() < deadline, "nothing arrives"
                time.sleep(0.01)
            while answering.filter(status=Delivery.Status.DELIVERED).count() < expected:
                assert time.monotonic() < deadline, "not all arrive"
                time.sleep(0.2)
            last = answering.order_by("-finished_at").values_list("finished_at", flat=True)[0]
        seconds = last.timestamp() - started
        requests = counts.requests()
        name = f"  {hanging} of them hang" if hanging else "  all answer"
        print(f"{name:40}{seconds:9.1f}{expected / seconds:10.0f}{requests - expected:7}", flush=True)
        Webhook.objects.all().delete()
        Event.objects.all().delete()
    return expected / seconds


def _seed(ports: list[int]) -> None:
    from django.db import connection

    from accounts.services import ensure_organization
    from infrastructure import encryption
    from webhooks.delivery.signing import new_secret
    from webhooks.examples import example
    from webhooks.models import Delivery, Event, EventKind, Webhook

    organization = ensure_organization(name="Bench")
    webhooks = Webhook.objects.bulk_create(
        Webhook(
            organization=organization,
            url=f"http://127.0.0.1:{port}/hook",
            receiver=f"127.0.0.1:{port}",
            events=[EventKind.SCAN_COMPLETED],
            encrypted_secret=encryption.encrypt(new_secret()),
        )
        for port in ports
    )
    now = django.utils.timezone.now()
    body = example(EventKind.SCAN_COMPLETED, now)
    events = Event.objects.bulk_create(
        (Event(organization=organization, kind=EventKind.SCAN_COMPLETED, body=body) for _ in range(DELIVERIES)), 1000
    )
    Delivery.objects.bulk_create(
        (Delivery(webhook=webhooks[number % len(webhooks)], event=event) for number, event in enumerate(events)), 1000
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE webhooks_delivery, webhooks_event, webhooks_webhook")


@contextmanager
def _worker(folder: Path) -> Iterator[None]:
    from infrastructure.queue import enqueue
    from operations.stack.management.commands.up import programs

    program = next(each for each in programs(folder, 0, dict(os.environ)) if each.name == "webhooks")
    env = dict(os.environ) | {"PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}
    process = subprocess.Popen(program.command, cwd=BASE_DIR, env=env)
    try:
        enqueue("webhooks.tasks.deliver", "bench")
        yield
    finally:
        process.kill()  # do not wait for hanging receivers
        process.wait()


class Counts:
    """Counts of the receivers' requests, queried over a pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def started(self) -> float:
        """Return the Unix time of the first request, or 0 before it."""
        return self._ask()[0]

    def requests(self) -> int:
        """Return the number of requests to responding receivers."""
        return int(self._ask()[1])

    def _ask(self) -> tuple[float, int]:
        self._pipe.send(None)
        answer: tuple[float, int] = self._pipe.recv()
        return answer


@contextmanager
def _receivers(hanging: int) -> Iterator[tuple[list[int], Counts]]:
    """Run a process with all receivers; those of the first ports hang."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(hanging, theirs), daemon=True)
    process.start()
    try:
        yield ours.recv(), Counts(ours)
    finally:
        process.kill()
        process.join()


def _serve(hanging: int, pipe: Connection) -> None:
    asyncio.run(_serve_all(hanging, pipe))


async def _serve_all(hanging: int, pipe: Connection) -> None:
    seen = [0.0, 0]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen[0] = seen[0] or time.time()
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(length)
        seen[1] += 1
        writer.write(ANSWER)
        writer.close()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # wait until the client gives up
        writer.close()

    servers = [
        await asyncio.start_server(hang if number < hanging else answer, "127.0.0.1", 0, backlog=512)
        for number in range(RECEIVERS)
    ]
    pipe.send([server.sockets[0].getsockname()[1] for server in servers])
    asyncio.get_running_loop().add_reader(pipe.fileno(), lambda: pipe.send(pipe.recv() or tuple(seen)))
    await asyncio.Event().wait()
