"""Admin base classes with pagination without counting, search by ID or organization, and read-only rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, cast

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import quote
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.identity.freshness import View, require_fresh_login
from accounts.models import Organization, User

V = TypeVar("V", bound=View)

# Maximum number of pages of a list. Staff find older rows with a filter or a search.
MAX_PAGES = 200
# Maximum number of organizations with the same name whose rows a search returns.
MAX_SAME_NAMES = 20


class Site(admin.AdminSite):
    """Admin site that requires reauthentication for changes, because most changes outlive the session."""

    site_header = site_title = "Website Scan Service"
    index_title = "Administration"

    def admin_view(self, view: V, cacheable: bool = False) -> V:
        return cast("V", super().admin_view(require_fresh_login("POST")(view), cacheable))


class UncountedChangeList(ChangeList):
    """ChangeList that fetches one extra row instead of counting all rows.

    Counting is slow in big tables.
    """

    def get_results(self, request: HttpRequest) -> None:
        if not 1 <= self.page_num <= MAX_PAGES:
            raise IncorrectLookupParameters
        start = (self.page_num - 1) * self.list_per_page
        rows = list(self.queryset[start : start + self.list_per_page + 1])
        # The paginator knows the pages up to the current one, plus one more if there are more rows.
        self.paginator = Paginator(range(start + len(rows)), self.list_per_page)
        self.result_list = rows[: self.list_per_page]
        self.result_count = self.full_result_count = len(self.result_list)
        self.show_full_result_count = self.can_show_all = False
        self.show_admin_actions = bool(rows)
        self.multi_page = self.paginator.num_pages > 1
        # The template django/admin/pagination.html displays `place` and `has_more`.
        self.place = (start + 1, start + len(self.result_list)) if rows else (0, 0)
        self.has_more = len(rows) > self.list_per_page


def is_superuser(request: HttpRequest) -> bool:
    return isinstance(request.user, User) and request.user.is_superuser


class AddedBySuperusers(admin.ModelAdmin):
    """Admin mixin that lets only superusers add rows, because a row grants access to an organization."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_superuser(request) and super().has_add_permission(request)


class ChangedBySuperusers(AddedBySuperusers):
    """Admin mixin that allows only superusers to add and change rows."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_superuser(request) and super().has_change_permission(request, obj)


class UncountedAdmin(admin.ModelAdmin):
    """ModelAdmin whose lists are fast even with millions of rows."""

    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return UncountedChangeList


class ReadOnlyAdmin(UncountedAdmin):
    """ModelAdmin for read-only rows, with a search by ID, by a related row's ID or by organization."""

    actions: Any = None
    # The list is not sortable, because only the default order has an index.
    sortable_by = ()
    ordering: ClassVar[tuple[str, ...]] = ("-created_at",)
    # Django displays the search box only if this is not empty. `get_search_results` implements the search.
    search_fields = ("id",)
    # Maps an ID's prefix to the query lookup for that type of ID. All lookups have an index.
    ids: ClassVar[Mapping[str, str]] = {}

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search by the beginning of an ID, or else by an organization's exact slug or name."""
        term = search_term.strip()
        if not term:
            return queryset, False
        lookup = self.ids.get(term.partition("_")[0]) if "_" in term else None
        if lookup is not None:
            return queryset.filter(**{lookup: term}), False
        # The organizations are queried separately, so that the query of the large table uses its own index.
        organizations = Organization.objects.filter(Q(slug=term.lower()) | Q(name__iexact=term)).values_list(
            "id", flat=True
        )
        return self.filter_by_organizations(queryset, list(organizations[:MAX_SAME_NAMES])), False

    def filter_by_organizations(self, queryset: QuerySet[Any], organization_ids: list[int]) -> QuerySet[Any]:
        """Return the rows that belong to any of these organizations."""
        return queryset.filter(organization_id__in=organization_ids)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def page_of(row: Model) -> str:
    """Return the URL of a row's admin page.

    The ID is quoted, because the admin decodes `_2F` and similar codes.
    """
    options = row._meta
    return reverse(f"admin:{options.app_label}_{options.model_name}_change", args=[quote(row.pk)])


def link(url: str, text: object) -> SafeString:
    """Return an HTML link with escaped text and URL."""
    return format_html('<a href="{}">{}</a>', url, text)
