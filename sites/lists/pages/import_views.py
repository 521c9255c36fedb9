"""Dashboard view that imports sites into a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from msgspec import Struct

from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import refuse_over_rate_or_in_maintenance
from infrastructure.api.errors import NotFound
from infrastructure.web.uploads import accepts_file
from sites.lists.importing import ImportNumbers, add_entries, replace_entries
from sites.lists.pages.import_preview import (
    MAX_AGE_S,
    MAX_FILE_BYTES,
    ImportInput,
    ImportTooLarge,
    Preview,
    import_input_of,
    load_signed_rows,
    preview,
    preview_of,
)
from sites.lists.pages.rows import Capacity, capacity_of
from sites.lists.pages.states import cost_of
from sites.lists.pages.views import WORK, find, quota_of
from sites.lists.upload_faults import Fault, Faults, InvalidEntries
from sites.lists.uploads import Upload
from sites.models import SiteList
from website_scan.errors import Refusal
from website_scan.messages import counted


class Problems(Struct, frozen=True):
    """Errors of an import, for display.

    `lines` are the first invalid lines, and `total` is the number of all invalid lines.
    """

    text: str
    lines: Sequence[Fault] = ()
    total: int = 0


@accepts_file(MAX_FILE_BYTES)
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Membership.Role.MEMBER)
@known
@session_suffices(WORK)
def list_import(request: MemberRequest, list_id: str) -> HttpResponse:
    """Render the import form and its preview, or import the previewed sites.

    The form field `mode` is `add` or `replace`.
    """
    site_list = find(request, list_id)
    if request.method != "POST":
        return _page(request, site_list)
    if "carried" in request.POST:
        return _import(request, site_list)
    import_input = import_input_of(request)
    if import_input is None:
        problems = Problems("Paste at least one address, or choose a file.")
        return _page(request, site_list, 400, problems=problems)
    try:
        refuse_over_rate_or_in_maintenance(request)
        import_preview = preview(site_list, import_input)
    except ImportTooLarge:
        text = "That is more than this page accepts. Send it through the API, or with website-scan list push."
        return _page(request, site_list, 413, problems=Problems(text), text=import_input.text)
    except Refusal as refusal:
        return _page(request, site_list, refusal.status, problems=Problems(_text_of(refusal)), text=import_input.text)
    return _preview_page(request, site_list, import_preview, import_input)


def _text_of(refusal: Refusal) -> str:
    """Return the text of a refusal.

    If an upload has no lines, the only reported line has the reason.
    """
    if isinstance(refusal, InvalidEntries):
        (first, *_) = cast("list[dict[str, object]]", refusal.details["entries"])
        return str(first["error"])
    return str(refusal)


def _preview_page(
    request: MemberRequest, site_list: SiteList, import_preview: Preview, import_input: ImportInput
) -> HttpResponse:
    """Return the page that shows a preview.

    Invalid lines are listed with their text. The other lines can be saved.
    """
    faults = import_preview.faults
    if not faults.count:
        return _page(request, site_list, preview=import_preview)
    where = "" if import_input.text or not import_input.is_file else " The file must be sent again."
    text = f"Correct {'it' if faults.count == 1 else 'them'} below, and preview again.{where}"
    if import_preview.number:
        text += f" Or save the other {counted(import_preview.number, 'site')} without."
    problems = Problems(text, faults.reported, faults.count)
    shown = import_preview if import_preview.number else None
    return _page(request, site_list, 400, problems=problems, preview=shown, text=import_input.text)


def _import(request: MemberRequest, site_list: SiteList) -> HttpResponse:
    import_rows = {"add": add_entries, "replace": replace_entries}.get(request.POST.get("mode", ""))
    if import_rows is None:
        raise BadRequest
    carried = request.POST["carried"]
    rows = load_signed_rows(site_list, carried, MAX_AGE_S)
    if rows is None:
        return _page_of_late_preview(request, site_list, carried)
    try:
        refuse_over_rate_or_in_maintenance(request)
        numbers = import_rows(caller=member_caller(request.membership), list_id=site_list.id, rows=rows)
    except NotFound:
        raise
    except Refusal as refusal:
        # The sites are not lost: the page has the preview again, with the reason above it.
        again = preview_of(site_list, Upload(rows, Faults(), None))
        return _page(request, site_list, refusal.status, problems=Problems(str(refusal)), preview=again)
    messages.success(request, _result_text(numbers))
    return redirect(page_of(request.membership, "list", site_list.id))


def _page_of_late_preview(request: MemberRequest, site_list: SiteList, carried: str) -> HttpResponse:
    """Return a new preview of the same sites, because the list may have changed since the first one."""
    rows = load_signed_rows(site_list, carried)
    if rows is None:
        return _page(request, site_list, 400, problems=Problems("The preview is not valid. Preview the sites again."))
    problems = Problems("The preview is too old, so it was made again. Save it now.")
    again = preview_of(site_list, Upload(rows, Faults(), None))
    return _page(request, site_list, 400, problems=problems, preview=again)


def _result_text(numbers: ImportNumbers) -> str:
    changes = [f"{numbers[name]:,} {name}" for name in ("added", "changed", "removed") if numbers[name]]
    if not changes:
        return "The list had these sites already; nothing has changed."
    return f"Imported: {', '.join(changes)}. Run the list to judge its sites."


def _page(
    request: MemberRequest,
    site_list: SiteList,
    status: int = 200,
    *,
    problems: Problems | None = None,
    preview: Preview | None = None,
    text: str = "",
) -> HttpResponse:
    capacity = capacity_of(request.membership.organization)
    context: dict[str, Any] = {
        "section": "lists",
        "site_list": site_list,
        "problems": problems,
        "preview": preview,
        "text": text,
        "room_words": f"Your plan allows {counted(capacity.entries_left, 'more site')}.",
        "over": _excess_text(capacity, preview) if preview else "",
        "plan_text": cost_of(site_list, quota_of(request), preview.difference.added).plan_text if preview else "",
    }
    return render(request, "sites/lists/import.html", context, status=status)


def _excess_text(capacity: Capacity, preview: Preview) -> str:
    """Return an error text if the import exceeds the plan even after removal of all other sites, else ""."""
    change = preview.difference
    more = change.added - change.removed - capacity.entries_left
    if more <= 0:
        return ""
    left = counted(capacity.entries_left, "more site")
    return f"Your plan allows {left} in all lists, so this cannot be saved: remove {counted(more, 'site')} first."
