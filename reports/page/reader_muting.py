"""Mutes of a report as one reader may see them."""

from __future__ import annotations

from urllib.parse import urlencode

from accounts.models import Membership
from accounts.roles import page_of
from reports.models import Report
from website_scan.report.mute_matching import Mutes
from website_scan.report.muting import Muting


def muting_of(mutes: Mutes, report: Report, membership: Membership | None) -> Muting:
    """Return the mutes of a report for its reader: a member, or a stranger with the link (`membership` is None)."""
    mute_url = ""
    if membership is not None and membership.is_member:
        mute_url = f"{page_of(membership, 'mute-new')}?{urlencode({'scan': report.scan_id})}"
    return Muting(mutes, report.scoring, shows_rules=membership is not None, mute_url=mute_url)
