"""Sharing of a list's snapshots on public pages.

The URLs are unguessable, and members can revoke them.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from msgspec import Struct

from accounts import activity
from accounts.access import Lock
from accounts.authentication import Caller
from sites.lists.share_passwords import hashed
from sites.lists.snapshots import find_snapshot, is_kept, latest
from sites.models import ListRun, ListShare, SiteList
from sites.resources import LIST, LIST_SHARE
from website_scan.errors import Refusal
from website_scan.ids import is_id

# Limit per list. Concurrent requests may exceed the limit slightly, which is harmless.
MAX_SHARES = 20


class ShareLimit(Refusal):
    """Raised when the list has the maximum number of shares."""

    code = "SHARE_LIMIT"
    status = 409


class Published(Struct, frozen=True):
    """Share with the snapshot on its page.

    `run` is None if the list has no snapshot yet.
    """

    share: ListShare
    run: ListRun | None


def shares_of(site_list: SiteList) -> QuerySet[ListShare]:
    """Return the shares of a list, newest first."""
    return ListShare.objects.filter(site_list=site_list).order_by("-created_at", "-id")


def create_share(
    *, caller: Caller, list_id: str, run_id: str | None = None, has_table: bool = False, password: str = ""
) -> ListShare:
    """Share one snapshot of a list, or always the latest if `run_id` is None.

    `has_table` adds a table of all sites.

    Visitors must enter the `password`, if there is one. Raises NotFound, ShareLimit or InvalidParams.
    """
    site_list = LIST.find(caller.organization_id, list_id)
    run = find_snapshot(caller.organization_id, list_id, run_id) if run_id is not None else None
    if shares_of(site_list).count() >= MAX_SHARES:
        raise ShareLimit(f"A list may have {MAX_SHARES} shares. Revoke one.")
    password_hash = hashed(password)
    with transaction.atomic():
        share = ListShare.objects.create(
            site_list=site_list,
            run=run,
            has_table=has_table,
            password=password_hash,
            created_by_id=caller.member.user_id if caller.member else None,
        )
        content = "with all sites" if has_table else "the summary"
        activity.record_by_caller(
            caller, "list.shared", site_list.name, list=site_list.id, share=share.id, content=content
        )
    return share


def delete_share(*, caller: Caller, list_id: str, share_id: str) -> None:
    """Revoke a share permanently.

    Its URL returns 404 from then on. Raises NotFound.
    """
    site_list = LIST.find(caller.organization_id, list_id)
    with transaction.atomic():
        LIST_SHARE.find_in_rows(shares_of(site_list), share_id, lock=Lock.DELETION).delete()
        activity.record_by_caller(caller, "list.unshared", site_list.name, list=site_list.id, share=share_id)


def published(share_id: str) -> Published | None:
    """Return a share with the snapshot on its page, or None if the share is unknown, revoked or expired."""
    if not is_id("shr", share_id):
        return None
    shares = ListShare.objects.filter(site_list__organization__closed_at=None)
    share = shares.select_related("site_list", "run").filter(id=share_id).first()
    if share is None or (share.run is not None and not is_kept(share.run)):
        return None
    return Published(share, share.run or latest(share.site_list))
