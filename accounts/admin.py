"""Organizations, people, plans and keys in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone

from accounts import usage
from accounts.models import ApiKey, Membership, Organization, Tier, User
from accounts.services import create_api_key, revoke_api_key


class UserAddForm(AdminUserCreationForm):
    """A new person, with or without a password."""

    class Meta:
        model = User
        fields = ("email",)


class UserEditForm(UserChangeForm):
    """A person; the password has a form of its own."""

    class Meta:
        model = User
        fields = "__all__"


class MembershipInline(admin.TabularInline):
    """Who belongs to an organization, or what a person belongs to."""

    model = Membership
    extra = 0
    fields = ("organization", "user", "role", "created_at")
    readonly_fields = ("created_at",)
    autocomplete_fields = ("organization", "user")


@admin.register(User)
class UserAdmin(DjangoUserAdmin):
    """People, by e-mail address."""

    form = UserEditForm
    add_form = UserAddForm
    list_display = ("email", "first_name", "last_name", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("email", "first_name", "last_name")
    ordering = ("email",)
    inlines = (MembershipInline,)
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("email", "password")}),
        ("Name", {"fields": ("first_name", "last_name")}),
        ("Permissions", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Times", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "usable_password", "password1", "password2")}),)


@admin.register(Organization)
class OrganizationAdmin(admin.ModelAdmin):
    """Organizations with their plan and this month's usage."""

    list_display = ("name", "slug", "tier", "used_this_month", "created_at")
    list_filter = ("tier",)
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    fields = ("name", "slug", "tier", "used_this_month", "created_at")
    readonly_fields = ("used_this_month", "created_at")
    inlines = (MembershipInline,)
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Organization]:
        """With the month's usage, in one query for all rows."""
        return super().get_queryset(request).select_related("tier").annotate(used=usage.used_column(timezone.now()))

    @admin.display(description="scans this month", ordering="used")
    def used_this_month(self, organization: Organization) -> str:
        """Of how many."""
        used = getattr(organization, "used", 0)  # an organization that is just being added has no row yet
        return f"{used:,} of {organization.tier.scans_per_month:,}" if organization.pk else ""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """All scans and reports would go too, one by one: not from a web page."""
        return False


@admin.register(Tier)
class TierAdmin(admin.ModelAdmin):
    """Plans. The name is what rows refer to, and stays."""

    list_display = (
        "name",
        "scans_per_month",
        "concurrent_scans",
        "requests_per_minute",
        "webhooks",
        "schedules",
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Tier | None = None) -> tuple[str, ...]:
        return ("name",) if obj else ()


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):
    """Who has which role where."""

    list_display = ("user", "organization", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("user", "organization")
    search_fields = ("user__email", "organization__name")
    autocomplete_fields = ("organization", "user")
    readonly_fields = ("created_at",)


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):
    """API keys: made here, shown once, revoked, never deleted."""

    list_display = (
        "name",
        "prefix",
        "organization",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    list_select_related = ("organization",)
    search_fields = ("prefix", "name", "organization__name")
    autocomplete_fields = ("organization",)
    actions = ("revoke",)

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        known = ("prefix", "created_by", "created_at", "last_used_at", "revoked_at") if obj else ()
        return ("organization", "name", "expires_at", *known)

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        if obj is None:
            return ()
        return ("organization", "prefix", "created_by", "created_at", "last_used_at", "revoked_at")

    def save_model(self, request: HttpRequest, obj: ApiKey, form: ModelForm[ApiKey], change: bool) -> None:
        """A new key is minted by the service, and its text shown in the next page's message."""
        if change:
            obj.save(update_fields=["name", "expires_at"])
            return
        assert isinstance(request.user, User)
        key, plaintext = create_api_key(
            organization=obj.organization,
            name=obj.name,
            created_by=request.user,
            expires_at=obj.expires_at,
        )
        # The admin goes on with `obj`: for its log, and for the way to the next page.
        obj.id, obj.prefix, obj.digest = key.id, key.prefix, key.digest
        messages.warning(request, f"This is the key; it is not shown again: {plaintext}")

    @admin.action(description="Revoke selected API keys", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """At once, and for good."""
        keys = list(queryset.filter(revoked_at=None))
        for key in keys:
            revoke_api_key(key)
        messages.success(request, f"{len(keys)} revoked.")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Scans tell which key asked for them."""
        return False
