"""View of the import of sites into a list, with the form, the preview and the import itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import refuse_now
from infrastructure.api.errors import NotFound
from infrastructure.web.uploads import accepts_file
from sites.lists.importing import ImportNumbers, add_entries, replace_entries
from sites.lists.pages.import_preview import MAX_FILE_BYTES, ImportTooLarge, Preview, carried_rows, entered_of, preview
from sites.lists.pages.rows import Room, room_of
from sites.lists.pages.views import WORK, find
from sites.lists.uploads import InvalidEntries
from sites.models import SiteList
from website_scan.errors import Refusal
from website_scan.messages import counted


@dataclass(frozen=True, slots=True)
class Problems:
    """Refusal of an import: its text, and the first invalid lines with their numbers, of `total` lines."""

    text: str
    lines: list[tuple[object, object]]
    total: int


@accepts_file(MAX_FILE_BYTES)
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Membership.Role.MEMBER)
@known
@session_suffices(WORK)
def list_import(request: MemberRequest, list_id: str) -> HttpResponse:
    """Show the import form, then a preview, then import the sites of the preview (`mode`: add or replace)."""
    site_list = find(request, list_id)
    if request.method != "POST":
        return _page(request, site_list)
    if "carried" in request.POST:
        return _change(request, site_list)
    entered = entered_of(request)
    if entered is None:
        problems = Problems("Paste at least one address, or choose a file.", [], 0)
        return _page(request, site_list, 400, problems=problems)
    try:
        refuse_now(request)
        import_preview = preview(site_list, entered)
    except ImportTooLarge:
        text = "That is more than this page takes. Send it through the API, or with the command website-scan list push."
        return _page(request, site_list, 413, problems=Problems(text, [], 0))
    except InvalidEntries as refusal:
        entries = cast("list[dict[str, object]]", refusal.details["entries"])
        lines = [(entry["line"], entry["error"]) for entry in entries]
        where = " The file must be sent again." if entered.is_file and not entered.text else ""
        problems = Problems(f"All sites are imported, or none.{where}", lines, cast("int", refusal.details["count"]))
        return _page(request, site_list, refusal.status, problems=problems, text=entered.text)
    except Refusal as refusal:
        return _page(request, site_list, refusal.status, problems=Problems(str(refusal), [], 0), text=entered.text)
    return _page(request, site_list, preview=import_preview)


def _change(request: MemberRequest, site_list: SiteList) -> HttpResponse:
    import_rows = {"add": add_entries, "replace": replace_entries}.get(request.POST.get("mode", ""))
    if import_rows is None:
        raise BadRequest
    rows = carried_rows(site_list, request.POST["carried"])
    if rows is None:
        problems = Problems("The preview is too old. Preview the sites again.", [], 0)
        return _page(request, site_list, 400, problems=problems)
    try:
        refuse_now(request)
        numbers = import_rows(caller=member_caller(request.membership), list_id=site_list.id, rows=rows)
    except NotFound:
        raise
    except Refusal as refusal:
        return _page(request, site_list, refusal.status, problems=Problems(str(refusal), [], 0))
    messages.success(request, _result_text(numbers))
    return redirect(page_of(request.membership, "list", site_list.id))


def _result_text(numbers: ImportNumbers) -> str:
    done = [f"{numbers[name]:,} {name}" for name in ("added", "changed", "removed") if numbers[name]]
    if not done:
        return "The list had these sites already; nothing has changed."
    return f"Imported: {', '.join(done)}. Run the list to judge its sites."


def _page(
    request: MemberRequest,
    site_list: SiteList,
    status: int = 200,
    *,
    problems: Problems | None = None,
    preview: Preview | None = None,
    text: str = "",
) -> HttpResponse:
    room = room_of(request.membership.organization)
    context: dict[str, Any] = {
        "section": "lists",
        "site_list": site_list,
        "problems": problems,
        "preview": preview,
        "text": text,
        "room_words": f"Your plan has room for {counted(room.entries_left, 'more site')}.",
        "over": _excess_text(room, preview) if preview else "",
    }
    if preview:
        change = preview.difference
        named: tuple[tuple[str, Literal["added", "changed", "removed"]], ...] = (
            ("Sites that are new", "added"),
            ("Sites with other tags or another note", "changed"),
            ("Sites that are on the list, but not in this import", "removed"),
        )
        context["samples"] = [(title, change.samples[name], change.numbers[name]) for title, name in named]
    return render(request, "sites/lists/import.html", context, status=status)


def _excess_text(room: Room, preview: Preview) -> str:
    """Return a text if the import exceeds the plan even when all other sites are removed, otherwise an empty text."""
    change = preview.difference
    more = change.added - change.removed - room.entries_left
    if more <= 0:
        return ""
    left = counted(room.entries_left, "more site")
    return f"Your plan has room for {left} in all lists, so this cannot be saved: remove {counted(more, 'site')} first."
