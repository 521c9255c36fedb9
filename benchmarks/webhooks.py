"""Benchmark the throughput of webhook deliveries and the effect of hanging receivers.

10,000 pending deliveries are sent to 50 receivers on loopback: first all receivers respond, then 5 of them accept
connections and never respond.
"""

from __future__ import annotations

import statistics

from accounts.services import ensure_organization
from benchmarks.seed import create_pending_deliveries
from benchmarks.service import Service
from benchmarks.sites import receivers
from benchmarks.table import Table
from infrastructure.queue import enqueue
from tests.operations.stack.processes import wait_until
from webhooks.models import Delivery, Event, Webhook

DELIVERIES = 10_000
RECEIVERS, HANGING = 50, 5
ROUNDS = 2
MIN_DELIVERIES_PER_S, MIN_RATIO_WITH_HANGING_RECEIVERS = 150.0, 0.9
TIMEOUT_S = 300.0


def measure(table: Table, share: float, service: Service) -> None:
    number = max(RECEIVERS, round(DELIVERIES * share))
    table.head(f"{number:,} deliveries, {RECEIVERS} receivers", "a second", "sent twice")
    # The rounds alternate, so that other load on the machine affects both cases equally.
    pairs = [[_measure_round(table, service, number, hanging) for hanging in (0, HANGING)] for _ in range(ROUNDS)]
    table.row(
        "median beside those that hang",
        statistics.median(rates_with_hanging_receivers for _, rates_with_hanging_receivers in pairs),
        least=(MIN_DELIVERIES_PER_S,),
    )
    ratio = statistics.median(rates_with_hanging_receivers / alone for alone, rates_with_hanging_receivers in pairs)
    table.head("  beside those that hang, of the rate of the others alone", "of one")
    table.row("median", ratio, least=(MIN_RATIO_WITH_HANGING_RECEIVERS,))


def _measure_round(table: Table, service: Service, number: int, hanging: int) -> float:
    """Return the deliveries per second to responding receivers, from the first request to the last delivery."""
    with receivers(RECEIVERS, hanging) as running_receivers:
        create_pending_deliveries(
            ensure_organization(name="Bench"), [f"http://{host}/hook" for host in running_receivers.hosts], number
        )
        responding_deliveries = Delivery.objects.exclude(webhook__receiver__in=running_receivers.hosts[:hanging])
        expected = responding_deliveries.count()
        with service.running("webhooks"):
            enqueue("webhooks.tasks.deliver", "bench")
            delivered = responding_deliveries.filter(status=Delivery.Status.DELIVERED)
            wait_until(lambda: delivered.count() == expected, TIMEOUT_S, poll_s=0.2)
            last_delivery_time = responding_deliveries.latest("finished_at").finished_at
            assert last_delivery_time
        first_request_time, requests = running_receivers.stop()
        deliveries_per_second: float = expected / (last_delivery_time.timestamp() - first_request_time)
        table.row(
            f"  {hanging} of them hang" if hanging else "  all answer", deliveries_per_second, requests - expected
        )
        Webhook.objects.all().delete()
        Event.objects.all().delete()
    return deliveries_per_second
