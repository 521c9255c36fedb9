"""Tests for the page that imports sites into a list."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Tier
from sites.lists.pages import import_preview, import_views
from sites.models import ListEntry, SiteList
from tests.factories import Member
from tests.page_reading import browser_of, page_of, text_of
from tests.responses import ClientResponse
from tests.sites.lists.cast import make_list
from tests.sites.lists.pages.test_views import make_list_of_urls

A, B, C = (f"https://{letter}.example.com/" for letter in "abc")
PASTED = "a.example.com\tnorth;clinics\tFirst\nhttps://b.example.com/\t\t\n\nC.EXAMPLE.COM\n"


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


def import_path(site_list: SiteList) -> str:
    return f"/o/home/lists/{site_list.id}/import"


def preview_fields(preview: ClientResponse) -> dict[str, str]:
    """Return the hidden fields of the form below the preview."""
    (value,) = page_of(preview).xpath("//input[@name='carried']/@value")
    return {"carried": value}


def import_modes(preview: ClientResponse) -> list[str]:
    return list(page_of(preview).xpath("//button[@name='mode']/@value"))


def entry_urls(site_list: SiteList) -> list[str]:
    return list(site_list.entries.order_by("host").values_list("url", flat=True))


def test_pasted_sites_are_previewed(client: Client, home: Member) -> None:
    site_list = make_list(home)
    preview = client.post(import_path(site_list), {"sites": PASTED})
    assert "3 sites were read. Nothing has been saved yet. Your plan allows 10 more sites. New 3" in text_of(preview)
    assert import_modes(preview) == ["add"]
    assert entry_urls(site_list) == []
    done = client.post(import_path(site_list), preview_fields(preview) | {"mode": "add"}, follow=True)
    assert "Imported: 3 added." in text_of(done)
    assert entry_urls(site_list) == [A, B, C]
    first = site_list.entries.get(url=A)
    assert (first.tags, first.note) == (["north", "clinics"], "First")


def test_import_keeps_or_removes_other_sites(client: Client, home: Member) -> None:
    Tier.objects.update(list_entries=100)
    site_list = make_list_of_urls(home, A, B)
    entry_id = site_list.entries.get(url=B).id
    preview = client.post(import_path(site_list), {"sites": "b.example.com\nc.example.com"})
    assert "New 1 Changed tags or notes 0 Unchanged 1 On the list, but not in this import 1" in text_of(preview)
    assert import_modes(preview) == ["add", "replace"]
    client.post(import_path(site_list), preview_fields(preview) | {"mode": "add"})
    assert entry_urls(site_list) == [A, B, C]
    again = client.post(import_path(site_list), {"sites": "b.example.com\nc.example.com"})
    assert import_modes(again) == ["replace"]
    done = client.post(import_path(site_list), preview_fields(again) | {"mode": "replace"}, follow=True)
    assert "Imported: 1 removed." in text_of(done)
    assert entry_urls(site_list) == [B, C]
    assert site_list.entries.get(url=B).id == entry_id
    same = client.post(import_path(site_list), {"sites": "b.example.com\nc.example.com"})
    assert "There is nothing to save." in text_of(same)
    assert import_modes(same) == []


def test_invalid_lines_are_listed(client: Client, home: Member) -> None:
    site_list = make_list(home)
    text = "a.example.com\nhttp://10.0.0.1/\nftp://x.example.com/\nb.example.com"
    refused = client.post(import_path(site_list), {"sites": text})
    assert refused.status_code == 400
    rows = page_of(refused).xpath("//table[contains(@class, 'lines-table')]/tbody/tr")
    assert [[cell.text_content() for cell in row][:2] for row in rows] == [
        ["2", "http://10.0.0.1/"],
        ["3", "ftp://x.example.com/"],
    ]
    assert "2 lines cannot be read" in text_of(refused)
    assert page_of(refused).xpath("//textarea")[0].text_content().strip() == text
    assert not ListEntry.objects.exists()


def test_valid_lines_can_be_saved_alone(client: Client, home: Member) -> None:
    Tier.objects.update(list_entries=100)
    site_list = make_list_of_urls(home, C)
    preview = client.post(import_path(site_list), {"sites": "a.example.com,x\nhttp://10.0.0.1/\nb.example.com"})
    assert "Save 2 sites without the 1 line" in text_of(preview)
    assert import_modes(preview) == ["add"], "replacing would remove the sites of invalid lines"
    done = client.post(import_path(site_list), preview_fields(preview) | {"mode": "add"}, follow=True)
    assert "Imported: 2 added." in text_of(done)
    assert entry_urls(site_list) == [A, B, C]
    nothing = client.post(import_path(site_list), {"sites": "http://10.0.0.1/"})
    assert (nothing.status_code, import_modes(nothing)) == (400, [])


def test_preview_shows_the_sites(client: Client, home: Member) -> None:
    Tier.objects.update(list_entries=5)
    site_list = make_list_of_urls(home, A, B)
    text = (
        "Webseite;Tags;Kommentar;Note\na.example.com;north;Gut;First\nhttp://b.example.com;;;\n"
        "b.example.com;;;\nc.example.com;x;;"
    )
    preview = client.post(import_path(site_list), {"sites": text})
    assert preview.status_code == 200
    rows = page_of(preview).xpath("//table[contains(@class, 'preview-table')]/tbody/tr")
    assert [[" ".join(cell.text_content().split()).strip("\N{EN DASH}") for cell in row] for row in rows] == [
        ["https://a.example.com/", "north", "First", "Changed"],
        ["http://b.example.com/", "", "", "New, also with https://"],
        ["https://c.example.com/", "x", "", "New"],
        ["https://b.example.com/", "", "", "None, also with http://"],
    ]
    page = text_of(preview)
    assert "The first line is a header: Webseite is the address, Tags is the tags, Note is the note." in page
    assert "Not imported: Kommentar" in page
    assert "Your plan allows 3 more sites." in page
    assert "2 sites of this import exist with http:// and with https://, which are two sites." in page


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sites.csv", b"\xef\xbb\xbfAddress;Tags\r\na.example.com;north\r\nb.example.com;\r\n"),
        ("sites.txt", b"a.example.com\nb.example.com\n"),
        ("sites.json", b'{"entries": [{"url": "https://a.example.com/"}, {"url": "https://b.example.com/"}]}'),
    ],
)
def test_file_is_parsed_like_pasted_text(client: Client, home: Member, name: str, content: bytes) -> None:
    site_list = make_list(home)
    preview = client.post(import_path(site_list), {"sites": "", "file": SimpleUploadedFile(name, content)})
    assert "2 sites were read." in text_of(preview)
    client.post(import_path(site_list), preview_fields(preview) | {"mode": "add"})
    assert entry_urls(site_list) == [A, B]


def test_empty_import_is_refused(client: Client, home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    site_list = make_list(home)

    def refused_text(data: dict[str, Any], status: int) -> str:
        response = client.post(import_path(site_list), data)
        assert response.status_code == status
        return text_of(response)

    assert "Paste at least one address, or choose a file." in refused_text({"sites": " \n"}, 400)
    assert "The workbook is damaged" in refused_text({"file": SimpleUploadedFile("a.xlsx", b"PK\x03\x04rest")}, 400)
    large = SimpleUploadedFile("a.csv", b"a.example.com\n" * 1_100_000)
    assert "That is more than this page accepts." in refused_text({"file": large}, 413)
    monkeypatch.setattr(import_preview, "MAX_SIGNED_LENGTH", 10)
    refused = refused_text({"sites": PASTED}, 413)
    assert "That is more than this page accepts." in refused
    assert "C.EXAMPLE.COM" in refused, "pasted text is not lost"


def test_import_beyond_the_plan_is_refused(client: Client, home: Member) -> None:
    Tier.objects.update(list_entries=2)
    site_list = make_list(home)
    assert "Your plan allows 2 more sites." in text_of(client.get(import_path(site_list)))
    preview = client.post(import_path(site_list), {"sites": PASTED})
    assert "remove 1 site first" in text_of(preview)
    refused = client.post(import_path(site_list), preview_fields(preview) | {"mode": "add"})
    assert refused.status_code == 409
    assert "Your plan allows 2 sites in all lists together" in text_of(refused)
    assert import_modes(refused) == ["add"], "the sites are not lost"
    assert A in text_of(refused)
    assert entry_urls(site_list) == []


def test_preview_is_valid_for_an_hour(client: Client, home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    Tier.objects.update(lists=5)
    site_list, other = make_list(home), make_list(home)
    fields = preview_fields(client.post(import_path(site_list), {"sites": PASTED})) | {"mode": "add"}
    assert client.post(import_path(other), fields).status_code == 400
    assert client.post(import_path(site_list), fields | {"carried": fields["carried"] + "x"}).status_code == 400
    assert client.post(import_path(site_list), fields | {"mode": "burn"}).status_code == 400
    monkeypatch.setattr(import_views, "MAX_AGE_S", -1)
    late = client.post(import_path(site_list), fields)
    assert "The preview is too old, so it was made again." in text_of(late)
    assert not ListEntry.objects.exists()
    monkeypatch.undo()
    client.post(import_path(site_list), preview_fields(late) | {"mode": "add"})
    assert entry_urls(site_list) == [A, B, C]


def test_anonymous_files_are_discarded(home: Member, client: Client) -> None:
    site_list = make_list(home)
    file = SimpleUploadedFile("sites.txt", b"a.example.com\n")
    assert Client().post(import_path(site_list), {"file": file})["Location"].startswith("/login/")
    response = client.post(
        "/o/home/lists/new", {"name": "", "file": SimpleUploadedFile("sites.txt", b"a.example.com\n")}
    )
    assert response.wsgi_request.FILES == {}
