"""API of monitors: recipients."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.keys.services import create_api_key
from accounts.mailing.topics import Subscription
from accounts.models import Membership, Tier
from sites.monitors.recipients import NOBODY
from tests.queries import counted
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.watching import HOOK
from tests.world import Api, Member, person_of, register_webhook

pytestmark = pytest.mark.django_db


def test_who_has_unsubscribed_is_named_so(home: Member) -> None:
    ann, ben = (person_of(home, "member", f"{name}@home.test") for name in ("ann", "ben"))
    monitor = make_monitor(home, recipients=[ben.pk, ann.pk], tells_webhooks=False)
    other = make_monitor(home, recipients=[ann.pk])
    path = f"/v1/monitors/{monitor.id}"
    assert home.api.get(path).json()["unsubscribed"] == []
    Subscription(ann, f"monitor:{monitor.id}").stop()
    shown = home.api.get(path).json()
    assert shown["notify"] == {"emails": ["ann@home.test", "ben@home.test"], "webhooks": False}
    assert (shown["unsubscribed"], shown["warning"]) == (["ann@home.test"], None)
    assert home.api.get(f"/v1/monitors/{other.id}").json()["unsubscribed"] == []
    assert home.api.patch(path, {"notify": shown["notify"]}).json()["unsubscribed"] == ["ann@home.test"]
    Subscription(ben, f"monitor:{monitor.id}").stop()
    assert home.api.get(path).json()["warning"] == NOBODY


def test_a_monitor_made_with_a_key_reaches_the_member_who_made_the_key(home: Member, target: str) -> None:
    Tier.objects.update(schedules=10)
    ann = person_of(home, "member", "ann@home.test")
    key = Api(create_api_key(organization=home.organization, name="Ann's", created_by=ann)[1])
    body = {"page": target, "types": ["seo"], "every": "day"}
    made = key.post("/v1/monitors", body).json()
    assert (made["notify"]["emails"], made["warning"]) == (["ann@home.test"], None)
    named = key.post("/v1/monitors", body | {"notify": {"emails": []}}).json()
    assert (named["notify"]["emails"], named["warning"]) == ([], NOBODY)
    Membership.objects.filter(user=ann).delete()
    assert key.post("/v1/monitors", body).json()["notify"]["emails"] == [], "she has left"


@pytest.mark.parametrize(
    ("columns", "hook", "is_warned"),
    [
        pytest.param({}, [], True, id="no webhook"),
        pytest.param({}, ["scan.completed"], True, id="a webhook for other events"),
        pytest.param({}, ["monitor.changed"], False, id="a webhook"),
        pytest.param({"tells_webhooks": False}, ["monitor.changed"], True, id="a webhook that it does not notify"),
    ],
)
def test_a_monitor_that_reaches_nobody_says_so(
    home: Member, columns: dict[str, Any], hook: list[str], is_warned: bool
) -> None:
    if hook:
        register_webhook(home, HOOK, hook)
    monitor = make_monitor(home, **columns)
    assert home.api.get(f"/v1/monitors/{monitor.id}").json()["warning"] == (NOBODY if is_warned else None)


def test_a_list_of_monitors_takes_as_many_queries_as_one(home: Member) -> None:
    ann = person_of(home, "member", "ann@home.test")
    home.api.get("/v1/monitors")  # notes the first use of the key

    def queries(count: int) -> int:
        for _ in range(count):
            make_monitor(home, recipients=[ann.pk])
        with counted() as asked:
            assert home.api.get("/v1/monitors?limit=100").status_code == 200
        return len(asked)

    assert queries(1) == queries(20)
