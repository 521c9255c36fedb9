"""Table of what each role can do."""

from __future__ import annotations

from collections.abc import Sequence

from accounts.models import RANKS, Membership

Role = Membership.Role

# What a person can do, and the lowest role that can.
TASKS: Sequence[tuple[str, Role]] = (
    ("See scans, reports, sites, monitors, lists, journeys, assessments and webhooks", Role.VIEWER),
    ("Start, repeat and cancel scans and audits", Role.MEMBER),
    ("Create, change and delete monitors, lists, journeys, assessments and badges", Role.MEMBER),
    ("Share reports, and mute findings", Role.MEMBER),
    ("Create, test and delete webhooks", Role.ADMIN),
    ("Create and revoke API keys", Role.ADMIN),
    ("Invite and remove people, and change their roles", Role.ADMIN),
    ("See the activity log", Role.ADMIN),
    ("Rename the organization, and set its log-in requirement", Role.OWNER),
    ("Export or delete the organization", Role.OWNER),
    ("Appoint owners", Role.OWNER),
)


def role_table() -> Sequence[tuple[str, Sequence[tuple[str, bool]]]]:
    """Return the tasks, each with the labels of all roles and whether the role can do it."""
    return [
        (task, [(role.label, RANKS.index(role) >= RANKS.index(lowest)) for role in RANKS]) for task, lowest in TASKS
    ]
