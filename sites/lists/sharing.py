"""Sharing of lists: public pages of snapshots, at unguessable addresses that members can revoke."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from accounts import activity
from accounts.access import Lock
from accounts.authentication import Caller
from sites.lists.snapshots import find_snapshot, is_kept, latest
from sites.models import ListRun, ListShare, SiteList
from sites.resources import LIST, LIST_SHARE
from website_scan.errors import Refusal
from website_scan.ids import is_id

# Maximum number of shares per list. Concurrent requests may exceed the maximum slightly, which does no harm.
MAX_SHARES = 20


class ShareLimit(Refusal):
    """Refusal because the list has the maximum number of shares."""

    code = "SHARE_LIMIT"
    status = 409


@dataclass(frozen=True, slots=True)
class Published:
    """Share with the snapshot on its page; `run` is None while the list has no snapshot."""

    share: ListShare
    run: ListRun | None


def shares_of(site_list: SiteList) -> QuerySet[ListShare]:
    """Return the shares of a list, newest first."""
    return ListShare.objects.filter(site_list=site_list).order_by("-created_at", "-id")


def create_share(*, caller: Caller, list_id: str, run_id: str | None = None, has_table: bool = False) -> ListShare:
    """Share one snapshot of a list, or always the latest if `run_id` is None; `has_table` adds the table of all sites.

    Raises NotFound or ShareLimit.
    """
    site_list = LIST.find(caller.organization_id, list_id)
    run = find_snapshot(caller.organization_id, list_id, run_id) if run_id is not None else None
    if shares_of(site_list).count() >= MAX_SHARES:
        raise ShareLimit(f"A list may have {MAX_SHARES} shares. Revoke one.")
    with transaction.atomic():
        share = ListShare.objects.create(
            site_list=site_list,
            run=run,
            has_table=has_table,
            created_by_id=caller.member.user_id if caller.member else None,
        )
        content = "with all sites" if has_table else "the summary"
        activity.record_call(caller, "list.shared", site_list.name, list=site_list.id, share=share.id, content=content)
    return share


def delete_share(*, caller: Caller, list_id: str, share_id: str) -> None:
    """Revoke a share for good; its address responds with 404 from then on. Raises NotFound."""
    site_list = LIST.find(caller.organization_id, list_id)
    with transaction.atomic():
        LIST_SHARE.find_in(shares_of(site_list), share_id, lock=Lock.DELETION).delete()
        activity.record_call(caller, "list.unshared", site_list.name, list=site_list.id, share=share_id)


def published(share_id: str) -> Published | None:
    """Return a share and the snapshot on its page, or None if the share is unknown, revoked or expired."""
    if not is_id("shr", share_id):
        return None
    shares = ListShare.objects.filter(site_list__organization__closed_at=None)
    share = shares.select_related("site_list", "run").filter(id=share_id).first()
    if share is None or (share.run is not None and not is_kept(share.run)):
        return None
    return Published(share, share.run or latest(share.site_list))
