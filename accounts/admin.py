"""Django admin for organizations, people, tiers, memberships, invitations, API keys and the activity log."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

# Importing from the admin modules registers these models, which must happen before they are unregistered below.
from allauth.account.admin import EmailAddress
from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from accounts import activity, usage
from accounts.closing.services import close_account, close_organization, organizations_without_other_owner
from accounts.keys.admin import ApiKeyAdmin
from accounts.members import end_invitations, grantable_roles
from accounts.models import ActivityEvent, ApiKey, Invitation, Membership, Organization, Tier, User
from accounts.tenant_admin import (
    AddedBySuperusers,
    ChangedBySuperusers,
    ReadOnlyAdmin,
    UncountedAdmin,
    is_superuser,
)

MAX_LISTED_MEMBERSHIPS = 100

# Staff must not edit second factors or addresses of people, because they could then log in as these people.
admin.site.unregister([EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken, Group])


class UserAddForm(AdminUserCreationForm):
    class Meta:
        model = User
        fields = ("email",)


class UserEditForm(UserChangeForm):
    """Admin form for editing a person.

    Django changes the password in a separate form.
    """

    class Meta:
        model = User
        fields = "__all__"


def memberships_table(rows: QuerySet[Membership], **new: object) -> SafeString:
    """Return an HTML table of the first 100 memberships with links, and a link to add a membership.

    A large organization has thousands, which would be too many for the page.
    """
    add = f"{reverse('admin:accounts_membership_add')}?{urlencode(new)}"
    memberships = rows.select_related("organization", "user").order_by("created_at", "id")[:MAX_LISTED_MEMBERSHIPS]
    return render_to_string("admin/accounts/memberships.html", {"memberships": memberships, "add": add})


def record_membership_change(request: HttpRequest, membership: Membership, action: str, **details: Any) -> None:
    """Log a staff member's change to a membership, so that the organization's admins see it."""
    assert isinstance(request.user, User)
    activity.record(membership.organization, request.user, action, membership.user.email, **details)


SUPERUSER_FIELDS = ("email", "is_staff", "is_superuser", "groups", "user_permissions")


@admin.register(User)
class UserAdmin(AddedBySuperusers, UncountedAdmin, DjangoUserAdmin):
    form = UserEditForm
    add_form = UserAddForm
    list_display = ("email", "first_name", "last_name", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("email", "first_name", "last_name")
    ordering = ("email",)
    filter_horizontal = ()  # Screen readers cannot read the labels of Django's widget for `filter_horizontal`.
    readonly_fields = ("last_login", "date_joined", "memberships")
    fieldsets = (
        (None, {"fields": ("email", "password", "time_zone")}),
        ("Name", {"fields": ("first_name", "last_name")}),
        ("Permissions", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Times", {"fields": ("last_login", "date_joined")}),
        ("Organizations", {"fields": ("memberships",)}),
    )
    add_fieldsets = ((None, {"fields": ("email", "usable_password", "password1", "password2")}),)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Make permissions and the e-mail address read-only, except for superusers.

        Otherwise staff could grant themselves permissions, or take over an account by changing its address.
        """
        own = super().get_readonly_fields(request, obj)
        return own if is_superuser(request) or obj is None else (*own, *SUPERUSER_FIELDS)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return False for superusers, unless the logged-in user is a superuser.

        This also protects their passwords.
        """
        is_protected = obj is not None and obj.is_superuser and not is_superuser(request)
        return not is_protected and super().has_change_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).filter(closed_at=None)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return False for an organization's only owner.

        Only superusers may delete superusers.
        """
        if obj is None:
            return super().has_delete_permission(request)
        is_protected = obj.is_superuser and not is_superuser(request)
        return (
            not is_protected
            and not organizations_without_other_owner(obj)
            and super().has_delete_permission(request, obj)
        )

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Close the account immediately.

        A Celery task deletes its row within minutes.
        """
        assert isinstance(request.user, User)
        close_account(user=obj, actor=request.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            self.delete_model(request, user)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Allow only superusers to set a password, because anybody who knows the password can log in as the person."""
        if not is_superuser(request):
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)

    @admin.display(description="memberships")
    def memberships(self, user: User) -> SafeString:
        return memberships_table(Membership.objects.filter(user=user), user=user.pk)


@admin.register(Group)
class GroupAdmin(ChangedBySuperusers, DjangoGroupAdmin):
    """Group admin, for superusers only, because a group can grant any permission."""


@admin.register(Organization)
class OrganizationAdmin(UncountedAdmin):
    """Organization admin, with the tier and this month's usage.

    `scans.admin` adds scan columns.
    """

    list_display: Any = ("name", "slug", "tier", "used_this_month", "people", "active_keys", "created_at")
    list_filter = ("tier",)
    list_select_related = ("tier",)
    sortable_by = ("name", "created_at")
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    fields: ClassVar[Any] = (
        "name",
        "slug",
        "tier",
        "shares_reports",
        "second_factor_required",
        "login_provider",
        "login_domain",
        "used_this_month",
        "active_keys",
        "memberships",
        "created_at",
    )
    readonly_fields: ClassVar[Any] = ("used_this_month", "active_keys", "memberships", "created_at")
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Organization]:
        """Return the organizations with usage and counts as annotations, so that the list page needs only one query."""
        rows: QuerySet[Organization] = super().get_queryset(request).filter(closed_at=None)
        if getattr(request.resolver_match, "url_name", "") == "autocomplete":
            return rows
        return rows.annotate(
            used=usage.used_scans_column(timezone.now()),
            member_count=_count_subquery(Membership.objects.all()),
            key_count=_count_subquery(ApiKey.objects.filter(revoked_at=None)),
        )

    @admin.display(description="scans this month")
    def used_this_month(self, organization: Organization) -> str:
        used = getattr(organization, "used", 0)  # A new organization is not in the database yet.
        return f"{used:,} of {organization.tier.scans_per_month:,}" if organization.pk else ""

    @admin.display(description="members")
    def people(self, organization: Organization) -> int:
        return getattr(organization, "member_count", 0)

    @admin.display(description="memberships")
    def memberships(self, organization: Organization) -> str:
        if not organization.pk:
            return ""
        return memberships_table(Membership.objects.filter(organization=organization), organization=organization.pk)

    @admin.display(description="active keys")
    def active_keys(self, organization: Organization) -> int:
        return getattr(organization, "key_count", 0)

    def save_model(self, request: HttpRequest, obj: Organization, form: ModelForm[Organization], change: bool) -> None:
        """Save the organization and log the changes for its members, whose limits may change."""
        super().save_model(request, obj, form, change)
        assert isinstance(request.user, User)
        if not change:
            activity.record(obj, request.user, "organization.created", obj.name)
        elif form.changed_data:
            new = {name: form.cleaned_data[name] for name in form.changed_data}
            changes = {name: {"from": str(form.initial.get(name)), "to": _plain(value)} for name, value in new.items()}
            activity.record(obj, request.user, "organization.changed", obj.name, **changes)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_superuser(request)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return only the organizations' names, not a tree of all related rows.

        Their related rows, which a worker deletes, may be millions and are not listed.
        """
        names = [str(organization) for organization in objs]
        everything = (
            "All their scans, reports, webhooks, keys and logs. No key works and nobody belongs to them at once."
        )
        return [*names, everything], {"organizations": len(names)}, set(), []

    def delete_model(self, request: HttpRequest, obj: Organization) -> None:
        close_organization(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Organization]) -> None:
        for organization in queryset:
            close_organization(organization)


def _plain(value: object) -> str:
    return str(value.pk if isinstance(value, Model) else value)


def _count_subquery(rows: QuerySet[Any]) -> Coalesce:
    """Return a subquery that counts an organization's rows."""
    counted = rows.filter(organization_id=OuterRef("pk")).order_by().values("organization_id")
    return Coalesce(Subquery(counted.annotate(number=Count("*")).values("number")), 0)


@admin.register(Tier)
class TierAdmin(admin.ModelAdmin):
    """Tier admin. A tier's name is its primary key, so it cannot be changed."""

    list_display = (
        "name",
        "scans_per_month",
        "quota_per_owner",
        "concurrent_scans",
        "requests_per_minute",
        "webhooks",
        "schedules",
        "lists",
        "list_entries",
        "assessments",
        "journeys",
        "pages_per_audit",
        "shortest_interval",
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Tier | None = None) -> tuple[str, ...]:
        return ("name",) if obj else ()


@admin.register(Membership)
class MembershipAdmin(ChangedBySuperusers, UncountedAdmin):
    """Membership admin. A membership is a person's role in an organization."""

    list_display = ("user", "organization", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("user", "organization")
    sortable_by = ("created_at",)
    ordering = ("-id",)
    search_fields = ("user__email", "organization__name")
    autocomplete_fields = ("organization", "user")
    readonly_fields = ("created_at",)
    actions = None

    def get_readonly_fields(self, request: HttpRequest, obj: Membership | None = None) -> tuple[str, ...]:
        """Make an existing membership read-only, except for its role."""
        return ("organization", "user", "created_at") if obj else ("created_at",)

    def save_model(self, request: HttpRequest, obj: Membership, form: ModelForm[Membership], change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change:
            record_membership_change(request, obj, "member.added", role=obj.role)
        elif "role" in form.changed_data:
            changed = {"from": form.initial["role"], "to": obj.role}
            record_membership_change(request, obj, "member.role_changed", **changed)
            assert isinstance(request.user, User)
            end_invitations(by=request.user, subject=obj, but=grantable_roles(obj))

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        record_membership_change(request, obj, "member.removed")
        assert isinstance(request.user, User)
        end_invitations(by=request.user, subject=obj)
        super().delete_model(request, obj)


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    """Invitation admin.

    It does not display the links, which only the invited person may have.
    """

    list_display = ("email", "organization", "role", "state", "invited_by", "created_at", "expires_at")
    list_filter = ("role",)
    list_select_related = ("organization", "invited_by")
    ids = {"inv": "id__startswith"}
    search_help_text = "The beginning of an invitation's ID, an e-mail address, or an organization's slug or name."
    fields = (
        *("id", "organization", "email", "role", "invited_by", "state"),
        *("created_at", "expires_at", "accepted_at", "revoked_at"),
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Invitation], search_term: str
    ) -> tuple[QuerySet[Invitation], bool]:
        if "@" in search_term:
            return queryset.filter(email__iexact=search_term.strip()), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="state")
    def state(self, invitation: Invitation) -> str:
        if invitation.accepted_at:
            return "accepted"
        if invitation.revoked_at:
            return "revoked"
        return "open" if invitation.expires_at > timezone.now() else "expired"


@admin.register(ActivityEvent)
class ActivityEventAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "who", "action", "object_name", "organization")
    list_select_related = ("organization",)
    ordering = ("-id",)
    search_help_text = "A person's e-mail address, or an organization's slug or name."
    fields = ("created_at", "organization", "actor", "actor_email", "actor_key", "action", "object_name", "details")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ActivityEvent], search_term: str
    ) -> tuple[QuerySet[ActivityEvent], bool]:
        if "@" in search_term:
            # The search finds the person first, because `actor` has an index.
            people = User.objects.filter(email__iexact=search_term.strip()).values_list("id", flat=True)
            return queryset.filter(actor_id__in=list(people)), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="who")
    def who(self, event: ActivityEvent) -> str:
        return event.who


admin.site.register(ApiKey, ApiKeyAdmin)
