"""What the admin's pages share: long tables that nobody counts, search by ID or organization, rows only looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

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

from accounts.models import Organization

admin.site.site_header = admin.site.site_title = "Website Scan Service"
admin.site.index_title = "Administration"

# Who looks for something older than what is on so many pages filters or searches.
MAX_PAGES = 200
# Organizations may have the same name, and not more of them than anybody wants to see.
MAX_NAMESAKES = 20


class UncountedChangeList(ChangeList):
    """Fetches a page and one row more, instead of counting: the time does not depend on how many rows there are."""

    def get_results(self, request: HttpRequest) -> None:
        if not 1 <= self.page_num <= MAX_PAGES:
            raise IncorrectLookupParameters
        start = (self.page_num - 1) * self.list_per_page
        rows = list(self.queryset[start : start + self.list_per_page + 1])
        # Pages up to this one, and the next when there is one.
        self.paginator = Paginator(range(start + len(rows)), self.list_per_page)
        self.result_list = rows[: self.list_per_page]
        self.result_count = self.full_result_count = len(self.result_list)
        self.show_full_result_count = self.can_show_all = False
        self.show_admin_actions = bool(rows)
        self.multi_page = self.paginator.num_pages > 1
        # For templates/admin/pagination.html.
        self.place = (start + 1, start + len(self.result_list)) if rows else (0, 0)
        self.has_more = len(rows) > self.list_per_page


class UncountedAdmin(admin.ModelAdmin):
    """Lists that stay quick with millions of rows."""

    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return UncountedChangeList


class ReadOnlyAdmin(UncountedAdmin):
    """Nothing is added, changed or deleted here. Searched by the ID of a row or of one that it belongs to."""

    actions: Any = None
    sortable_by = ()  # only one order is cheap
    ordering: ClassVar[tuple[str, ...]] = ("-created_at",)
    search_fields = ("id",)  # that there is a search; what it means stands below
    # By the prefix of an ID: the lookup that begins with it. All of them have an index.
    ids: ClassVar[Mapping[str, str]] = {}

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """By the beginning of an ID, else by an organization's exact slug or name."""
        term = search_term.strip()
        if not term:
            return queryset, False
        lookup = self.ids.get(term.partition("_")[0]) if "_" in term else None
        if lookup is not None:
            return queryset.filter(**{lookup: term}), False
        # Found first, so that the long table is asked by its own index.
        found = Organization.objects.filter(Q(slug=term.lower()) | Q(name__iexact=term)).values_list("id", flat=True)
        return self.of_organizations(queryset, list(found[:MAX_NAMESAKES])), False

    def of_organizations(self, queryset: QuerySet[Any], organization_ids: list[int]) -> QuerySet[Any]:
        """Its rows that belong to one of them."""
        return queryset.filter(organization_id__in=organization_ids)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def page_of(row: Model) -> str:
    """The address of a row's page in the admin, which reads `_2F` and the like in an ID as an escaped character."""
    options = row._meta
    return reverse(f"admin:{options.app_label}_{options.model_name}_change", args=[quote(row.pk)])


def link(url: str, text: object) -> SafeString:
    """An anchor; text and address are escaped."""
    return format_html('<a href="{}">{}</a>', url, text)
