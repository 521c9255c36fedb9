"""Mutes of a report, limited to the details that the reader may see."""

from __future__ import annotations

from urllib.parse import urlencode

from accounts.models import Membership
from accounts.roles import page_of
from accounts.shared_pages import sees_everything
from reports.models import Report
from website_scan.report.mute_matching import Mutes
from website_scan.report.muting import Muting


def muting_of(mutes: Mutes, report: Report, membership: Membership | None) -> Muting:
    """Return the report's mutes as the reader may see them.

    Without a membership, the reader only has the link of a shared report. Members who are limited to some sites see
    that a finding is muted, but not why and by whom.
    """
    mute_url = ""
    if membership is not None and membership.is_member and sees_everything(membership):
        mute_url = f"{page_of(membership, 'mute-new')}?{urlencode({'scan': report.scan_id})}"
    return Muting(mutes, report.scoring, shows_rules=sees_everything(membership), mute_url=mute_url)
