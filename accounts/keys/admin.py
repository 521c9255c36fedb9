"""Django admin of API keys."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.cache import add_never_cache_headers

from accounts.keys.services import change_api_key, create_api_key, revoke_api_key
from accounts.models import ApiKey, User
from accounts.shown_once import SECRETS
from accounts.tenant_admin import AddedBySuperusers, UncountedAdmin
from infrastructure.api.scopes import Scope

MAX_LISTED_FORMER_KEYS = 10
READONLY_FIELDS = (
    "prefix",
    "created_by",
    "created_at",
    "regenerated_at",
    "former_keys",
    "last_used_at",
    "last_used_from",
    "revoked_at",
)


class ApiKeyAdmin(AddedBySuperusers, UncountedAdmin):
    """API key admin.

    Keys can be created and revoked, but not deleted. A key's plaintext is displayed once.
    """

    list_display = (
        "name",
        "prefix",
        "scope",
        "organization",
        "created_at",
        "last_used_at",
        "last_used_from",
        "expires_at",
        "revoked_at",
    )
    list_filter = (
        "scope",
        ("revoked_at", admin.EmptyFieldListFilter),
    )
    list_select_related = ("organization",)
    search_fields = ("prefix", "former__prefix", "name", "organization__name")
    sortable_by = ("created_at", "last_used_at")
    autocomplete_fields = ("organization",)
    actions = ("revoke",)

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        return ("organization", "name", "scope", "expires_at", *(READONLY_FIELDS if obj else ()))

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        return ("organization", "scope", *READONLY_FIELDS) if obj else ()

    @admin.display(description="former secrets")
    def former_keys(self, key: ApiKey) -> str:
        return "; ".join(map(str, key.former.all()[:MAX_LISTED_FORMER_KEYS])) or "none"

    def save_model(self, request: HttpRequest, obj: ApiKey, form: ModelForm[ApiKey], change: bool) -> None:
        """Create or change the key through the service functions, which log the change."""
        assert isinstance(request.user, User)
        if change:
            change_api_key(obj, request.user, {"name": obj.name, "expires_at": obj.expires_at})
            return
        key, plaintext = create_api_key(
            organization=obj.organization,
            name=obj.name,
            scope=Scope(obj.scope),
            created_by=request.user,
            expires_at=obj.expires_at,
        )
        # The Django admin uses `obj` after this method, for its own log and for the next page.
        obj.id, obj.prefix, obj.digest = key.id, key.prefix, key.digest
        obj.plaintext = plaintext  # type: ignore[attr-defined]  # `response_add` displays the plaintext.

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.plaintext_view)
        return [path("<str:key_id>/shown/", view, name="accounts_apikey_shown"), *super().get_urls()]

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> HttpResponse:
        """Redirect to the page with the new key's plaintext.

        A message would store the plaintext in a cookie.
        """
        SECRETS.put(request, obj.id, getattr(obj, "plaintext", ""))
        return redirect("admin:accounts_apikey_shown", obj.id)

    def plaintext_view(self, request: HttpRequest, key_id: str) -> HttpResponse:
        """Display a new key's plaintext, but only in the first request for this page."""
        plaintext = SECRETS.take(request, key_id) if request.method == "GET" else None
        if plaintext is None:
            return redirect("admin:accounts_apikey_changelist")
        context = {"title": "The new API key", "plaintext": plaintext}
        context = self.admin_site.each_context(request) | context
        response = TemplateResponse(request, "admin/accounts/apikey_created.html", context)
        add_never_cache_headers(response)
        return response

    @admin.action(description="Revoke selected API keys", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        keys = queryset.filter(revoked_at=None).select_related("organization")
        assert isinstance(request.user, User)
        revoked = sum(revoke_api_key(key, request.user) for key in keys)
        messages.success(request, f"{revoked} revoked.")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False, because scans refer to their API key."""
        return False
