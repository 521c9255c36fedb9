"""Benchmark the throughput of webhook deliveries and the effect of hanging receivers.

10,000 pending deliveries are sent to 50 receivers on loopback: first all receivers respond, then 5 of them accept
connections and never respond.
"""

from __future__ import annotations

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
    # The rounds alternate, so that other load on the machine affects both cases equally.
    rounds = [[_measure_round(service, number, hanging) for hanging in (0, HANGING)] for _ in range(ROUNDS)]
    alone, beside_hanging = zip(*rounds, strict=True)
    table.head(f"{number:,} deliveries, {RECEIVERS} receivers", "a second", "sent twice")
    table.row("all answer", [rate for rate, _ in alone], max(twice for _, twice in alone))
    table.row(
        f"{HANGING} of them hang",
        [rate for rate, _ in beside_hanging],
        max(twice for _, twice in beside_hanging),
        least=(MIN_DELIVERIES_PER_S,),
    )
    table.head("  beside those that hang, of the rate of the others alone", "of one")
    ratios = [with_hanging / others for (others, _), (with_hanging, _) in rounds]
    table.row("median", ratios, least=(MIN_RATIO_WITH_HANGING_RECEIVERS,))


def _measure_round(service: Service, number: int, hanging: int) -> tuple[float, int]:
    """Return the deliveries per second to responding receivers, and how many deliveries were sent twice.

    The time is that from the first request to the last delivery.
    """
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
        Webhook.objects.all().delete()
        Event.objects.all().delete()
    return deliveries_per_second, requests - expected
