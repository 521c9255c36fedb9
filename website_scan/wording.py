"""Compose the API's texts `message` and `fix` from a finding's data.

Only this module composes texts of findings. Reports store its sentences unchanged, and no code parses them again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from website_scan.messages import cut
from website_scan.outcomes import Fix
from website_scan.report_json import ExportedCheck
from website_scan.result import CheckResult, HowToFix

# Tables of the report contain more places than a message.
SHOWN = 3
LABEL = 160
# Kinds of values that count something. Then the listed places have numbers, too, so that their sum is the same.
COUNTED = ("count", "share")
# Pattern for a full stop after a quotation that ends with a full stop, which is redundant.
ENDED = re.compile(r"([.!?…])”\.(?= |$)")


def message(check: CheckResult) -> str:
    """Return a finding's message.

    It has the observation, the first places, and why the fault matters.
    """
    return seen(message_without_reason(check), check.includes, check.why)


def message_without_reason(check: CheckResult) -> str:
    """Return the message of a finding without its reason.

    The reason says why the fault matters.
    """
    counts = Counter(place.label for place in check.places.kept)
    unnamed = {label: count for label, count in counts.items() if label and not _contains_label(check.summary, label)}
    if not any(value["kind"] in COUNTED for value in check.values.values()):
        unnamed = dict.fromkeys(unnamed, 1)
    others = check.places.total - len(check.places.kept)
    return _append_places(check.summary, unnamed, others) if unnamed else ENDED.sub(r"\1”", check.summary)


def message_without_places(check: ExportedCheck) -> str:
    """Return the message of a stored check without places.

    Some formats list the places separately.
    """
    if check["status"] == "pass":
        return check["message"]
    return seen(check["summary"], check["includes"], check["why"])


def seen(summary: str, includes: Sequence[str], why: str) -> str:
    """Return the whole message of a finding.

    It joins the summary, the titles of included findings, and the sentence that says why the fault matters.
    """
    return " ".join(filter(None, (ENDED.sub(r"\1”", summary), _included_sentence(includes), why)))


def _included_sentence(titles: Sequence[str]) -> str:
    """Return a sentence with the titles of included findings.

    Empty if there are none.
    """
    return f"This includes {_join_words([f'“{title}”' for title in titles])}." if titles else ""


def fix(how: HowToFix) -> str:
    """Return a fix as plain text: sentences, then code snippets with labels."""
    snippets = " · ".join(
        f"{label}: {' '.join(f'`{line}`' for line in code.splitlines())}" for label, code in how.snippets
    )
    return f"{how.text} {snippets}".strip()


def catalogue_fix(declared: Fix) -> str:
    """Return the default fix of a check as plain text.

    It has the snippets for all servers.
    """
    return fix(HowToFix(declared.text, tuple(declared.snippets_for(None).items())))


def _contains_label(summary: str, label: str) -> bool:
    """Return True if the summary contains the label of a place as whole words."""
    return label in summary and re.search(rf"(?<!\w){re.escape(label)}(?!\w)", summary) is not None


def _append_places(summary: str, counts: Mapping[str, int], others: int) -> str:
    """Append the first labels, with their counts, and the number of all other places."""
    shown = list(counts.items())[:SHOWN]
    more = sum(counts.values()) + others - sum(count for _, count in shown)
    listed = "; ".join(cut(label, LABEL) + (f" ({count:,} times)" if count > 1 else "") for label, count in shown)
    return f"{summary.removesuffix('.')}: {listed}{f' and {more:,} more' if more else ''}."


def _join_words(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
