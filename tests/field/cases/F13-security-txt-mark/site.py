from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.targets.server import Answer, Route, Site

EXPIRY = datetime.now(UTC) + timedelta(days=100)
GOOD = f"Contact: mailto:security@example.org\nExpires: {EXPIRY:%Y-%m-%dT%H:%M:%SZ}\n"


def routes(site: Site) -> dict[str, Route]:
    text = f"\ufeff{GOOD}"
    return {
        "/": Answer("<!doctype html><title>Boats</title>"),
        "/.well-known/security.txt": Answer(text, headers={"Content-Type": "text/plain; charset=utf-8"}),
    }
