"""Throughput of webhook deliveries, and the effect of hanging receivers on the others.

10,000 pending deliveries are sent to 50 receivers on loopback: first all receivers respond, then 5 of them accept
connections and never respond.
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
MIN_PER_S, MIN_RATIO = 150.0, 0.9
LIMIT_S = 300.0


def measure(table: Table, share: float, service: Service) -> None:
    number = max(RECEIVERS, round(DELIVERIES * share))
    table.head(f"{number:,} deliveries, {RECEIVERS} receivers", "a second", "sent twice")
    # The rounds alternate, so that other load of the machine affects both cases equally.
    pairs = [[_round(table, service, number, hanging) for hanging in (0, HANGING)] for _ in range(ROUNDS)]
    table.row(
        "median beside those that hang",
        statistics.median(with_hanging for _, with_hanging in pairs),
        least=(MIN_PER_S,),
    )
    ratio = statistics.median(with_hanging / alone for alone, with_hanging in pairs)
    table.row("  as a share of the others alone", ratio, least=(MIN_RATIO,))


def _round(table: Table, service: Service, number: int, hanging: int) -> float:
    """Return the deliveries per second to responding receivers, from the first request to the last delivery."""
    with receivers(RECEIVERS, hanging) as running_receivers:
        pending_deliveries(
            ensure_organization(name="Bench"), [f"http://{host}/hook" for host in running_receivers.hosts], number
        )
        to_responding = Delivery.objects.exclude(webhook__receiver__in=running_receivers.hosts[:hanging])
        expected = to_responding.count()
        with service.running("webhooks"):
            enqueue("webhooks.tasks.deliver", "bench")
            delivered = to_responding.filter(status=Delivery.Status.DELIVERED)
            wait_until(lambda: delivered.count() == expected, LIMIT_S, poll_s=0.2)
            last_at = to_responding.latest("finished_at").finished_at
            assert last_at
        first_at, requests = running_receivers.stop()
        per_second: float = expected / (last_at.timestamp() - first_at)
        table.row(f"  {hanging} of them hang" if hanging else "  all answer", per_second, requests - expected)
        Webhook.objects.all().delete()
        Event.objects.all().delete()
    return per_second
