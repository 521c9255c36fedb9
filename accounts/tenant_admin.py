"""Base classes of admin pages: pagination without count queries, search by ID or organization, read-only rows."""

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

from accounts.identity.freshness import View, fresh_login_needed
from accounts.models import Organization, User

V = TypeVar("V", bound=View)

# Older rows are found with a filter or a search.
MAX_PAGES = 200
# Organizations may share a name; a search takes at most so many of them.
MAX_NAMESAKES = 20


class Site(admin.AdminSite):
    """The admin, which requires a reauthentication for every change, because most of them outlive the session."""

    site_header = site_title = "Website Scan Service"
    index_title = "Administration"

    def admin_view(self, view: V, cacheable: bool = False) -> V:
        return cast("V", super().admin_view(fresh_login_needed("POST")(view), cacheable))


class UncountedChangeList(ChangeList):
    """ChangeList that fetches a page and one more row instead of counting, so its time does not depend on the table."""

    def get_results(self, request: HttpRequest) -> None:
        if not 1 <= self.page_num <= MAX_PAGES:
            raise IncorrectLookupParameters
        start = (self.page_num - 1) * self.list_per_page
        rows = list(self.queryset[start : start + self.list_per_page + 1])
        # The paginator knows the pages up to this one, and the next if there is one.
        self.paginator = Paginator(range(start + len(rows)), self.list_per_page)
        self.result_list = rows[: self.list_per_page]
        self.result_count = self.full_result_count = len(self.result_list)
        self.show_full_result_count = self.can_show_all = False
        self.show_admin_actions = bool(rows)
        self.multi_page = self.paginator.num_pages > 1
        # For templates/django/admin/pagination.html.
        self.place = (start + 1, start + len(self.result_list)) if rows else (0, 0)
        self.has_more = len(rows) > self.list_per_page


def is_superuser(request: HttpRequest) -> bool:
    return isinstance(request.user, User) and request.user.is_superuser


class AddedBySuperusers(admin.ModelAdmin):
    """Mixin: only superusers add rows, because such a row gives access to an organization or an account."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_superuser(request) and super().has_add_permission(request)


class ChangedBySuperusers(AddedBySuperusers):
    """Mixin: only superusers add and change rows."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_superuser(request) and super().has_change_permission(request, obj)


class UncountedAdmin(admin.ModelAdmin):
    """ModelAdmin whose lists stay quick with millions of rows."""

    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return UncountedChangeList


class ReadOnlyAdmin(UncountedAdmin):
    """ModelAdmin that only shows rows. Search finds them by their ID, a related row's ID or the organization."""

    actions: Any = None
    sortable_by = ()  # only one order is cheap
    ordering: ClassVar[tuple[str, ...]] = ("-created_at",)
    search_fields = ("id",)  # switches the search on; get_search_results decides what it does
    # Maps the prefix of an ID to the lookup for such an ID. All of the lookups have an index.
    ids: ClassVar[Mapping[str, str]] = {}

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search by the beginning of an ID, otherwise by an organization's exact slug or name."""
        term = search_term.strip()
        if not term:
            return queryset, False
        lookup = self.ids.get(term.partition("_")[0]) if "_" in term else None
        if lookup is not None:
            return queryset.filter(**{lookup: term}), False
        # A query of its own for the organizations, so that the long table is searched by its own index.
        found = Organization.objects.filter(Q(slug=term.lower()) | Q(name__iexact=term)).values_list("id", flat=True)
        return self.of_organizations(queryset, list(found[:MAX_NAMESAKES])), False

    def of_organizations(self, queryset: QuerySet[Any], organization_ids: list[int]) -> QuerySet[Any]:
        """Return the rows that belong to one of these organizations."""
        return queryset.filter(organization_id__in=organization_ids)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def page_of(row: Model) -> str:
    """Return the URL of a row's admin page. The ID is quoted, because the admin unescapes `_2F` and the like in IDs."""
    options = row._meta
    return reverse(f"admin:{options.app_label}_{options.model_name}_change", args=[quote(row.pk)])


def link(url: str, text: object) -> SafeString:
    """Return an HTML link with escaped text and URL."""
    return format_html('<a href="{}">{}</a>', url, text)
