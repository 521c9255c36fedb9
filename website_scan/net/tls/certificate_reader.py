"""Parser of X.509 certificates in DER, PEM and PKCS #7."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256, sha512

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, pkcs7
from cryptography.x509.oid import AuthorityInformationAccessOID, NameOID, SignatureAlgorithmOID

from website_scan.net.tls.certificates import BadCertificate, Certificate, CertificateDigests

# Hash functions of signature algorithms that the library may not support.
HASHES = {
    SignatureAlgorithmOID.RSA_WITH_MD5: "md5",
    SignatureAlgorithmOID.RSA_WITH_SHA1: "sha1",
    SignatureAlgorithmOID.DSA_WITH_SHA1: "sha1",
    SignatureAlgorithmOID.ECDSA_WITH_SHA1: "sha1",
    x509.ObjectIdentifier("1.2.840.113549.1.1.2"): "md2",
    x509.ObjectIdentifier("1.3.14.3.2.29"): "sha1",  # OIW's object identifier for sha1WithRSASignature.
}


# Chains have three or four certificates, and checking a signature takes up to a millisecond.
MAX_SIGNATURE_CHECKS = 20
# For an unknown version, the library raises an error that is not a ValueError.
UNREADABLE = (ValueError, x509.InvalidVersion)


def read_certificate(der: bytes) -> Certificate:
    """Parse a certificate in DER.

    Raises `BadCertificate`.
    """
    try:
        certificate = x509.load_der_x509_certificate(der)
        key_type, key_bits = _key_type_and_bits(certificate)
        dns_names, addresses, readable = _alternative_names(certificate)
        common_names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        return Certificate(
            subject=certificate.subject.rfc4514_string(),
            issuer=certificate.issuer.rfc4514_string(),
            not_before=certificate.not_valid_before_utc,
            not_after=certificate.not_valid_after_utc,
            key_type=key_type,
            key_bits=key_bits,
            signature_hash=_signature_hash(certificate),
            dns_names=dns_names,
            ip_addresses=addresses,
            common_name=str(common_names[0].value) if common_names else "",
            ca_issuers=_ca_issuers(certificate),
            has_readable_names=readable,
            digests=_digests(certificate, der),
        )
    except UNREADABLE as error:
        raise BadCertificate("The server's certificate can't be parsed.") from error


def _digests(certificate: x509.Certificate, der: bytes) -> CertificateDigests | None:
    """Return the digests of a certificate, None if its public key cannot be encoded."""
    try:
        key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except (ValueError, UnsupportedAlgorithm):
        return None
    return CertificateDigests(*(digest(data).hexdigest() for data in (der, key) for digest in (sha256, sha512)))


def find_linked_certificates(ders: Sequence[bytes]) -> list[bytes]:
    """Return the leaf certificate and its issuers in DER.

    The issuers are found among the other certificates.

    An issuer has the name and the key by which the certificate is signed. Servers may send other certificates, which
    clients ignore (RFC 8446, section 4.4.2).
    """
    others = [(der, certificate) for der in ders[1:] if (certificate := _load_or_none(der)) is not None]
    last = _load_or_none(ders[0])
    linked = [ders[0]]
    for _ in range(MAX_SIGNATURE_CHECKS):
        if last is None or last.subject == last.issuer:
            break
        candidate = next((each for each in others if each[1].subject == last.issuer), None)
        if candidate is None:
            break
        others.remove(candidate)
        if _is_signed_by(last, candidate[1]):
            linked.append(candidate[0])
            last = candidate[1]
    return linked


def _load_or_none(der: bytes) -> x509.Certificate | None:
    try:
        return x509.load_der_x509_certificate(der)
    except UNREADABLE:
        return None


def _is_signed_by(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    """Return True if the issuer's key has signed the certificate.

    The result is also True if the library does not know the algorithm.
    """
    try:
        certificate.verify_directly_issued_by(issuer)
    except UnsupportedAlgorithm:
        return True
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True


def read_issuers(body: bytes) -> list[bytes]:
    """Parse a caIssuers response in DER, PEM or PKCS #7.

    Returns certificates in DER. RFC 5280, 4.2.2.1.
    """
    for load in (_load_der, x509.load_pem_x509_certificates, pkcs7.load_der_pkcs7_certificates):
        try:
            return [certificate.public_bytes(Encoding.DER) for certificate in load(body)]
        except (*UNREADABLE, UnsupportedAlgorithm):
            continue
    return []


def _load_der(body: bytes) -> list[x509.Certificate]:
    return [x509.load_der_x509_certificate(body)]


def _key_type_and_bits(certificate: x509.Certificate) -> tuple[str, int]:
    try:
        key = certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return "unknown", 0
    if isinstance(key, rsa.RSAPublicKey):
        return "RSA", key.key_size
    if isinstance(key, ec.EllipticCurvePublicKey):
        return "EC", key.key_size
    if isinstance(key, dsa.DSAPublicKey):
        return "DSA", key.key_size
    return type(key).__name__.removesuffix("PublicKey"), 0


def _signature_hash(certificate: x509.Certificate) -> str:
    known = HASHES.get(certificate.signature_algorithm_oid)
    if known:
        return known
    try:
        algorithm = certificate.signature_hash_algorithm
    except (ValueError, UnsupportedAlgorithm):
        return ""
    return algorithm.name if algorithm else ""


def _alternative_names(certificate: x509.Certificate) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return (), (), True
    except (ValueError, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
        return (), (), False
    addresses = tuple(str(value) for value in names.get_values_for_type(x509.IPAddress))
    return tuple(names.get_values_for_type(x509.DNSName)), addresses, True


def _ca_issuers(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        access = certificate.extensions.get_extension_for_class(x509.AuthorityInformationAccess).value
    except (x509.ExtensionNotFound, ValueError, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
        return ()
    return tuple(
        description.access_location.value
        for description in access
        if description.access_method == AuthorityInformationAccessOID.CA_ISSUERS
        and isinstance(description.access_location, x509.UniformResourceIdentifier)
    )
