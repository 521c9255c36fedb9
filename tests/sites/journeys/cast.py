"""Journeys for tests."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from sites.journeys import services
from sites.journeys.requests import parse_new
from sites.models import Journey
from tests.factories import Member, key_caller
from website_scan.net.policy import Policy

START = "https://shop.example.com/"
LOG_IN = """
open /login
fill “E-mail” with {{user}}
fill “Password” with {{password}}
click button “Sign in”
wait for “My account”
judge “Account”
"""
SECRETS = {"user": "ada@shop.example.com", "password": "correct-horse-7"}


def make_journey(
    member: Member,
    start: str = START,
    *,
    steps: str = LOG_IN,
    secrets: dict[str, str] | None = None,
    is_proven: bool = True,
    **body: Any,
) -> Journey:
    """Create a journey from steps as text, with values for its secrets."""
    values = SECRETS if secrets is None else secrets
    request = parse_new({"steps": steps, "start": start, "secrets": values, **body}, Policy())
    created = services.create_journey(caller=key_caller(member.organization.id), request=request)
    journey = Journey.objects.get(id=created.response["id"])
    if is_proven:
        prove(journey)
    return journey


def prove(journey: Journey) -> None:
    """Store that control over the whole site has been proven."""
    journey.proof_method, journey.proven_scope, journey.proven_at = "dns", journey.site, timezone.now()
    journey.save()
