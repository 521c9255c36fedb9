"""Tests that migrations keep the choice of webhooks and name existing webhooks."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from sites.models import Monitor, SiteList
from tests.factories import Member, register_webhook
from tests.sites.lists.cast import make_list
from tests.sites.monitors.cast import make_monitor
from webhooks.models import Webhook

BEFORE = {"sites": "0010_targets_of_lists", "webhooks": "0001_initial"}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_migrations_keep_webhook_settings(home: Member) -> None:
    choices: tuple[list[str] | None, ...] = (None, [])
    monitors = {make_monitor(home, webhook_ids=ids).id: ids for ids in choices}
    lists = {make_list(home, webhook_ids=ids).id: ids for ids in choices}
    for body_format in Webhook.Format.values:
        webhook, _ = register_webhook(home, "https://hooks.example.com:8443/a")
        Webhook.objects.filter(id=webhook.id).update(format=body_format)
    try:
        for app, name in BEFORE.items():
            call_command("migrate", app, name, verbosity=0)
    finally:
        call_command("migrate", verbosity=0)
    assert dict(Monitor.objects.values_list("id", "webhook_ids")) == monitors
    assert dict(SiteList.objects.values_list("id", "webhook_ids")) == lists
    names = dict(Webhook.objects.values_list("format", "name"))
    assert names == {"standard": "hooks.example.com", "slack": "Slack", "teams": "Microsoft Teams"}
