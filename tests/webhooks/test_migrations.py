"""A step back of the schema, with what may be in the tables by then."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models.signals import pre_migrate
from django.utils import timezone

from tests.sites.server import Site
from tests.world import Member, member_of, register_webhook
from webhooks.examples import example
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


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_migration_waits_for_a_lock_for_a_short_time_only() -> None:
    shown: list[str] = []

    def show(**_: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            shown.extend(cursor.fetchone())

    pre_migrate.connect(show, sender=apps.get_app_config("webhooks"))
    try:
        call_command("migrate", verbosity=0)
    finally:
        pre_migrate.disconnect(show, sender=apps.get_app_config("webhooks"))
    show()
    assert shown == ["5s", "0"]
