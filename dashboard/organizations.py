"""Page with a person's organizations and the sites of each that need attention."""

from __future__ import annotations

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts import access
from accounts.roles import require_login
from sites.models import Monitor, SiteState
from sites.models.monitor import STATUS_FILTERS


@require_safe
@require_login
def organizations(request: HttpRequest) -> HttpResponse:
    """List the person's organizations with their sites that have urgent problems, and their unreachable monitors.

    Needs two statements for any number of organizations.
    """
    states = access.rows_of_member(SiteState, request.user).order_by().values("organization_id")
    sites = states.annotate(
        sites=Count("id"),
        critical_sites=Count("id", filter=Q(critical__gt=0)),
        high_sites=Count("id", filter=Q(critical=0, high__gt=0)),
    )
    failing = access.rows_of_member(Monitor, request.user).filter(STATUS_FILTERS["failing"]).order_by()
    context = {
        "sites": {row["organization_id"]: row for row in sites},
        "unreachable": dict(failing.values_list("organization_id").annotate(Count("id"))),
    }
    return render(request, "accounts/organizations.html", context)
