"""Throughput of webhook deliveries, and the effect of hanging receivers on the others.

10,000 pending deliveries to 50 receivers on loopback: once all of them respond, once 5 accept the connection and never
respond.
"""

from __future__ import annotations

import statistics

from accounts.services import ensure_organization
from benchmarks.seed import pending_deliveries
from benchmarks.service import Service
from benchmarks.sites import receivers
from benchmarks.table import Table
from infrastructure.queue import enqueue
from tests.operations.stack.processes import wait_until
from webhooks.models import Delivery, Event, Webhook

DELIVERIES = 10_000
RECEIVERS, HANGING = 50, 5
ROUNDS = 2
GOAL_PER_S, GOAL_RATIO = 150.0, 0.9
PATIENCE_S = 300.0


def measure(table: Table, share: float, service: Service) -> None:
    number = max(RECEIVERS, round(DELIVERIES * share))
    table.head(f"{number:,} deliveries, {RECEIVERS} receivers", "a second", "sent twice")
    # In turns, so that other work of the machine affects both equally.
    pairs = [[_round(table, service, number, hanging) for hanging in (0, HANGING)] for _ in range(ROUNDS)]
    table.row("median beside those that hang", statistics.median(hung for _, hung in pairs), least=(GOAL_PER_S,))
    ratio = statistics.median(hung / well for well, hung in pairs)
    table.row("  as a share of the others alone", ratio, least=(GOAL_RATIO,))


def _round(table: Table, service: Service, number: int, hanging: int) -> float:
    """Return the deliveries per second to responding receivers, from the first request to their last delivery."""
    with receivers(RECEIVERS, hanging) as running:
        pending_deliveries(ensure_organization(name="Bench"), [f"http://{each}/hook" for each in running.hosts], number)
        answering = Delivery.objects.exclude(webhook__receiver__in=running.hosts[:hanging])
        expected = answering.count()
        with service.running("webhooks"):
            enqueue("webhooks.tasks.deliver", "bench")
            delivered = answering.filter(status=Delivery.Status.DELIVERED)
            wait_until(lambda: delivered.count() == expected, PATIENCE_S, poll_s=0.2)
            last = answering.latest("finished_at").finished_at
            assert last
        began, requests = running.seen()
        per_second: float = expected / (last.timestamp() - began)
        table.row(f"  {hanging} of them hang" if hanging else "  all answer", per_second, requests - expected)
        Webhook.objects.all().delete()
        Event.objects.all().delete()
    return per_second
