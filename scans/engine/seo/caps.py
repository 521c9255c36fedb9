"""SEO checks."""

from scans.engine.scoring import Cap

CAPS = (
    Cap(
        40,
        "Search engines cannot index this page.",
        checks=frozenset({"http-status", "is-indexable", "robots-blocked"}),
    ),
)
