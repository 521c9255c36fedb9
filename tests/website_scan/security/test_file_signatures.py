from __future__ import annotations

import gzip
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.targets.exposed_files import ACTUATOR, PHPINFO, SOURCE_MAP, files
from website_scan.net.http.response import Headers, Response
from website_scan.security import file_signatures as signatures
from website_scan.security.sensitive_files import FILES_BY_CHECK_ID, SensitiveFile, files_of, identify_file

ALL_SIGNATURES = {file.signature for files in FILES_BY_CHECK_ID.values() for file in files} | {signatures.source_map}
LINKS = {"self": {"href": "https://site.example.com/actuator"}, "health": {}, "health-path": {}}


@pytest.mark.parametrize(
    ("signature", "body"),
    [
        # Files of Git repositories.
        ("git_config", "[core]\n"),
        ("git_config", "; local\n[core]\n\tbare = false\n[alias]\n\tx = !f() { \\\n\t\tls; }; f\n[user]\n\tname=A\n"),
        ("svn_entries", "10\n\ndir\n123\nhttps://svn.example.com/\n"),
        ("svn_entries", '<?xml version="1.0" encoding="utf-8"?>\n<wc-entries xmlns="svn:">'),
        ("hg_requires", "share-safe\n"),
        # Files that contain secrets.
        ("env_file", "A=1\nMAIL_PASSWORD='x y'"),
        ("env_file", "\ufeff# comment\nSTRIPE_KEY=sk\nB=\n"),
        ("env_file", "NODE_ENV=production\r\nDATABASE_URL=postgres://u:p@db/x\r\n"),
        ("npmrc", "; mine\n_password=YWJj\nregistry=https://a.example.com\n"),
        ("htpasswd", "alice:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC\n"),
        ("htpasswd", "alice:rqXexS6ZhobKA\n"),
        # Files that contain data.
        ("sql_dump", "/* x */\nCREATE TABLE IF NOT EXISTS `a` (\n"),
        ("sql_dump", "BEGIN TRANSACTION;\nINSERT INTO a VALUES(1);\n"),
        ("sql_dump", "-------------\n-- Dump\nCREATE TABLE a(b int);"),
        ("php_source", "\ufeff<?php define(\"DB_PASSWORD\", 'x');"),
        ("php_source", "<?php class JConfig { public $password = 'x'; }"),
        ("phpinfo", "<title>phpinfo()</title><td>PHP Version </td><td class=\"v\">5.3.3-7+sq</td> PHP Extension "),
        ("server_status", "<title>Server Status</title> Server Version: Apache"),
        ("server_status", "<title>Apache Status</title><h1>Apache Server Status for a</h1><dt>Server Version: x</dt>"),
        ("server_status", "<title>Server Information</title><strong>Server Version:</strong> <font><tt>Apache/2</tt>"),
        ("compose_file", "x-a: &a\n  b: 1\nservices: # all\n    web:\n        image: a\n"),
        ("log_file", "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: x\n  at\n"),
        ("log_file", "ERROR:root:failed\nINFO:app:x\n"),
        ("log_file", "E, [2026-11-20T09:12:44.123 #1] ERROR -- : x\n"),
        ("log_file", "Nov 20 09:12:44 web php: x\n"),
        # Files in JSON format.
        ("actuator", json.dumps({"_links": {"self": {"href": "/manage/actuator/"}, "beans": {}}})),
        ("api_description", '{"swagger": "2.0", "info": {}, "paths": {"/a": {'),  # The JSON file is truncated.
        ("source_map", ")]}'\n" + json.dumps(SOURCE_MAP)),
        ("source_map", json.dumps({"version": 3, "sections": [{"offset": {}, "map": SOURCE_MAP}]})),
        ("source_map", '{"version":3,"file":"a.js","mappings":"' + "AAAA;" * 100),  # The JSON file is truncated.
        ("source_map", '{"file":"a.js","version":3,"sources":["a.ts", "b'),
    ],
)  # fmt: skip
def test_signature_matches_file_variants(signature: str, body: str) -> None:
    assert getattr(signatures, signature)(body.encode())


@pytest.mark.parametrize(
    ("signature", "body"),
    [
        ("git_config", "A configuration begins with\n[core]\n\tbare = false\n"),
        ("git_config", "[core]\nThis is where the settings stand that all repositories have.\nAnd more prose.\n"),
        ("git_config", "[user]\n\tname = a\n"),
        ("svn_entries", "404"),
        ("svn_entries", "12 things to know"),
        ("svn_entries", "0\n"),
        ("hg_requires", "store"* 30),
        ("hg_requires", "not\nfound\n"),
        ("env_file", "DB_PASSWORD=x\n"),  # A .env file needs more than one line.
        ("env_file", "A=1\nB=2\n"),  # None of the variables contains a secret.
        ("env_file", "A=1\nDB_PASSWORD=\nAPP_KEY=null\nTOKEN=${TOKEN}\nSECRET=<secret>\nAPI_KEY=your-key\n"),
        ("env_file", "COMPASS=north\nBYPASS=1\nNEXT_PUBLIC_KEY=a\nKEYBOARD=b\nAUTHOR=c\n"),
        ("env_file", "Put this into .env:\nA=1\nDB_PASSWORD=x\n"),
        ("env_file", "# How to\nA=1\nDB_PASSWORD=x\nThen start the server.\nThat is all there is.\n"),
        ("env_file", "DB_PASSWORD=x\0\nA=1"),
        ("env_file", "?a=1&token=2"),
        ("aws_credentials", "[default]\nregion = eu-west-1\n"),
        ("aws_credentials", "aws_secret_access_key = wJalrXUtnFEMIwJalrXUtnFEMI"),
        ("npmrc", "registry=https://npm.example.com/\n"),
        ("npmrc", "//npm.example.com/:_authToken=${NPM_TOKEN}\n"),
        ("npmrc", "Write _authToken=x into it\n"),
        ("htpasswd", "alice:secret\n"),
        ("htpasswd", "alice:$apr1$mBlXAbcd$Yg4b9Eo1zXH7hQ2uV0s9T/\nis an example"),
        ("private_key", "-----BEGIN PUBLIC KEY-----\n" + "A" * 64),
        ("private_key", "-----BEGIN RSA PRIVATE KEY-----\n…\n-----END RSA PRIVATE KEY-----"),
        ("private_key", "A key begins with\n-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 64),
        ("git_credentials", "https://git.example.com\n"),
        ("archive", "PK is what it begins with"),
        ("archive", ""),
        ("sql_dump", "# How to dump\n\nCREATE TABLE a (\n"),
        ("sql_dump", "---\ntitle: Dumps\n---\nCREATE TABLE a (\n"),
        ("sql_dump", "Use this; it is short:\nINSERT INTO a VALUES (1);"),
        ("sql_dump", "CREATE TABLE is a statement of SQL"),
        ("sql_dump", "-- nothing here\n"),
        ("sqlite", "SQLite format 3"),
        ("php_source", "<?php\necho 'hello';"),
        ("php_source", "In PHP: <?php define('A', 'b');"),
        ("php_source", "<?php if ($password == 'x') {}"),
        ("phpinfo", "<title>How to read phpinfo()</title> PHP Version 8.2 PHP Extension"),
        ("phpinfo", "<title>PHP: phpinfo - Manual</title> PHP Version 8.2 PHP Extension"),
        ("phpinfo", "<title>phpinfo()</title> not allowed"),
        ("server_status", "<title>Reading Apache Status</title> Server Version: Apache"),
        ("server_status", "<title>Server Status</title> all is well"),
        ("server_status", "<title>Server Status</title><h1>Our Minecraft server</h1>Server Version: 1.20.4"),
        ("server_status", "<title>Server Status</title><p>Server Version: 5. Runs on Apache</p>"),
        ("actuator", '{"_links": {"self": {"href": "https://api.example.com/"}, "orders": {}}}'),
        ("actuator", '{"_links": []}'),
        ("actuator", '{"error": "not found"}'),
        ("actuator", "[]"),
        ("compose_file", "services: none\n"),
        ("compose_file", "services:\n"),
        ("compose_file", "A file may look so:\nservices:\n  web:\n    image: x\n"),
        ("ds_store", "Bud1"),
        ("log_file", "404 not found"),
        ("log_file", "ERROR: no such file"),
        ("log_file", "2026-11-20\nA post of today\n"),
        ("log_file", "java.lang.NullPointerException explained\nIt happens.\nHere is why.\nAnd how to mend it.\n"),
        ("api_description", '{"error": "not found"}'),
        ("api_description", '{"openapi": "3.1.0"}'),
        ("api_description", '{"paths": {}}'),
        ("api_description", '{"swagger": 2, "paths": {}}'),
        ("graphql_schema", '{"errors": [{"message": "introspection is off: __schema"}]}'),
        ("graphql_schema", '{"data": null}'),
        ("source_map", '{"version": 3, "sources": []}'),
        ("source_map", '{"sources": ["a"]}'),
        ("source_map", '{"version": 3}'),
        ("source_map", '{"version": 3, "sections": [1]}'),
        ("source_map", '{"version": 3, "x": '),
    ],
)  # fmt: skip
def test_signature_rejects_similar_text(signature: str, body: str) -> None:
    assert getattr(signatures, signature)(body.encode()) is None


def test_gzipped_page_is_not_archive() -> None:
    assert signatures.archive(gzip.compress(b"<!doctype html><p>A page")) is None
    assert signatures.archive(gzip.compress(b'{"error": 1}')) is None
    assert signatures.archive(gzip.compress(b"col1,col2")[:30])
    assert signatures.archive(b"\x1f\x8b\x08" + b"\xff" * 20)


def test_actuator_signature_needs_more_than_health() -> None:
    assert signatures.actuator(json.dumps({"_links": LINKS}).encode()) == signatures.HEALTH_ONLY_PROOF
    assert signatures.actuator(json.dumps({"_links": LINKS | {"env": {}}}).encode()) != signatures.HEALTH_ONLY_PROOF
    assert signatures.actuator(json.dumps(ACTUATOR).encode()) == "links to env"


def answer(body: bytes, media_type: str, status: int = 200) -> Response:
    return Response("https://site.example.com/", status, Headers((("Content-Type", media_type),)), body)


@pytest.mark.parametrize(
    ("response", "is_proved"),
    [
        (answer(b"A=1\nTOKEN=x", "text/plain"), True),
        (
            answer(b"A=1\nTOKEN=x", "text/html"),
            True,
        ),  # A server sends this media type by default.
        (answer(b"A=1\nTOKEN=x\nB=<b>c</b>", "text/html"), True),  # HTML tags in a value do not make the file a page.
        (answer(b"A=1<br>\nTOKEN=x<br>", "text/html"), False),
        (answer(b"A=1\nTOKEN=x\nB=<b>c</b>", "text/plain"), True),
        (answer(b"<!-- -->\n<!doctype html>\nA=1\nTOKEN=x", "text/plain"), False),
        (answer(b"A=1\nTOKEN=x", "text/plain", 206), False),
        (answer(b"A=1\nTOKEN=x", "text/plain", 404), False),
        (answer(b"", "text/plain"), False),
    ],
)
def test_identify_rejects_error_status(response: Response, is_proved: bool) -> None:
    file = SensitiveFile("/.env", signatures.env_file, has_markup_in_values=True)
    assert (identify_file(file, response) is not None) is is_proved


def test_identify_accepts_html_files() -> None:
    (file, *_) = FILES_BY_CHECK_ID["exposed-phpinfo"]
    assert identify_file(file, answer(PHPINFO.encode(), "text/html"))


@pytest.mark.parametrize(
    ("host", "archive"),
    [
        ("www.shop.example.co.uk", "/example.co.uk.zip"),
        ("example.com", "/example.com.zip"),
        ("localhost", "/localhost.zip"),
        ("192.0.2.1", None),
        ("2001:db8::1", None),
    ],
)
def test_archive_paths_contain_domain(host: str, archive: str | None) -> None:
    paths = [file.path for file in files_of(host)["exposed-backup"]]
    assert (archive in paths) is (archive is not None)
    assert len(paths) == (5 if archive else 3)


def test_sensitive_paths_have_example_files() -> None:
    paths = {family: {file.path.partition("?")[0] for file in group} for family, group in files_of("localhost").items()}
    assert paths == {family: set(contents) for family, contents in files().items() if family != "exposed-source-maps"}


@given(st.binary(max_size=300))
def test_signatures_accept_any_bytes(body: bytes) -> None:
    for signature in ALL_SIGNATURES:
        signature(body)


HOSTILE = [
    b" " * 65536,
    b"\n" * 65536,
    b"services:\n" + b"\n \n#\n" * 16000,
    b"PHP Version" + b'</td><td class="v">' * 3400 + b"<b>" * 100,
    b"[" * 65536,
    b'{"a":' * 13000,
    b"a" * 65536,
    b"a." * 32768,
    b"A=" * 32768,
    b'"sources" ' * 6500,
    b'{"version" : ' * 5000,
    b"<title>" * 9000,
    b"define(" * 9000,
    b"$a[" * 21000,
    b"CREATE TABLE a" + b" " * 65000,
]


@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
def test_signatures_are_fast_on_hostile_body(body: bytes) -> None:
    started = time.perf_counter()
    for signature in ALL_SIGNATURES:
        signature(body)
    assert time.perf_counter() - started < 1.0
