"""Dashboard view for one site of a list."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import refuse_over_rate_or_in_maintenance
from infrastructure.api.errors import NotFound
from sites.lists.pages.entry_page import history_of
from sites.lists.pages.table import rows_of, tags_of
from sites.lists.pages.views import WORK, find
from sites.lists.services import change_entry, find_entry
from sites.lists.tags import MAX_NOTE_LENGTH, MAX_TAG_LENGTH, MAX_TAGS, SEPARATOR, tidy_note, tidy_tags
from website_scan.errors import Refusal

MAX_TAGS_LENGTH = MAX_TAGS * (MAX_TAG_LENGTH + 2)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Membership.Role.VIEWER)
@known
@session_suffices(WORK)
def list_entry(request: MemberRequest, list_id: str, entry_id: str) -> HttpResponse:
    """Render the page of a site.

    Members can store its `tags`, separated by semicolons, and its `note`.
    """
    if request.method != "POST":
        return _page(request, list_id, entry_id)
    if not request.membership.is_member:
        raise PermissionDenied
    return _change(request, list_id, entry_id)


def _change(request: MemberRequest, list_id: str, entry_id: str) -> HttpResponse:
    tags, note = request.POST.get("tags", ""), request.POST.get("note", "")
    try:
        refuse_over_rate_or_in_maintenance(request)
        change_entry(
            caller=member_caller(request.membership),
            list_id=list_id,
            entry_id=entry_id,
            tags=list(tidy_tags(tags.split(SEPARATOR))),
            note=tidy_note(note),
        )
    except NotFound:
        raise
    except Refusal as refusal:
        return _page(request, list_id, entry_id, refusal.status, tags=tags, note=note, problem=str(refusal))
    messages.success(request, "Tags and note were saved.")
    return redirect(page_of(request.membership, "list-entry", list_id, entry_id))


def _page(request: MemberRequest, list_id: str, entry_id: str, status: int = 200, **form: str) -> HttpResponse:
    site_list = find(request, list_id)
    entry = find_entry(request.membership.organization_id, list_id, entry_id)
    (row,) = rows_of(site_list, [entry])
    context: dict[str, Any] = {
        "section": "lists",
        "site_list": site_list,
        "entry": entry,
        "row": row,
        "history": history_of(entry),
        "all_tags": tags_of(site_list),
        "tags": f"{SEPARATOR} ".join(entry.tags),
        "note": entry.note,
        "problem": "",
        "max_tags_length": MAX_TAGS_LENGTH,
        "max_note_length": MAX_NOTE_LENGTH,
        **form,
    }
    return render(request, "sites/lists/entry.html", context, status=status)
