"""Dashboard views that set and remove targets of a list."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import refuse_over_rate_or_in_maintenance
from infrastructure.api.errors import NotFound
from sites.lists.pages.views import WORK, find
from sites.lists.requests import ListRequest
from sites.lists.services import change_list
from sites.lists.targets import parse_targets
from website_scan.errors import Refusal


@require_POST
@requires(Membership.Role.MEMBER)
@known
@session_suffices(WORK)
def list_targets(request: MemberRequest, list_id: str) -> HttpResponse:
    """Add or remove a target, then redirect to the page of all targets.

    The form field `remove` is the number of the target to remove.
    """
    site_list = find(request, list_id)
    targets = list(site_list.targets)
    removed = request.POST.get("remove", "")
    try:
        refuse_over_rate_or_in_maintenance(request)
        if removed:
            text = "The target was removed."
            targets = [target for number, target in enumerate(targets) if str(number) != removed]
        else:
            text = "The target was set."
            targets = parse_targets([*targets, _value_of(request)])
        change_list(
            caller=member_caller(request.membership), list_id=list_id, request=ListRequest({"targets": targets})
        )
        messages.success(request, text)
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, f"No target was set. {refusal}")
    return redirect(f"{page_of(request.membership, 'list-adoption', list_id)}#targets")


def _value_of(request: MemberRequest) -> dict[str, object]:
    """Return the target from the form's values.

    `goal` is a check ID, or `type:` and the name of a scan type.
    """
    goal, percent, least = (request.POST.get(name, "").strip() for name in ("goal", "percent", "least"))
    of_type = goal.removeprefix("type:") if goal.startswith("type:") else ""
    return {
        "tag": request.POST.get("tag", ""),
        "check": "" if of_type else goal,
        "type": of_type,
        "least": _number(least),
        "percent": _number(percent),
        "by": request.POST.get("by", ""),
    }


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 3 else None
