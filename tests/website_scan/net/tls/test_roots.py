from __future__ import annotations

import ssl
from pathlib import Path
from types import SimpleNamespace

import certifi
import pytest

from tests.website_scan.net.tls_servers import Identity
from website_scan.net.http.connections import Trust, tls_context
from website_scan.net.tls.roots import additional_roots, public_roots


def roots_in_files(*files: str) -> set[bytes]:
    """Return the DER root certificates that Python reads from the files."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for file in files:
        context.load_verify_locations(file)
    return set(context.get_ca_certs(binary_form=True))


def replace_system_roots(system: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = SimpleNamespace(cafile=system and str(system), capath=None)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)


def test_TLS_context_trusts_system_and_certifi_roots() -> None:
    system = ssl.get_default_verify_paths().cafile
    trusted = set(tls_context(None, Trust.STRICT).get_ca_certs(binary_form=True))
    assert trusted == roots_in_files(certifi.where(), *([system] if system else []))


def test_public_roots_equal_those_of_certifi() -> None:
    assert public_roots() == roots_in_files(certifi.where())


def test_system_root_certificates_are_not_loaded_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(iter(public_roots()))
    own = Identity.root()
    (tmp_path / "system.pem").write_text(ssl.DER_cert_to_PEM_cert(one) + "A comment\n" + own.pem.decode())
    replace_system_roots(tmp_path / "system.pem", monkeypatch)
    assert additional_roots() == public_roots() - {one}


@pytest.mark.parametrize("content", [None, "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n", ""])
def test_certifi_roots_need_no_system_roots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = tmp_path / "system.pem"
    if content is not None:
        file.write_text(content)
    replace_system_roots(file, monkeypatch)
    assert additional_roots() == public_roots()
    replace_system_roots(None, monkeypatch)
    assert additional_roots() == public_roots()
