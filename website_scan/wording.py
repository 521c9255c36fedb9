"""Composition of a verdict's data into the sentences of the API: `message` and `fix`.

Only this module composes texts of findings. Reports store its sentences unchanged, and no code parses them again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from website_scan.messages import cut
from website_scan.outcomes import Fix
from website_scan.report_json import ExportedCheck
from website_scan.result import CheckResult, HowToFix

SHOWN = 3  # number of places in a message; tables have the others
LABEL = 160
# A quotation that ends with a full stop also ends the sentence, without a second one.
ENDED = re.compile(r"([.!?…])”\.(?= |$)")


def message(check: CheckResult) -> str:
    """Return the message: what the check observed, the first places that the summary omits, and why it matters."""
    return seen(without_reason(check), check.includes, check.why)


def without_reason(check: CheckResult) -> str:
    """Return the message without the reason why it matters."""
    labels = list(dict.fromkeys(place.label for place in check.places.kept))
    unnamed = [label for label in labels if label and not _names(check.summary, label)]
    others = check.places.total - len(check.places.kept)
    return _listed(check.summary, unnamed, others) if unnamed else ENDED.sub(r"\1”", check.summary)


def without_places(check: ExportedCheck) -> str:
    """Return the message of a stored check without places, for readers who see the places beside it."""
    if check["status"] == "pass":
        return check["message"]
    return seen(check["summary"], check["includes"], check["why"])


def seen(summary: str, includes: Sequence[str], why: str) -> str:
    """Return the summary, the titles of the findings that it includes, and the reason why it matters."""
    return " ".join(filter(None, (ENDED.sub(r"\1”", summary), _included(includes), why)))


def _included(titles: Sequence[str]) -> str:
    """Return the sentence on the findings that a finding includes; empty if it includes none."""
    return f"This includes {_joined([f'“{title}”' for title in titles])}." if titles else ""


def fix(how: HowToFix) -> str:
    """Return what to change, followed by the snippets."""
    snippets = " · ".join(f"{label}: `{code}`" for label, code in how.snippets)
    return f"{how.text} {snippets}".strip()


def catalogue_fix(declared: Fix) -> str:
    """Return the fix of a check's declaration with the snippets for all servers."""
    return fix(HowToFix(declared.text, tuple(declared.snippets_for(None).items())))


def _names(summary: str, label: str) -> bool:
    """Return True if the summary contains the label as whole words."""
    return label in summary and re.search(rf"(?<!\w){re.escape(label)}(?!\w)", summary) is not None


def _listed(summary: str, labels: Sequence[str], others: int) -> str:
    more = len(labels) + others - SHOWN
    listed = "; ".join(cut(label, LABEL) for label in labels[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
    return f"{summary.removesuffix('.')}: {listed}."


def _joined(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
