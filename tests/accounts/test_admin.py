"""Tests for the Django admin."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts import members
from accounts.keys import minting
from accounts.models import ActivityEvent, ApiKey, Invitation, Membership, MonthlyUsage, Organization, Tier, User
from accounts.tenant_admin import UncountedAdmin
from accounts.usage import month_of
from infrastructure import encryption
from reports.models import Mute, Report
from scans.models import BlockedDomain, Scan
from sites.models import Audit, Badge, Journey, ListRun, Monitor, SiteList
from tests.factories import Member, browser_of, finished_scan, make_scan, person_of
from tests.populated_monitors import add_runs, make_monitor
from tests.sites.journeys.cast import make_journey
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, make_share, snapshot
from webhooks.delivery.signing import new_secret
from webhooks.models import Delivery, Event, EventKind, Webhook

READ_ONLY_MODELS = (
    *(Scan, Audit, Journey, Monitor, SiteList, ListRun, Badge, Report, Mute, Webhook, Event, Delivery, ActivityEvent),
    Invitation,
)
MODELS = (Organization, Tier, Membership, User, ApiKey, BlockedDomain, *READ_ONLY_MODELS)


@pytest.fixture
def operator(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("operator@people.test"))
    return client


@pytest.fixture
def secrets_of_populated_tables(home: Member) -> list[str]:
    """Create rows in every table.

    Returns the secrets that must not be displayed.
    """
    secret = new_secret()
    Webhook.objects.create(
        organization=home.organization,
        url="https://receiver.test/",
        events=[EventKind.SCAN_COMPLETED],
        encrypted_secret=encryption.encrypt(secret),
    )
    finished_scan(home)
    Audit.objects.create(
        organization=home.organization,
        kind=Audit.Kind.PAGE,
        url="https://example.com/",
        types=["seo"],
        max_pages=1,
        encrypted_credentials=encryption.encrypt(secret),
    )
    Mute.objects.create(
        organization=home.organization,
        check_id="hsts",
        host="example.com",
        reason="Why not.",
        expires_at=timezone.now() + timedelta(days=7),
    )
    make_journey(home, secrets={"user": "ann", "password": secret})
    monitor = make_monitor(home, encrypted_credentials=encryption.encrypt(secret))
    add_runs(monitor, 3, timezone.now())
    Badge.objects.create(organization=home.organization, monitor=monitor)
    site_list = make_list(home, encrypted_credentials=encryption.encrypt(secret))
    make_share(site_list, snapshot(site_list, [SnapshotSite("https://example.com/", {"seo": 70}, "p")]))
    BlockedDomain.objects.create(domain="blocked.test")
    Invitation.objects.create(
        organization=home.organization, email="asked@people.test", expires_at=timezone.now() + timedelta(days=7)
    )
    member = User.objects.create_user("member@people.test", "another horse 9")
    Membership.objects.create(organization=home.organization, user=member)
    webhook = Webhook.objects.get()
    return [
        secret,
        secret.removeprefix("whsec_"),
        bytes(webhook.encrypted_secret).decode(),
        home.key.digest,
        home.plaintext,
        member.password,
    ]


def address(model: type[Model], page: str, *ids: int | str) -> str:
    """Return the URL of an admin page.

    The ID is quoted, because the admin decodes IDs such as `key_5F…`.
    """
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=list(map(quote, ids)))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_admin_displays_no_secret(operator: Client, secrets_of_populated_tables: list[str], model: type[Model]) -> None:
    row = model._default_manager.first()
    assert row is not None
    for page in (address(model, "changelist"), address(model, "change", row.pk)):
        for query in ("", "?q=anything") if page.endswith(f"{model._meta.model_name}/") else ("",):
            response = operator.get(page + query)
            if query and not admin.site.get_model_admin(model).search_fields:
                continue
            assert response.status_code == 200, page + query
            text = response.content.decode()
            assert not [hidden for hidden in secrets_of_populated_tables if hidden in text]


def test_admin_registers_only_listed_models() -> None:
    import_module("config.urls")  # Importing the URL configuration registers the models.
    registered = {model for model in admin.site._registry if model._meta.app_label != "auth"}
    assert registered == set(MODELS)
    assert admin.site.check(list(apps.get_app_configs())) == []


@pytest.mark.parametrize("model", READ_ONLY_MODELS, ids=lambda model: model.__name__)
def test_read_only_rows_cannot_be_changed(
    operator: Client, secrets_of_populated_tables: list[str], model: type[Model]
) -> None:
    row = model._default_manager.first()
    assert row is not None
    assert operator.get(address(model, "add")).status_code == 403
    assert operator.post(address(model, "change", row.pk), {"url": "https://x.test/"}).status_code == 403
    assert operator.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_admin_displays_a_new_key_once(operator: Client, home: Member) -> None:
    form = {"organization": home.organization.pk, "name": "CI", "scope": "read", "expires_at_0": "", "expires_at_1": ""}
    redirected = operator.post(address(ApiKey, "add"), form)
    key = ApiKey.objects.get(name="CI")
    assert redirected["Location"] == f"/admin/accounts/apikey/{key.pk}/shown/", "reloading the page makes no second key"
    assert "messages" not in redirected.cookies, "what stands in a cookie stands in a browser's files"
    response = operator.get(redirected["Location"])
    assert "no-store" in response["Cache-Control"]
    assert operator.get(redirected["Location"])["Location"] == address(ApiKey, "changelist")
    (plaintext,) = [
        word
        for word in response.content.decode().replace("<", " ").replace(">", " ").split()
        if word.startswith("wss_") and minting.is_well_formed(word)
    ]
    assert key.digest == minting.digest(plaintext)
    assert key.created_by is not None
    assert key.created_by.email == "operator@people.test"
    assert plaintext not in operator.get(address(ApiKey, "change", key.pk)).content.decode()
    assert plaintext not in operator.get(address(ApiKey, "changelist")).content.decode()
    assert not LogEntry.objects.filter(object_repr__contains=plaintext).exists()
    assert LogEntry.objects.get().object_id == key.pk


def test_changed_membership_revokes_invitations(operator: Client, home: Member) -> None:
    for change in ("role", "end"):
        user = person_of(home, "owner", f"{change}@people.test")
        membership = Membership.objects.get(user=user)
        invitation = members.invite(actor=membership, email=f"new-{change}@people.test", role="admin")
        if change == "role":
            operator.post(address(Membership, "change", membership.pk), {"role": "viewer"})
        else:
            operator.post(address(Membership, "delete", membership.pk), {"post": "yes"})
        invitation.refresh_from_db()
        assert invitation.revoked_at is not None


def test_renaming_a_key_changes_nothing_else(operator: Client, home: Member, stranger: Member) -> None:
    form = {
        "organization": stranger.organization.pk,
        "name": "Renamed",
        "digest": "x",
        "expires_at_0": "",
        "expires_at_1": "",
    }
    answer = operator.post(address(ApiKey, "change", home.key.pk), form)
    assert (answer.status_code, answer["Location"]) == (302, address(ApiKey, "changelist"))
    key = ApiKey.objects.get(pk=home.key.pk)
    assert (key.name, key.organization, key.digest) == ("Renamed", home.organization, home.key.digest)


def test_admin_action_revokes_keys(operator: Client, home: Member, stranger: Member) -> None:
    assert home.api.get("/v1/usage").status_code == 200
    form = {"action": "revoke", "_selected_action": [home.key.pk]}
    assert operator.post(address(ApiKey, "changelist"), form).status_code == 302
    assert home.api.get("/v1/usage").json()["code"] == "KEY_REVOKED"
    assert stranger.api.get("/v1/usage").status_code == 200
    revoked_at = ApiKey.objects.get(pk=home.key.pk).revoked_at
    operator.post(address(ApiKey, "changelist"), form)
    assert ApiKey.objects.get(pk=home.key.pk).revoked_at == revoked_at


def test_admin_cannot_delete_a_key(operator: Client, home: Member) -> None:
    assert operator.post(address(ApiKey, "delete", home.key.pk), {"post": "yes"}).status_code == 403


def test_organizations_are_listed_in_few_queries(
    operator: Client, home: Member, stranger: Member, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    MonthlyUsage.objects.create(organization=home.organization, period=month_of(timezone.now()), used=17)
    MonthlyUsage.objects.create(organization=home.organization, period="2020-01-01", used=99)
    with django_assert_max_num_queries(7):
        text = operator.get(address(Organization, "changelist")).content.decode()
    assert "17 of 100" in text
    assert "0 of 100" in text


def test_admin_adds_an_organization(operator: Client) -> None:
    assert operator.get(address(Organization, "add")).status_code == 200
    form = {"name": "New", "slug": "new", "tier": "pro"}
    assert operator.post(address(Organization, "add"), form).status_code == 302
    assert Organization.objects.get(slug="new").tier_id == "pro"


def test_person_added_in_the_admin_can_log_in(operator: Client) -> None:
    assert operator.get(address(User, "add")).status_code == 200
    form = {"email": "new@people.test", "usable_password": "true"}
    passwords = {"password1": "a long horse 9", "password2": "a long horse 9"}
    response = operator.post(address(User, "add"), form | passwords)
    assert response.status_code == 302
    login = {"login": "new@people.test", "password": "a long horse 9"}
    assert Client().post("/login/", login)["Location"] == "/dashboard/"


def test_address_in_another_case_is_refused(operator: Client) -> None:
    form = {"email": "OPERATOR@people.test", "usable_password": "true"}
    passwords = {"password1": "a long horse 9", "password2": "a long horse 9"}
    response = operator.post(address(User, "add"), form | passwords)
    assert response.status_code == 200
    assert "There is an account with this e-mail address already." in response.content.decode()
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("entered", "domain"),
    [
        ("Example.COM", "example.com"),
        (" *.example.com. ", "example.com"),
        (".example.com", "example.com"),
        ("2001:DB8::1", "2001:db8::1"),
        ("Bücher.example", "bücher.example"),
    ],
)
def test_blocked_domain_is_normalized(operator: Client, entered: str, domain: str) -> None:
    assert operator.post(address(BlockedDomain, "add"), {"domain": entered}).status_code == 302
    assert BlockedDomain.objects.get().domain == domain
    assert operator.post(address(BlockedDomain, "add"), {"domain": domain}).status_code == 200
    assert BlockedDomain.objects.count() == 1


@pytest.mark.parametrize("entered", ["https://example.com/", "example.com:80", "a b", "user@example.com", "*", "."])
def test_invalid_blocked_domain_is_refused(operator: Client, entered: str) -> None:
    response = operator.post(address(BlockedDomain, "add"), {"domain": entered})
    assert response.status_code == 200
    assert "Enter a domain such as example.com" in response.content.decode()


def test_admin_list_has_no_count_query(operator: Client, home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UncountedAdmin, "list_per_page", 2)
    for _ in range(3):
        make_scan(home)
    for query in ("", "?status__exact=queued", "?q=home"):
        with CaptureQueriesContext(connection) as queries:
            text = operator.get(address(Scan, "changelist") + query).content.decode()
        assert "Scans 1 to 2, there are more" in text
        assert not [executed["sql"] for executed in queries if "COUNT(" in executed["sql"]]
    assert "Scans 3 to 3" in operator.get(address(Scan, "changelist") + "?p=2").content.decode()


@pytest.mark.parametrize("page", ["0", "-1", "201", "99999999999999999999"])
def test_page_number_out_of_range_redirects(operator: Client, home: Member, page: str) -> None:
    make_scan(home)
    response = operator.get(f"{address(Scan, 'changelist')}?p={page}")
    assert (response.status_code, response["Location"].partition("?")[2]) == (302, "e=1")


def test_report_list_does_not_load_exports(operator: Client, home: Member) -> None:
    finished_scan(home)
    with CaptureQueriesContext(connection) as queries:
        operator.get(address(Report, "changelist"))
    assert not [query["sql"] for query in queries if '"reports_report"."export"' in query["sql"]]


@pytest.fixture
def staff_client(db: None) -> Client:
    """Return a client of a staff member with few permissions.

    The staff member may only view, change and delete people.
    """
    person = User.objects.create_user("helper@people.test", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__in=["change_user", "view_user", "delete_user"]))
    return browser_of(person)


def test_staff_cannot_change_permissions(staff_client: Client, home: Member) -> None:
    person = person_of(home, "member", "ada@people.test")
    page = staff_client.get(f"/admin/accounts/user/{person.pk}/change/")
    fields = {
        "first_name": "Eve",
        "email": "eve@people.test",
        "is_superuser": "on",
        "is_staff": "on",
        "is_active": "on",
    }
    assert staff_client.post(f"/admin/accounts/user/{person.pk}/change/", fields).status_code == 302
    person.refresh_from_db()
    assert page.status_code == 200
    assert (person.first_name, person.email) == ("Eve", "ada@people.test")
    assert (person.is_superuser, person.is_staff) == (False, False)


def test_staff_cannot_set_passwords(staff_client: Client, home: Member) -> None:
    person = person_of(home, "owner", "ada@people.test")
    path = f"/admin/accounts/user/{person.pk}/password/"
    assert staff_client.post(path, {"password1": "a new one 17", "password2": "a new one 17"}).status_code == 403
    person.refresh_from_db()
    assert not person.check_password("a new one 17")


def test_staff_cannot_join_an_organization(home: Member) -> None:
    person = User.objects.create_user("helper@people.test", is_staff=True)
    group = Group.objects.create(name="Helpers")
    person.groups.add(group)
    person.user_permissions.set(Permission.objects.all())
    staff, owner = browser_of(person), person_of(home, "owner", "ada@people.test")
    theirs = Membership.objects.create(organization=home.organization, user=person, role="viewer")
    tenant = {"organization": home.organization.pk}
    password = {"usable_password": "true", "password1": "a new one 17", "password2": "a new one 17"}
    refused = [
        staff.post("/admin/accounts/membership/add/", tenant | {"user": person.pk, "role": "owner"}),
        staff.post(f"/admin/accounts/membership/{theirs.pk}/change/", {"role": "owner"}),
        staff.post("/admin/accounts/apikey/add/", tenant | {"name": "mine", "scope": "manage"}),
        staff.post("/admin/accounts/user/add/", {"email": "invited@people.test"} | password),
        staff.post(f"/admin/auth/group/{group.pk}/change/", {"name": "Mine"}),
        staff.post("/admin/auth/group/add/", {"name": "Mine"}),
        staff.post(f"/admin/accounts/user/{owner.pk}/password/", password),
    ]
    assert [response.status_code for response in refused] == [403] * len(refused)
    theirs.refresh_from_db()
    assert theirs.role == "viewer"
    assert not User.objects.filter(email="invited@people.test").exists()
    for page in ("membership", "apikey", "user"):
        assert staff.get(f"/admin/accounts/{page}/").status_code == 200


def test_staff_cannot_change_a_superuser(staff_client: Client) -> None:
    above = User.objects.create_superuser("root@people.test")
    assert staff_client.post(f"/admin/accounts/user/{above.pk}/change/", {"first_name": "Eve"}).status_code == 403
    assert staff_client.post(f"/admin/accounts/user/{above.pk}/delete/", {"post": "yes"}).status_code == 403
    assert User.objects.filter(pk=above.pk, first_name="").exists()
