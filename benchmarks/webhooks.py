"""Throughput of webhook deliveries, and the effect of hanging receivers on the others.

10,000 pending deliveries to 50 receivers on loopback: once all of them respond, once 5 accept the connection and never
respond.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from multiprocessing.connection import Connection

from benchmarks.service import Service, installed
from benchmarks.table import Table
from benchmarks.usage import elsewhere
from tests.operations.stack.processes import wait_until

DELIVERIES = 10_000
RECEIVERS, HANGING = 50, 5
ROUNDS = 3
GOAL_PER_S, GOAL_KEPT = 150.0, 0.9
PATIENCE_S = 300.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def measure(table: Table, share: float) -> None:
    number = max(RECEIVERS, round(DELIVERIES * share))
    with installed() as service:
        table.head(f"{number:,} deliveries, {RECEIVERS} receivers", "a second", "sent twice")
        # In turns, so that other work of the machine affects both equally.
        pairs = [tuple(_round(table, service, number, hanging) for hanging in (0, HANGING)) for _ in range(ROUNDS)]
        table.row("median beside those that hang", statistics.median(hung for _, hung in pairs), least=(GOAL_PER_S,))
        kept = statistics.median(hung / well for well, hung in pairs)
        table.row("  as a share of the others alone", kept, least=(GOAL_KEPT,))


def _round(table: Table, service: Service, number: int, hanging: int) -> float:
    """Return the deliveries per second to responding receivers, from the first request to their last delivery."""
    from infrastructure.queue import enqueue
    from webhooks.models import Delivery, Event, Webhook

    with elsewhere(_serve, hanging) as receivers:
        ports: list[int] = receivers.recv()
        _seed(ports, number)
        answering = Delivery.objects.exclude(webhook__receiver__in=[f"127.0.0.1:{port}" for port in ports[:hanging]])
        expected = answering.count()
        with service.running("webhooks"):
            enqueue("webhooks.tasks.deliver", "bench")
            delivered = answering.filter(status=Delivery.Status.DELIVERED)
            wait_until(lambda: delivered.count() == expected, PATIENCE_S, poll_s=0.2)
            last = answering.order_by("-finished_at").values_list("finished_at", flat=True)[0]
        receivers.send("seen")
        began, requests = receivers.recv()
        assert last is not None
        per_second: float = expected / (last.timestamp() - began)
        table.row(f"  {hanging} of them hang" if hanging else "  all answer", per_second, requests - expected)
        Webhook.objects.all().delete()
        Event.objects.all().delete()
    return per_second


def _seed(ports: list[int], number: int) -> None:
    from django.db import connection
    from django.utils import timezone

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
    body = example(EventKind.SCAN_COMPLETED, timezone.now())
    events = Event.objects.bulk_create(
        (Event(organization=organization, kind=EventKind.SCAN_COMPLETED, body=body) for _ in range(number)), 1000
    )
    Delivery.objects.bulk_create(
        (Delivery(webhook=webhooks[at % len(webhooks)], event=event) for at, event in enumerate(events)), 1000
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE webhooks_delivery, webhooks_event, webhooks_webhook")


def _serve(pipe: Connection, hanging: int) -> None:
    asyncio.run(_serve_all(pipe, hanging))


async def _serve_all(pipe: Connection, hanging: int) -> None:
    """Run all receivers; those of the first ports hang. Answers with the time of the first request and their number."""
    began, requests = 0.0, 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal began, requests
        began = began or time.time()
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(length)
        requests += 1
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
    await asyncio.to_thread(pipe.recv)
    pipe.send((began, requests))
