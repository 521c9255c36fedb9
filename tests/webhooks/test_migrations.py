"""A step back of the schema, with what may be in the tables by then."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from tests.sites.server import Site
from tests.world import Member, member_of, register_webhook
from webhooks.events import example
from webhooks.models import Delivery, Event, EventKind

FIRST, ATTEMPTS = ("webhooks", "0001_initial"), ("webhooks", "0002_attempts")


def migrate(*targets: tuple[str, str]) -> None:
    MigrationExecutor(connection).migrate(list(targets))


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_test_events_do_not_hinder_the_way_back(receiver: Site) -> None:
    member: Member = member_of("Home")
    webhook, _ = register_webhook(member, f"{receiver.url}/hook")
    event = Event.objects.create(
        organization=member.organization,
        kind=EventKind.SCAN_COMPLETED,
        body=example(EventKind.SCAN_COMPLETED, timezone.now()),
    )
    Delivery.objects.create(webhook=webhook, event=event)
    try:
        migrate(FIRST)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM webhooks_event")
            assert cursor.fetchone() == (0,)
    finally:
        migrate(*MigrationExecutor(connection).loader.graph.leaf_nodes())
    assert Event.objects.count() == 0
