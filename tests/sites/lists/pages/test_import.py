"""Import of sites into a list: form, preview, invalid lines, files, expired previews and size limits."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Tier
from sites.lists.pages import import_preview
from sites.models import ListEntry, SiteList
from tests.factories import Member
from tests.page_reading import browser_of, page_of, text_of
from tests.responses import ClientResponse
from tests.sites.lists.cast import make_list
from tests.sites.lists.pages.test_views import filled

A, B, C = (f"https://{each}.example.com/" for each in "abc")
PASTED = "a.example.com\tnorth;clinics\tFirst\nhttps://b.example.com/\t\t\n\nC.EXAMPLE.COM\n"


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


def path_of(site_list: SiteList) -> str:
    return f"/o/home/lists/{site_list.id}/import"


def carried(preview: ClientResponse) -> dict[str, str]:
    """Return the fields of the form below the preview."""
    (value,) = page_of(preview).xpath("//input[@name='carried']/@value")
    return {"carried": value}


def modes(preview: ClientResponse) -> list[str]:
    return list(page_of(preview).xpath("//button[@name='mode']/@value"))


def urls(site_list: SiteList) -> list[str]:
    return list(site_list.entries.order_by("host").values_list("url", flat=True))


def test_pasted_sites_are_previewed_before_import(client: Client, home: Member) -> None:
    site_list = make_list(home)
    preview = client.post(path_of(site_list), {"sites": PASTED})
    assert "3 sites were read. Nothing has been saved yet. New 3" in text_of(preview)
    assert modes(preview) == ["add"]
    assert urls(site_list) == []
    done = client.post(path_of(site_list), carried(preview) | {"mode": "add"}, follow=True)
    assert "Imported: 3 added." in text_of(done)
    assert urls(site_list) == [A, B, C]
    first = site_list.entries.get(url=A)
    assert (first.tags, first.note) == (["north", "clinics"], "First")


def test_missing_sites_are_kept_or_removed_as_chosen(client: Client, home: Member) -> None:
    Tier.objects.update(list_entries=100)
    site_list = filled(home, A, B)
    kept = site_list.entries.get(url=B).id
    preview = client.post(path_of(site_list), {"sites": "b.example.com\nc.example.com"})
    assert "New 1 Changed tags or notes 0 Unchanged 1 On the list, but not in this import 1" in text_of(preview)
    assert modes(preview) == ["add", "replace"]
    client.post(path_of(site_list), carried(preview) | {"mode": "add"})
    assert urls(site_list) == [A, B, C]
    again = client.post(path_of(site_list), {"sites": "b.example.com\nc.example.com"})
    assert modes(again) == ["replace"]
    done = client.post(path_of(site_list), carried(again) | {"mode": "replace"}, follow=True)
    assert "Imported: 1 removed." in text_of(done)
    assert urls(site_list) == [B, C]
    assert site_list.entries.get(url=B).id == kept
    same = client.post(path_of(site_list), {"sites": "b.example.com\nc.example.com"})
    assert "There is nothing to save." in text_of(same)
    assert modes(same) == []


def test_invalid_lines_are_listed_and_the_form_is_refilled(client: Client, home: Member) -> None:
    site_list = make_list(home)
    text = "a.example.com\nhttp://10.0.0.1/\nftp://x.example.com/\nb.example.com"
    refused = client.post(path_of(site_list), {"sites": text})
    assert refused.status_code == 400
    lines = page_of(refused).xpath("//table//tbody/tr/th")
    assert [each.text_content() for each in lines] == ["2", "3"]
    assert "2 lines cannot be read" in text_of(refused)
    assert page_of(refused).xpath("//textarea")[0].text_content().strip() == text
    assert not ListEntry.objects.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sites.csv", b"\xef\xbb\xbfAddress;Tags\r\na.example.com;north\r\nb.example.com;\r\n"),
        ("sites.txt", b"a.example.com\nb.example.com\n"),
        ("sites.json", b'{"entries": [{"url": "https://a.example.com/"}, {"url": "https://b.example.com/"}]}'),
    ],
)
def test_uploaded_file_is_parsed_like_pasted_text(client: Client, home: Member, name: str, content: bytes) -> None:
    site_list = make_list(home)
    preview = client.post(path_of(site_list), {"sites": "", "file": SimpleUploadedFile(name, content)})
    assert "2 sites were read." in text_of(preview)
    client.post(path_of(site_list), carried(preview) | {"mode": "add"})
    assert urls(site_list) == [A, B]


def test_empty_or_too_large_import_is_refused_with_a_message(
    client: Client, home: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    site_list = make_list(home)

    def refused(data: dict[str, Any], status: int) -> str:
        response = client.post(path_of(site_list), data)
        assert response.status_code == status
        return text_of(response)

    assert "Paste at least one address, or choose a file." in refused({"sites": " \n"}, 400)
    assert "a workbook" in refused({"file": SimpleUploadedFile("a.xlsx", b"PK\x03\x04rest")}, 400)
    large = SimpleUploadedFile("a.csv", b"a.example.com\n" * 1_100_000)
    assert "That is more than this page takes." in refused({"file": large}, 413)
    monkeypatch.setattr(import_preview, "MAX_CARRIED", 10)
    assert "That is more than this page takes." in refused({"sites": PASTED}, 413)


def test_import_beyond_the_plan_warns_in_preview_and_is_refused(client: Client, home: Member) -> None:
    Tier.objects.update(list_entries=2)
    site_list = make_list(home)
    assert "Your plan has room for 2 more sites." in text_of(client.get(path_of(site_list)))
    preview = client.post(path_of(site_list), {"sites": PASTED})
    assert "remove 1 site first" in text_of(preview)
    refused = client.post(path_of(site_list), carried(preview) | {"mode": "add"})
    assert refused.status_code == 409
    assert "Your plan allows 2 sites in all lists together" in text_of(refused)
    assert urls(site_list) == []


def test_preview_is_valid_for_its_list_for_an_hour(
    client: Client, home: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    Tier.objects.update(lists=5)
    site_list, other = make_list(home), make_list(home)
    fields = carried(client.post(path_of(site_list), {"sites": PASTED})) | {"mode": "add"}
    assert client.post(path_of(other), fields).status_code == 400
    assert client.post(path_of(site_list), fields | {"carried": fields["carried"] + "x"}).status_code == 400
    assert client.post(path_of(site_list), fields | {"mode": "burn"}).status_code == 400
    monkeypatch.setattr(import_preview, "MAX_AGE_S", -1)
    late = client.post(path_of(site_list), fields)
    assert "The preview is too old." in text_of(late)
    assert not ListEntry.objects.exists()


def test_files_of_anonymous_users_and_other_forms_are_discarded(home: Member, client: Client) -> None:
    site_list = make_list(home)
    file = SimpleUploadedFile("sites.txt", b"a.example.com\n")
    assert Client().post(path_of(site_list), {"file": file})["Location"].startswith("/login/")
    response = client.post(
        "/o/home/lists/new", {"name": "", "file": SimpleUploadedFile("sites.txt", b"a.example.com\n")}
    )
    assert response.wsgi_request.FILES == {}
