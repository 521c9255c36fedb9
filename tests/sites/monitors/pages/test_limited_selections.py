"""Tests for actions on several monitors by members who are limited to some sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.test import Client

from accounts.authentication import Caller, member_caller
from accounts.models import ActivityEvent, Membership, Tier, User
from sites.models import ListEntry, Monitor, MonitorRun, SiteList
from sites.monitors import bulk
from sites.monitors.requests import MonitorRequest
from tests.factories import Member, browser_of, person_of
from tests.page_reading import page_of, text_of
from tests.populated_monitors import make_monitor
from tests.queries import counted
from tests.sites.monitors.pages.test_limited_members import LIST, OTHER, OWN, limit, make_monitors, own_ids, url_of

SELECTED = "/o/home/selected-monitors"


@pytest.fixture
def home(home: Member) -> Member:
    Tier.objects.update(schedules=99)
    return home


@pytest.fixture
def user(home: Member) -> User:
    return person_of(home, "member", "client@people.test")


@pytest.fixture
def client(user: User) -> Client:
    limit(user, OWN)
    return browser_of(user)


def post_all(client: Client, action: str, back: str = "", **fields: Any) -> Any:
    return client.post(SELECTED, {"action": action, "all": "yes", "back": back, **fields})


def state_of_others(monitors: Mapping[str, Monitor]) -> list[tuple[Any, ...]]:
    others = Monitor.objects.exclude(id__in=own_ids(dict(monitors))).order_by("id")
    return list(others.values_list("id", "every", "paused_at", "next_run_at"))


def offered_selections(client: Client, query: str = "") -> list[str]:
    """Return the labels of checkboxes in the table that select all matching monitors."""
    labels = page_of(client.get(LIST + query)).xpath("//form[@id='ticked']//input[@name='all']/..")
    return [" ".join(label.text_content().split()) for label in labels]


def inputs_of(response: Any) -> dict[str, str]:
    return {str(box.get("name")): str(box.get("value")) for box in page_of(response).xpath("//main//input")}


def test_table_offers_only_visible_monitors_as_all(client: Client, home: Member) -> None:
    make_monitors(home)
    assert offered_selections(client) == ["All 2 monitors"]
    assert offered_selections(client, "?q=page") == ["All 2 monitors that match the filters"]
    assert offered_selections(client, "?q=foreign") == offered_selections(client, "?q=own+pages") == []
    for n in range(28):
        make_monitor(home, name=f"Kiosk {n}", pages=[url_of(OWN)])
        make_monitor(home, name=f"Kiosk of another site {n}", pages=[url_of(OTHER)])
    assert offered_selections(client) == ["All 30 monitors, on every page"]
    assert offered_selections(client, "?q=kiosk") == ["All 28 monitors that match the filters, on every page"]


@pytest.mark.parametrize("query", ["", "q=page", "state=ok&type=seo"])
@pytest.mark.parametrize("action", ["pause", "run", "schedule"])
def test_action_on_all_matching_monitors_reaches_visible_ones_only(
    client: Client, home: Member, action: str, query: str
) -> None:
    monitors = make_monitors(home)
    before = state_of_others(monitors)
    response = post_all(client, action, query, every="week")
    assert response["Location"] == f"{LIST}?{query}".rstrip("?")
    assert "2 monitors were" in text_of(client.get(LIST))
    assert state_of_others(monitors) == before
    events = ActivityEvent.objects.filter(action__startswith="monitor.")
    assert set(events.values_list("details__monitor", flat=True)) == own_ids(monitors)
    runs = set(MonitorRun.objects.values_list("monitor_id", flat=True))
    assert runs == (own_ids(monitors) if action == "run" else set())


def test_paused_monitors_of_other_sites_stay_paused(client: Client, home: Member) -> None:
    monitors = make_monitors(home)
    bulk.change_monitors(caller=caller_of(home, "owner"), ids=ids_of(monitors), request=MonitorRequest(is_paused=True))
    post_all(client, "resume", "state=paused")
    assert set(Monitor.objects.filter(paused_at=None).values_list("id", flat=True)) == own_ids(monitors)


def test_filters_that_match_only_monitors_of_other_sites_select_nothing(client: Client, home: Member) -> None:
    make_monitors(home)
    for action in ("pause", "delete", "deleted"):
        assert post_all(client, action, "q=foreign").status_code == 302
        assert "Select at least one monitor first." in text_of(client.get(LIST))
    assert not ActivityEvent.objects.filter(action__startswith="monitor.").exists()


def test_deletion_of_all_names_and_deletes_visible_monitors_only(client: Client, home: Member) -> None:
    monitors = make_monitors(home)
    confirmation = post_all(client, "delete", "q=page")
    text = text_of(confirmation)
    assert "Delete 2 monitors?" in text
    for name in ("Foreign page", "Mixed pages", "Look-alike page", OTHER, " more"):
        assert name not in text
    # A new monitor of another site matches as well. It changes nothing for this member.
    hidden = make_monitor(home, name="Hidden page", pages=[url_of(OTHER)])
    assert client.post(SELECTED, {**inputs_of(confirmation), "action": "deleted"})["Location"] == f"{LIST}?q=page"
    assert set(Monitor.objects.values_list("id", flat=True)) == set(ids_of(monitors)) - own_ids(monitors) | {hidden.id}
    deleted = ActivityEvent.objects.filter(action="monitor.deleted").values_list("details__monitor", flat=True)
    assert set(deleted) == own_ids(monitors)


def test_deletion_is_confirmed_again_if_a_monitor_changes_to_another_site(client: Client, home: Member) -> None:
    monitors = make_monitors(home)
    confirmation = post_all(client, "delete")
    Monitor.objects.filter(id=monitors["Own page"].id).update(pages=[url_of(OTHER)])
    again = client.post(SELECTED, {**inputs_of(confirmation), "action": "deleted"})
    text = text_of(again)
    assert "Nothing was deleted" in text
    assert "Delete 1 monitor?" in text
    assert OTHER not in text
    assert Monitor.objects.count() == len(monitors)


def caller_of(home: Member, role: str, *limits: str) -> Caller:
    """Return a caller for a new member with these limits."""
    user = person_of(home, role, f"{role}@callers.test")
    limit(user, *limits)
    return member_caller(Membership.objects.select_related("organization__tier").get(user=user))


def ids_of(monitors: Mapping[str, Monitor]) -> Sequence[str]:
    return [monitor.id for monitor in monitors.values()]


@pytest.mark.parametrize(("limits", "number"), [((OWN,), 2), ((f"*.{OTHER}",), 2), (("tag:none",), 0), ((), 5)])
def test_bulk_services_skip_monitors_that_became_hidden_after_their_selection(
    home: Member, limits: tuple[str, ...], number: int
) -> None:
    """The services get the IDs of all monitors, as if their pages had changed after the selection."""
    ids, caller = ids_of(make_monitors(home)), caller_of(home, "member", *limits)
    assert bulk.change_monitors(caller=caller, ids=ids, request=MonitorRequest(is_paused=True)) == number
    assert Monitor.objects.exclude(paused_at=None).count() == number
    assert bulk.run_monitors(caller=caller, ids=ids) == number
    assert MonitorRun.objects.count() == number
    assert bulk.delete_monitors(caller=caller, ids=ids) == number
    assert Monitor.objects.count() == len(ids) - number


def test_number_of_statements_is_bounded_with_a_tag(client: Client, home: Member, user: User) -> None:
    site_list = SiteList.objects.create(organization=home.organization, name="Clients", types=["seo"])
    ListEntry.objects.create(site_list=site_list, url=url_of(OWN), host=OWN, tags=["client"])
    limit(user, "tag:client")
    numbers: dict[str, list[int]] = {}
    for monitors in (2, 23):
        Monitor.objects.all().delete()
        for n in range(monitors):
            make_monitor(home, name=f"Shop {n}", pages=[url_of(OWN)])
            make_monitor(home, name=f"Bakery {n}", pages=[url_of(OTHER)])
        for action in ("pause", "resume", "run", "delete"):
            with counted() as queries:
                post_all(client, action)
            numbers.setdefault(action, []).append(len(queries))
        assert MonitorRun.objects.count() == monitors
    for action, (few, many) in numbers.items():
        assert many <= few + 2, (action, numbers)
