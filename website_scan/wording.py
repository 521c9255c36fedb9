"""Composition of a finding's data into the sentences of the API: `message` and `fix`.

The only module that makes text of a finding. Its sentences are written into reports and frozen there; nothing reads
them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from website_scan.findings import Server
from website_scan.outcomes import Fix
from website_scan.places import Place
from website_scan.values import Value, filled

SHOWN = 3  # places in a message; tables have the others
LABEL = 160


def message(summary: str, places: Sequence[Place], *, includes: Sequence[str] = (), why: str = "") -> str:
    """Return what was seen, with the first places that the summary does not name, and why it matters.

    `includes` are the titles of other findings that report the same fault.
    """
    labels = list(dict.fromkeys(place.label for place in places))
    unnamed = [label for label in labels if label and label not in summary]
    seen = _listed(summary, unnamed) if unnamed else summary
    also = f"This includes {_joined([f'“{title}”' for title in includes])}." if includes else ""
    return " ".join(filter(None, (seen, also, why)))


def fix_text(fix: Fix, values: Mapping[str, Value], server: Server | None) -> str:
    """Return the text of a fix with code in backticks, followed by its snippets for a server."""
    text = filled(fix.text, values, within_code)
    shown = " · ".join(f"{label}: `{code}`" for label, code in fix.snippets_for(server).items())
    return f"{text} {shown}".strip()


def catalogue_fix(fix: str | Fix) -> str:
    """Return the text of a fix with the snippets for all servers."""
    return fix if isinstance(fix, str) else fix_text(fix, {}, None)


def within_code(value: Value) -> str:
    """Return the text of a value, which may stand between backticks, without any of its own."""
    return value.text.replace("`", "'")


def _listed(summary: str, labels: Sequence[str]) -> str:
    more = len(labels) - SHOWN
    listed = "; ".join(label[:LABEL] for label in labels[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
    return f"{summary.removesuffix('.')}: {listed}."


def _joined(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
