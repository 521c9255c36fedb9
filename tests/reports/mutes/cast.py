"""Rules and reports of the tests about mutes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.authentication import Caller, member_caller
from accounts.models import Membership
from reports.mutes.matching import MuteRule
from tests.world import Member

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)
URL = "https://example.com/shop/shoes?page=2"


def rule(check_id: str = "hsts", **changes: Any) -> MuteRule:
    """A rule for all places of a check on example.com, if nothing else is said."""
    values = {
        "id": f"mute_{len(repr(changes)):022}",
        "check_id": check_id,
        "host": "example.com",
        "path_prefix": "",
        "fingerprint": "",
        "place": "",
        "reason": "The load balancer sends it.",
        "by": "ada@example.com",
        "created_at": NOW - timedelta(days=1),
        "expires_at": NOW + timedelta(days=30),
    }
    return MuteRule(**values | changes)


def finding(id: str = "image-alt", *selectors: str, status: str = "fail", **changes: Any) -> dict[str, Any]:
    """A check of a JSON export at places."""
    values = {
        "id": id,
        "name": id,
        "title": f"{id} found",
        "status": status,
        "severity": None if status == "pass" else "high",
        "message": "Something is wrong.",
        "evidence": [{"selector": each} for each in selectors],
        "references": [],
        "points": 1.0,
    }
    return values | changes


def caller_with_key(member: Member) -> Caller:
    """Who asks with the organization's key."""
    as_member = member_caller(Membership(organization=member.organization))
    return replace(as_member, member=None, key_id=member.key.id)
