"""Tests for the services that create, renew and end mutes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ActivityEvent
from infrastructure.api.errors import NotFound
from reports.models import Mute
from reports.mutes import services
from reports.mutes.requests import MuteRequest
from reports.mutes.services import (
    MuteLimit,
    active_mutes,
    create_mute,
    end_mute,
    list_mutes_in_force,
    mute_rule,
)
from tests.factories import Member, member_of
from tests.queries import counted
from tests.reports.mutes.cast import caller_with_key
from website_scan.fingerprints import fingerprint

pytestmark = pytest.mark.django_db

REASON = "The load balancer sends it."
URL = "https://example.com/"
PLACE = fingerprint("hsts")


def mute_request_for(**changed: Any) -> MuteRequest:
    defaults: dict[str, Any] = {"check": "hsts", "host": "example.com", "reason": REASON, "now": timezone.now()}
    return MuteRequest.of(**defaults | changed)


def is_muted(member: Member, url: str = URL, after: timedelta = timedelta(), outcome: str = "short") -> bool:
    return active_mutes(member.organization.id, timezone.now() + after).of("hsts", outcome, url, PLACE) is not None


def test_mute_lasts_a_year_by_default() -> None:
    acme = member_of("Acme")
    mute, is_new = create_mute(caller=caller_with_key(acme), request=mute_request_for())
    assert is_new
    assert mute.expires_at == mute.created_at + timedelta(days=365)
    assert is_muted(acme)
    assert not is_muted(acme, "https://www.example.com/")


def test_mutes_of_another_organization_do_not_apply() -> None:
    acme, other = member_of("Acme"), member_of("Other")
    mute, _ = create_mute(caller=caller_with_key(acme), request=mute_request_for())
    assert not is_muted(other)
    with pytest.raises(NotFound, match="no mute"):
        end_mute(caller=caller_with_key(other), mute_id=mute.id)
    assert is_muted(acme)


def test_mute_expires_at_the_exact_second() -> None:
    acme = member_of("Acme")
    end = timezone.now().replace(microsecond=0) + timedelta(days=3)
    mute, _ = create_mute(caller=caller_with_key(acme), request=mute_request_for(expires_at=end))
    assert mute.expires_at == end
    assert active_mutes(acme.organization.id, end - timedelta(microseconds=1))
    assert not active_mutes(acme.organization.id, end)


def test_creating_an_existing_mute_renews_it() -> None:
    acme = member_of("Acme")
    first, _ = create_mute(caller=caller_with_key(acme), request=mute_request_for())
    end = timezone.now().replace(microsecond=0) + timedelta(days=30)
    again, is_new = create_mute(
        caller=caller_with_key(acme), request=mute_request_for(reason="Another.", expires_at=end)
    )
    assert (again.id, is_new, again.reason, again.expires_at) == (first.id, False, "Another.", end)
    assert Mute.objects.count() == 1
    # A repeated request changes nothing and is not logged.
    create_mute(caller=caller_with_key(acme), request=mute_request_for(reason="Another.", expires_at=end))
    assert [event.action for event in ActivityEvent.objects.filter(action__startswith="mute.")] == [
        "mute.changed",
        "mute.created",
    ]


def test_expired_finding_can_be_muted_again() -> None:
    acme = member_of("Acme")
    first, _ = create_mute(caller=caller_with_key(acme), request=mute_request_for())
    past = timezone.now() - timedelta(seconds=1)
    Mute.objects.update(expires_at=past)
    assert not is_muted(acme)
    second, is_new = create_mute(caller=caller_with_key(acme), request=mute_request_for())
    assert is_new
    assert second.id != first.id
    first.refresh_from_db()
    assert first.ended_at == past
    assert is_muted(acme)


def test_ended_mute_cannot_be_ended_again() -> None:
    acme = member_of("Acme")
    mute, _ = create_mute(caller=caller_with_key(acme), request=mute_request_for())
    end_mute(caller=caller_with_key(acme), mute_id=mute.id)
    assert not is_muted(acme)
    with pytest.raises(NotFound, match="no mute"):
        end_mute(caller=caller_with_key(acme), mute_id=mute.id)


def test_activity_log_records_mutes_by_api_keys() -> None:
    acme = member_of("Acme")
    mute, _ = create_mute(caller=caller_with_key(acme), request=mute_request_for(path_prefix="/shop/"))
    end_mute(caller=caller_with_key(acme), mute_id=mute.id)
    created, ended = ActivityEvent.objects.filter(action__startswith="mute.").order_by("id")
    assert (created.action, created.object_name, created.actor) == ("mute.created", "hsts on example.com", None)
    assert created.details["api_key"] == "tests"
    assert created.details["path"] == "/shop"
    assert created.details["reason"] == REASON
    assert ended.action == "mute.ended"


@pytest.mark.parametrize(
    ("host", "path_prefix", "expected"),
    [
        ("EXAMPLE.com", "", ("example.com", "")),
        ("example.com:443", "/", ("example.com", "")),
        ("example.com:80", "", ("example.com", "")),
        ("bücher.example.com", "/Schöne Bücher/", ("xn--bcher-kva.example.com", "/Sch%C3%B6ne%20B%C3%BCcher")),
        ("example.com.", "/a/../b", ("example.com", "/b")),
        ("example.com", "/%7Eme;v=1", ("example.com", "/%7Eme;v=1")),
    ],
)
def test_mute_paths_are_normalized_like_urls(host: str, path_prefix: str, expected: tuple[str, str]) -> None:
    mute, _ = create_mute(
        caller=caller_with_key(member_of("Acme")), request=mute_request_for(host=host, path_prefix=path_prefix)
    )
    assert (mute.host, mute.path_prefix) == expected


def test_organization_cannot_exceed_the_mute_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_ACTIVE_MUTES", 2)
    acme = member_of("Acme")
    caller = caller_with_key(acme)
    for path in ("/a", "/b"):
        mute, _ = create_mute(caller=caller, request=mute_request_for(path_prefix=path))
    with pytest.raises(MuteLimit):
        create_mute(caller=caller, request=mute_request_for())
    # At the limit, a mute can still be renewed or ended.
    create_mute(caller=caller, request=mute_request_for(path_prefix="/a", reason="Still."))
    end_mute(caller=caller, mute_id=mute.id)
    create_mute(caller=caller, request=mute_request_for())


def test_active_mutes_are_read_with_one_query() -> None:
    acme = member_of("Acme")
    with counted() as queries:
        assert not active_mutes(acme.organization.id, timezone.now())
    assert len(queries) == 1
    for path in ("/a", "/b", "/c"):
        create_mute(caller=caller_with_key(acme), request=mute_request_for(path_prefix=path))
    with counted() as queries:
        rules = list(active_mutes(acme.organization.id, timezone.now()))
    assert len(queries) == 1
    assert set(rules) == set(map(mute_rule, list_mutes_in_force(acme.organization.id, timezone.now())))
    assert [rule.by for rule in rules] == ["API key tests"] * 3


def test_reason_is_normalized_before_validation() -> None:
    reason = "a" * 498 + "\r\n" + "b"
    mute, _ = create_mute(caller=caller_with_key(member_of("Acme")), request=mute_request_for(reason=f"  {reason}  "))
    assert mute.reason == "a" * 498 + "\nb"
