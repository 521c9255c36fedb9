"""Findings whose mute has ended. No I/O.

If such a finding is not fixed, it counts as new in the first run after the mute's end.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from sites.models.stored_json import Direction, UnconfirmedChanges
from sites.monitors.changes import Compared, IsMuted
from sites.monitors.states import checks_of
from website_scan.priority import priority_of
from website_scan.report.diff import Change, Place, State
from website_scan.report_json import ReducedFinding, ReducedJson


def add_ended_mutes(
    compared: Compared, doubts: UnconfirmedChanges, report: ReducedJson, url: str, is_muted: IsMuted
) -> Compared:
    """Add changes for unfixed places whose mute has ended since the previous run, and store the muted places.

    `doubts` are the doubts before the comparison. A place counts as muted until a report has a verdict again.
    """
    former_checks = checks_of(compared.former) if compared.former else {}
    report_checks = checks_of(report)
    changes = {change.id: (direction, change) for direction, change in compared.changes}
    muted: dict[str, list[str]] = {}
    unmuted = set()
    for id, check in checks_of(compared.confirmed).items():
        if check["status"] == "pass":
            continue
        previously_muted = doubts.get("muted", {}).get(id, ())
        still_muted = [place for place in check["places"] if is_muted(id, check["outcome"], url, place)]
        ended = [place for place in check["places"] if place in previously_muted and place not in still_muted]
        finding, former = report_checks.get(id), former_checks.get(id)
        if former is not None and finding is not None and former["status"] != "pass" and finding["status"] != "pass":
            unmuted_places = [place for place in ended if place in finding["places"]]
            if unmuted_places:
                changes[id] = _change_by_ended_mute(changes.get(id), former, finding, unmuted_places, previously_muted)
                unmuted.add(id)
                ended = [place for place in ended if place not in unmuted_places]
        if still_muted or ended:
            muted[id] = [*still_muted, *ended]
    new_doubts: UnconfirmedChanges = {**compared.doubts, "muted": muted} if muted else compared.doubts
    return replace(compared, doubts=new_doubts, changes=tuple(changes.values()), unmuted=frozenset(unmuted))


def _change_by_ended_mute(
    former_change: tuple[Direction, Change] | None,
    former: ReducedFinding,
    finding: ReducedFinding,
    unmuted_places: Collection[str],
    previously_muted: Collection[str],
) -> tuple[Direction, Change]:
    """Return the change of a finding with places that are no longer muted.

    It is "new" if all places were muted, else "worse".
    """
    places = tuple(Place(key, text) for key in unmuted_places for text in finding["places"][key])
    was_muted = all(fingerprint in previously_muted for fingerprint in former["places"])
    change = former_change[1] if former_change else _unchanged_finding(former, finding)
    change = replace(change, new_places=(*change.new_places, *places))
    return ("new", replace(change, before=None)) if was_muted else ("worse", change)


def _unchanged_finding(former: ReducedFinding, finding: ReducedFinding) -> Change:
    return Change(
        id=finding["id"],
        name=finding["name"],
        title=finding["title"],
        outcome=finding["outcome"],
        category="",
        message=finding["message"],
        before=State(former["status"], former["severity"]),
        after=State(finding["status"], finding["severity"]),
        priority=priority_of(finding),
    )
