"""Writer of an NSS database with more trusted certificates.

Chromium trusts them (Linux only). This module runs itself as a program in a separate process, because NSS is
initialized once for a whole process. Chromium loads the same NSS library for this database, so nothing has to be
installed.
"""

from __future__ import annotations

import ctypes
import re
import ssl
import subprocess
import sys
from pathlib import Path

# Path of the NSS database that Chromium reads, relative to its home folder.
DATABASE = Path(".pki/nssdb")
# Importing takes long, because 150 certificates are as many transactions.
IMPORT_TIMEOUT_S = 10.0

_BLOCK = re.compile(r"-----BEGIN CERTIFICATE-----[^-]++-----END CERTIFICATE-----")
# Trust flags of certutil for CA certificates and for one server's certificate.
_AUTHORITY, _PEER = b"C,,", b"P,,"


def trust(home: Path, bundle: Path) -> str:
    """Make the browser trust the certificates of a PEM file.

    Returns an error message; empty on success.
    """
    command = [sys.executable, "-I", "-S", __file__, str(home / DATABASE), str(bundle)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=IMPORT_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return f"its certificates took more than {IMPORT_TIMEOUT_S:g} s"
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""


class _SecItem(ctypes.Structure):
    """NSS's C structure SECItem, which points to data."""

    _fields_ = (("type", ctypes.c_int), ("data", ctypes.c_char_p), ("length", ctypes.c_uint))


class _CertTrust(ctypes.Structure):
    """C structure CERTCertTrust of NSS.

    It has trust flags for TLS, e-mail and code signing.
    """

    _fields_ = (("tls", ctypes.c_uint), ("mail", ctypes.c_uint), ("code", ctypes.c_uint))


def _write_database(database: Path, bundle: Path) -> None:
    """Write the certificates to a new database.

    Raises OSError if NSS is missing or refuses a certificate.
    """
    nss = ctypes.CDLL("libnss3.so")
    for name in ("PK11_GetInternalKeySlot", "CERT_GetDefaultCertDB", "CERT_FindCertByDERCert"):
        getattr(nss, name).restype = ctypes.c_void_p
    database.mkdir(mode=0o700, parents=True)
    _require_success(nss.NSS_InitReadWrite(f"sql:{database}".encode()) == 0)
    slot = ctypes.c_void_p(nss.PK11_GetInternalKeySlot())
    _require_success(nss.PK11_InitPin(slot, None, b"") == 0)
    known = ctypes.c_void_p(nss.CERT_GetDefaultCertDB())
    for number, block in enumerate(_BLOCK.findall(bundle.read_text(errors="replace"))):
        der = ssl.PEM_cert_to_DER_cert(block)
        item = _SecItem(0, der, len(der))
        _require_success(nss.PK11_ImportDERCert(slot, ctypes.byref(item), ctypes.c_ulong(0), b"%d" % number, 0) == 0)
        certificate = ctypes.c_void_p(nss.CERT_FindCertByDERCert(known, ctypes.byref(item)))
        _require_success(certificate.value is not None)
        flags = _CertTrust()
        nss.CERT_DecodeTrustString(ctypes.byref(flags), _AUTHORITY if nss.CERT_IsCACert(certificate, None) else _PEER)
        _require_success(nss.CERT_ChangeCertTrust(known, certificate, ctypes.byref(flags)) == 0)


def _require_success(has_succeeded: bool) -> None:
    if not has_succeeded:
        code = ctypes.CDLL("libnspr4.so").PR_GetError()
        raise OSError(f"NSS refuses it, with error {code}")


if __name__ == "__main__":
    try:
        _write_database(Path(sys.argv[1]), Path(sys.argv[2]))
    except (OSError, ValueError) as error:
        sys.exit(str(error))
