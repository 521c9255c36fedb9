"""Page with a person's organizations and the sites that are down in each."""

from __future__ import annotations

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts import access
from accounts.roles import require_login
from sites.models import Monitor
from sites.models.monitor import STATUS_FILTERS


@require_safe
@require_login
def organizations(request: HttpRequest) -> HttpResponse:
    failing = access.rows_of_member(Monitor, request.user).filter(STATUS_FILTERS["failing"])
    counts = failing.order_by().values_list("organization_id").annotate(Count("id"))
    return render(request, "accounts/organizations.html", {"unreachable": dict(counts)})
