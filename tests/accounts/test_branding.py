"""Tests for the name and logo on shared reports and prints."""

from __future__ import annotations

import io
import re
import struct
import zlib

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from PIL import Image

from accounts.branding import branding_of, find_logo
from accounts.exported import KINDS
from accounts.models import ActivityEvent, Branding, Organization
from infrastructure.web.logos import LogoRefused, read_logo
from reports.models import Report
from tests.factories import Member, browser_of, finished_scan, person_of
from tests.responses import ClientResponse


def picture(form: str = "PNG", size: tuple[int, int] = (300, 100)) -> bytes:
    output = io.BytesIO()
    Image.new("RGB", size, "navy").save(output, form)
    return output.getvalue()


def png_of_claimed_size(width: int, height: int) -> bytes:
    """Return a small PNG whose header claims this size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = zlib.compress(b"\0" * 100_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture
def owner(home: Member) -> Client:
    return browser_of(person_of(home, "owner", "ann@home.test"))


def save(home: Member, browser: Client, **fields: object) -> ClientResponse:
    return browser.post(f"/o/{home.organization.slug}/settings/branding", fields, follow=True)


def upload(content: bytes, name: str = "logo.png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_logo_is_stored_as_a_small_webp_picture(form: str) -> None:
    logo = read_logo(picture(form, (2_000, 1_000)))
    assert (logo.width, logo.height) == (384, 192)
    assert Image.open(io.BytesIO(logo.content)).format == "WEBP"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        picture("GIF"),
        picture("TIFF"),
        picture()[:60],
        b"GIF89a<script>alert(1)</script>",
    ],
)
def test_other_files_are_no_logos(content: bytes) -> None:
    with pytest.raises(LogoRefused, match="not a PNG, JPEG or WebP picture"):
        read_logo(content)


@pytest.mark.parametrize("size", [(2_001, 10), (10, 1_001), (60_000, 60_000)])
def test_decompression_bomb_is_refused_by_its_header(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image.Image, "load", lambda self: pytest.fail("the picture was decoded"))
    with pytest.raises(LogoRefused):
        read_logo(png_of_claimed_size(*size))


def test_stored_logo_has_only_pixels() -> None:
    source = Image.new("RGB", (300, 100), "navy")
    output = io.BytesIO()
    source.save(output, "JPEG", comment=b"<script>alert(1)</script>", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0")
    logo = read_logo(output.getvalue() + b"PK\x03\x04<script>alert(2)</script>")
    assert b"script" not in logo.content
    assert b"PK" not in logo.content


def test_shared_report_shows_name_and_logo(home: Member, owner: Client) -> None:
    scan = finished_scan(home)
    Report.objects.update(shared_at=timezone.now())
    assert save(home, owner, name="<b>Ace & Co", logo=upload(picture())).status_code == 200
    page = Client().get(f"/report/{scan.id}").content.decode()
    assert "Prepared by <strong>&lt;b&gt;Ace &amp; Co</strong>" in page
    address = re.findall(r'<p class="prepared-by">\s*<img src="([^"]+)" width="192" height="64"', page)[0]
    response = Client().get(address)
    assert (response.status_code, response["Content-Type"]) == (200, "image/webp")
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert 'class="prepared-by on-paper"' in owner.get(f"/report/{scan.id}").content.decode()


def test_private_report_keeps_name_and_logo_from_strangers(home: Member, owner: Client) -> None:
    scan = finished_scan(home)
    save(home, owner, name="Ace")
    assert Client().get(f"/report/{scan.id}").status_code == 302


def test_new_logo_gets_a_new_address(home: Member, owner: Client) -> None:
    save(home, owner, name="", logo=upload(picture()))
    former = Branding.objects.get().logo_id
    save(home, owner, name="", logo=upload(picture(size=(50, 50))))
    shown = branding_of(home.organization.pk)
    assert shown is not None
    assert former is not None
    assert (shown.width, shown.height) == (50, 50)
    assert shown.logo_url != f"/logo/{former}"
    assert Client().get(f"/logo/{former}").status_code == 404


def test_owner_removes_the_logo(home: Member, owner: Client) -> None:
    save(home, owner, name="Ace", logo=upload(picture()))
    save(home, owner, name="Ace", removes_logo="on")
    row = Branding.objects.get()
    assert (row.name, row.logo, row.logo_id) == ("Ace", None, None)
    details = list(
        ActivityEvent.objects.filter(action="organization.changed").order_by("id").values_list("details", flat=True)
    )
    assert details == [{"name on reports": {"from": "", "to": "Ace"}, "logo": "added"}, {"logo": "removed"}]


def test_saving_without_a_file_retains_the_logo(home: Member, owner: Client) -> None:
    save(home, owner, name="Ace", logo=upload(picture()))
    save(home, owner, name="Base")
    assert Branding.objects.get().logo


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": "Visit https://evil.test"}, "problem"),
        ({"name": "Ace", "logo": b"<svg/>"}, "not a PNG, JPEG or WebP picture"),
        ({"name": "Ace", "logo": b"x" * 200_001}, "larger than 200 kB"),
    ],
)
def test_settings_page_explains_refused_branding(
    home: Member, owner: Client, fields: dict[str, str | bytes], problem: str
) -> None:
    data = {name: upload(value) if isinstance(value, bytes) else value for name, value in fields.items()}
    assert problem in save(home, owner, **data).content.decode()
    assert not Branding.objects.exists()


def test_admins_cannot_change_branding(home: Member) -> None:
    admin = browser_of(person_of(home, "admin", "bob@home.test"))
    assert save(home, admin, name="Ace").status_code == 403
    assert not Branding.objects.exists()


def test_logo_of_a_closed_organization_is_gone(home: Member, owner: Client) -> None:
    save(home, owner, name="", logo=upload(picture()))
    logo_id = Branding.objects.get().logo_id
    assert logo_id is not None
    assert find_logo(logo_id)
    Organization.objects.update(closed_at=timezone.now())
    assert find_logo(logo_id) is None


def test_export_contains_name_and_logo(home: Member, owner: Client) -> None:
    save(home, owner, name="Ace", logo=upload(picture()))
    kind = KINDS[0]
    exported = kind.serialize(kind.rows(home.organization.pk).get())
    assert isinstance(exported, dict)
    assert exported["name_on_reports"] == "Ace"
    assert exported["logo"].startswith("UklGR"), "Base64 of RIFF"
