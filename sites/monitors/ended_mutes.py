"""Mutes that have ended: findings that are still there count as new in the first run afterwards. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sites.models.documents import Direction, Doubts
from sites.monitors.changes import Compared, IsMuted
from sites.monitors.states import checks_of
from website_scan.priority import priority_of
from website_scan.report.diff import Change, Place, State
from website_scan.report_json import ReducedFinding, ReducedJson


def with_ended_mutes(compared: Compared, doubts: Doubts, report: ReducedJson, url: str, is_muted: IsMuted) -> Compared:
    """Add what the report still shows of the places that were muted in the run before, and remember what is muted now.

    `doubts` are those before the comparison. A place on which the report has no verdict stays remembered as muted.
    """
    was = checks_of(compared.known) if compared.known else {}
    now = checks_of(report)
    changes = {change.id: (direction, change) for direction, change in compared.changes}
    muted: dict[str, list[str]] = {}
    unmuted = set()
    for id, check in checks_of(compared.document).items():
        if check["status"] == "pass":
            continue
        hidden = doubts.get("muted", {}).get(id, ())
        still = [place for place in check["places"] if is_muted(id, check["outcome"], url, place)]
        ended = [place for place in check["places"] if place in hidden and place not in still]
        found, known = now.get(id), was.get(id)
        if known is not None and found is not None and known["status"] != "pass" and found["status"] != "pass":
            shows = [place for place in ended if place in found["places"]]
            if shows:
                changes[id] = _change(changes.get(id), known, found, shows, hidden)
                unmuted.add(id)
                ended = [place for place in ended if place not in shows]
        if still or ended:
            muted[id] = [*still, *ended]
    kept: Doubts = {**compared.doubts, "muted": muted} if muted else compared.doubts
    return replace(compared, doubts=kept, changes=tuple(changes.values()), unmuted=frozenset(unmuted))


def _change(
    known_change: tuple[Direction, Change] | None,
    known: ReducedFinding,
    found: ReducedFinding,
    shows: Collection[str],
    hidden: Collection[str],
) -> tuple[Direction, Change]:
    """Return the change of a finding with the places that are no longer muted: new if all of them were muted."""
    places = tuple(Place(each, text) for each in shows for text in found["places"][each])
    was_hidden = all(each in hidden for each in known["places"])
    change = known_change[1] if known_change else _same(known, found)
    change = replace(change, new_places=(*change.new_places, *places))
    return ("new", replace(change, before=None)) if was_hidden else ("worse", change)


def _same(known: ReducedFinding, found: ReducedFinding) -> Change:
    return Change(
        id=found["id"],
        name=found["name"],
        title=found["title"],
        outcome=found["outcome"],
        category="",
        message=found["message"],
        before=State(known["status"], known["severity"]),
        after=State(found["status"], found["severity"]),
        priority=priority_of(found),
    )
