"""What of a report is muted for the one who reads it."""

from __future__ import annotations

from urllib.parse import urlencode

from accounts.models import Membership
from accounts.roles import page_of
from reports.models import Report
from scanner.report.mute_matching import Mutes
from scanner.report.muting import Muting


def muting_of(mutes: Mutes, report: Report, membership: Membership | None) -> Muting:
    """As this member, or a stranger with the link of a shared report, may see it."""
    mute_url = ""
    if membership is not None and membership.is_member:
        mute_url = f"{page_of(membership, 'mute-new')}?{urlencode({'scan': report.scan_id})}"
    return Muting(mutes, report.scoring, shows_rules=membership is not None, mute_url=mute_url)
