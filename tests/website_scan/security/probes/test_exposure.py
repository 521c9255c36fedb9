"""Exposure probes on real servers: they find every file, and take no kind of soft 404 for one."""

from __future__ import annotations

import gzip
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.targets.exposed_files import (
    ACTUATOR,
    COMPOSE,
    ENV,
    GIT_CONFIG,
    LARAVEL_LOG,
    MYSQL_DUMP,
    OPENAPI,
    PHPINFO,
    SECRET,
    SERVER_STATUS,
    SOURCE_MAP,
    WP_CONFIG,
    a_database,
    a_zip,
    files,
)
from tests.targets.server import Answer, Request, Route, Site
from tests.website_scan.cast import POLICY, head, target
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.http.response import Response
from website_scan.page.fetch import SiteProtected, fetch_page, page_references, parse_document
from website_scan.page.soft_404 import resembles
from website_scan.result import Budget, ScanResult
from website_scan.run import scan
from website_scan.security.evidence import Exposure, PathAnswer
from website_scan.security.probes import exposure as probe
from website_scan.security.probes.not_found import not_found_baseline

PAGE = Answer(head("", '<h1>Shop</h1><script src="/js/app.js"></script><script src="/js/other.js?v=1"></script>'))
SCRIPT = Answer("let a = 1;\n//# sourceMappingURL=app.js.map\n", headers={"Content-Type": "text/javascript"})
FILES = files()
FAMILIES = sorted(FILES)


def exposure_of(site: Site, host: str = "localhost") -> Exposure:
    """Return the evidence of both probes of exposed files, run one after the other."""
    with Network(POLICY) as network:
        page = fetch_page(target(site.url_as(host)), network)
        references = page_references(parse_document(page))
        baseline = not_found_baseline(page, network)
        maps = probe.source_maps(page, references, baseline, network)
        exposure = probe.exposure(page, baseline, network)
    return Exposure({**exposure.families, "exposed-source-maps": maps.answers})


def found_in(exposure: Exposure) -> dict[str, set[str]]:
    """Return the exposed paths by family, without their queries."""
    return {
        family: paths
        for family, answers in exposure.families.items()
        if (paths := {each.path.partition("?")[0] for each in answers if each.is_exposed})
    }


def answers_of(exposure: Exposure) -> list[PathAnswer]:
    return [each for answers in exposure.families.values() for each in answers]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": PAGE, "/js/app.js": SCRIPT}) as site:
        yield site


# Every family, each on a site of its own


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("media_type", ["application/octet-stream", "text/plain", ""])
def test_every_path_of_a_family_is_found_by_its_content(site: Site, family: str, media_type: str) -> None:
    for path, content in FILES[family].items():
        site.routes[path] = Answer(content, headers={"Content-Type": media_type})
    exposure = exposure_of(site)
    assert found_in(exposure) == {family: set(FILES[family])}
    assert all(each.error == "" for each in answers_of(exposure))
    assert len(site.requests) < 90


@pytest.mark.parametrize("family", ["exposed-git", "exposed-env", "exposed-sql-dump", "exposed-credentials"])
def test_a_file_is_found_where_the_default_type_is_html_and_where_missing_pages_are_soft_404s(
    site: Site, family: str
) -> None:
    site.routes["*"] = Answer(head("", "<h1>Not here</h1>"))
    for path, content in FILES[family].items():
        site.routes[path] = Answer(content, headers={"Content-Type": "text/html"})
    assert found_in(exposure_of(site)) == {family: set(FILES[family])}


def test_a_packed_answer_is_unpacked_first(site: Site) -> None:
    for path, content in (FILES["exposed-env"] | FILES["exposed-backup"]).items():
        site.routes[path] = Answer(gzip.compress(content), headers={"Content-Encoding": "gzip"})
    # As Apache sends a .tar.gz: the archive itself counts as the content coding.
    site.routes["/backup.tar.gz"] = Answer(
        FILES["exposed-backup"]["/backup.tar.gz"],
        headers={"Content-Encoding": "x-gzip", "Content-Type": "application/x-tar"},
    )
    assert set(found_in(exposure_of(site))) == {"exposed-env", "exposed-backup"}


def test_a_site_that_has_everything_and_answers_everything_costs_a_bounded_number_of_comparisons(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def counting(answer: Response, path: str, other: Response, other_path: str) -> bool:
        compared.append(path)
        return resembles(answer, path, other, other_path)

    monkeypatch.setattr(probe, "resembles", counting)
    site.routes["*"] = Answer("Nothing here", headers={"Content-Type": "text/plain"})
    for paths in FILES.values():
        site.routes |= {
            path: Answer(content, headers={"Content-Type": "text/plain"}) for path, content in paths.items()
        }
    answers = answers_of(exposure_of(site))
    # Source maps belong to another probe.
    assert sum(not path.endswith(".map") for path in compared) <= probe.MAX_COMPARISONS
    assert any(each.is_exposed for each in answers)
    assert any("without end" in each.error for each in answers)


def test_no_value_of_a_secret_is_kept(site: Site) -> None:
    for paths in FILES.values():
        site.routes |= {
            path: Answer(content, headers={"Content-Type": "text/plain"}) for path, content in paths.items()
        }
    exposure = exposure_of(site)
    assert set(found_in(exposure)) == set(FAMILIES)
    told = repr(exposure)
    for secret in (SECRET, "mBlXAbcd", "AKIAIOSFODNN7EXAMPLE", "W6ph5Mm5", "MII"):
        assert secret not in told
    assert "DB_PASSWORD" in told


def test_size_and_type_are_those_of_the_answer(site: Site) -> None:
    big = a_database() + bytes(300_000)
    site.routes["/db.sqlite3"] = Answer(big, headers={"Content-Type": "application/vnd.sqlite3; a=b"})
    (answer,) = [each for each in answers_of(exposure_of(site)) if each.is_exposed]
    assert (answer.path, answer.status, answer.size_bytes) == ("/db.sqlite3", 200, len(big))
    assert answer.media_type == "application/vnd.sqlite3"


# Sites without such files, whatever they answer: all 16 checks


def everywhere(answer: Answer) -> dict[str, Route]:
    return {"*": answer}


def reflecting(request: Request) -> Answer:
    lines = f"{request.path}\n[core]\nref: refs/heads/main\nDB_PASSWORD=x\nAPP_KEY=y\nCREATE TABLE a (\n{request.path}"
    return Answer(f"You asked for {lines}", headers={"Content-Type": "text/plain"})


def never_the_same(request: Request) -> Answer:
    # Seeded by the connection's number and the path, so that a failure can be repeated.
    noise = random.Random(f"{request.connection_number} {request.path}")
    length = noise.randrange(10, 4000)
    return Answer(noise.randbytes(length), headers={"Content-Type": noise.choice(["text/plain", "image/png", ""])})


def archive_for_everything(request: Request) -> Answer:
    return Answer(a_zip() + request.path.encode(), headers={"Content-Type": "application/zip"})


def fake_of(family: str) -> Answer:
    content = next(iter(FILES[family].values()))
    return Answer(content, headers={"Content-Type": "text/plain"})


HONEY = (
    (r"\.git.*head", FILES["exposed-git"]["/.git/HEAD"]),
    (r"\.git", GIT_CONFIG.encode()),
    (r"\.env", ENV.encode()),
    (r"\.hg", FILES["exposed-svn-hg"]["/.hg/requires"]),
    (r"\.svn/wc|sqlite|\w\.db", a_database()),
    (r"\.svn", b"12\n"),
    (r"\.aws", FILES["exposed-credentials"]["/.aws/credentials"]),
    (r"id_rsa|id_ed", FILES["exposed-credentials"]["/id_rsa"]),
    (r"\.npmrc", FILES["exposed-credentials"]["/.npmrc"]),
    (r"htpasswd", FILES["exposed-credentials"]["/.htpasswd"]),
    (r"\.zip|\.tar|\.gz", a_zip()),
    (r"\.sql", MYSQL_DUMP.encode()),
    (r"config.*php", WP_CONFIG.encode()),
    (r"info", PHPINFO.encode()),
    (r"status", SERVER_STATUS.encode()),
    (r"actuator", json.dumps(ACTUATOR).encode()),
    (r"compose", COMPOSE.encode()),
    (r"ds_store", FILES["exposed-ds-store"]["/.DS_Store"]),
    (r"log", LARAVEL_LOG.encode()),
    (r"swagger|openapi|api-docs", json.dumps(OPENAPI).encode()),
    (r"\.map", json.dumps(SOURCE_MAP).encode()),
)


def honeypot(request: Request) -> Answer:
    """Serve a secret at paths that look like a secret's name, and 404 elsewhere."""
    for pattern, content in HONEY:
        if re.search(pattern, request.path, re.IGNORECASE):
            return Answer(content, headers={"Content-Type": "text/plain"})
    return Answer("Not found", status=404)


APP = head("", '<div id="root"></div><script src="/js/app.js"></script>')
QUOTES = (
    "How we leaked our secrets\n\nA .git/config begins with\n\n"
    f"{GIT_CONFIG}\nand an environment file looks like\n\n{ENV}\nA dump has lines such as\n\n{MYSQL_DUMP}\n"
    f"In wp-config.php:\n{WP_CONFIG}\nCompose:\n{COMPOSE}\nLogs:\n{LARAVEL_LOG}\n[default]\n"
    "aws_secret_access_key = wJalrXUtnFEMIwJalrXUtnFEMI\n//npm.example.com/:_authToken=abc\n"
    "-----BEGIN RSA PRIVATE KEY-----\n"
    "alice:$apr1$mBlXAbcd$Yg4b9Eo1zXH7hQ2uV0s9T/\nhttps://a:b@git.example.com\nPHP Version 8.2.7\nPHP Extension 2022\n"
    "Apache Status\nServer Version: Apache/2.4\n12\nrevlogv1\nref: refs/heads/main\n"
)
BLOG = head("", f"<article><h1>phpinfo()</h1><pre>{QUOTES}</pre></article>")
FAKES = {f"a fake for everything, {family}": everywhere(fake_of(family)) for family in FAMILIES}
SOFT_404S: dict[str, dict[str, Route]] = {
    "hard 404": {},
    "HTML 200 for everything": everywhere(Answer(head("", "<h1>Sorry, not found</h1>"))),
    "single-page app as octets": everywhere(Answer(APP, headers={"Content-Type": "application/octet-stream"})),
    "single-page app as text": everywhere(Answer(APP, headers={"Content-Type": "text/plain"})),
    "single-page app as JSON": everywhere(Answer(APP, headers={"Content-Type": "application/json"})),
    "single-page app as ZIP": everywhere(Answer(APP, headers={"Content-Type": "application/zip"})),
    "single-page app without a type": everywhere(Answer(APP, headers={"Content-Type": ""})),
    "path reflected": {"*": reflecting},
    "302 to the log-in": everywhere(Answer.redirect("/login")),
    "302 with a file in it": everywhere(Answer(ENV, status=302, headers={"Location": "/login"})),
    "403 wall": everywhere(Answer("Forbidden", status=403)),
    "403 with a file in it": everywhere(Answer(ENV, status=403, headers={"Content-Type": "text/plain"})),
    "401": everywhere(Answer("Log in", status=401, headers={"WWW-Authenticate": "Basic"})),
    "206": everywhere(Answer(ENV, status=206, headers={"Content-Type": "text/plain"})),
    "500": everywhere(Answer("Broken", status=500)),
    "empty 200": everywhere(Answer(b"")),
    "JSON error with 200": everywhere(Answer('{"error": "not found"}', headers={"Content-Type": "application/json"})),
    "JSON with links": everywhere(Answer('{"_links": {"self": {"href": "/x"}}, "data": null, "paths": []}')),
    "one picture": everywhere(Answer(b"\x89PNG\r\n\x1a\n" + bytes(500), headers={"Content-Type": "image/png"})),
    "a ZIP for everything": {"*": archive_for_everything},
    "packed HTML": everywhere(Answer(gzip.compress(APP.encode()), headers={"Content-Encoding": "gzip"})),
    "HTML packed twice": everywhere(Answer(gzip.compress(APP.encode()), headers={"Content-Type": "text/plain"})),
    "random content": {"*": never_the_same},
    "honeypot": {"*": honeypot},
    "prose about all of it": everywhere(Answer(QUOTES, headers={"Content-Type": "text/plain"})),
    **FAKES,
}


@pytest.mark.parametrize("kind", SOFT_404S)
def test_nothing_is_found_where_nothing_lies(kind: str) -> None:
    with Site(SOFT_404S[kind] | {"/": PAGE, "/js/app.js": SCRIPT}) as site:
        result = security_scan(site)
    verdicts = {each.id: each.status for each in result.checks if each.id.startswith("exposed-")}
    assert verdicts == dict.fromkeys(FAMILIES, "pass")


def test_what_proves_the_same_everywhere_proves_nothing_however_different_it_is(site: Site) -> None:
    def another_dump(request: Request) -> Answer:
        noise = random.Random(request.path)
        rows = "".join(f"({noise.random()}, {noise.randbytes(9).hex()!r}),\n" for _ in range(noise.randrange(3, 90)))
        return Answer(f"INSERT INTO {noise.randbytes(3).hex()} VALUES\n{rows}", headers={"Content-Type": "text/plain"})

    site.routes["*"] = another_dump
    assert found_in(exposure_of(site)) == {}


def test_what_differs_from_other_answers_by_a_value_alone_is_no_file(site: Site) -> None:
    def request_echoed(request: Request) -> Answer:
        """Answer like a secret only for some paths, where a token is in the response."""
        token = "k9TzQxW4" if request.path.startswith("/.env") and "-" not in request.path else ""
        lines = "".join(f"HEADER_{n}=some value of a header\n" for n in range(30))
        return Answer(f"{lines}SESSION_TOKEN={token}\n", headers={"Content-Type": "text/plain"})

    site.routes["*"] = request_echoed
    assert found_in(exposure_of(site)) == {}


def test_where_every_path_is_answered_alike_no_siblings_are_asked_for(site: Site) -> None:
    site.routes["*"] = Answer(MYSQL_DUMP, headers={"Content-Type": "text/plain"})
    assert found_in(exposure_of(site)) == {}
    assert not any(path.startswith(("/dump-", "/backup-", "/database-", "/db-")) for path in site.paths())


@pytest.mark.parametrize("body", [BLOG, QUOTES], ids=["HTML", "text"])
def test_an_article_at_the_very_path_is_no_file(site: Site, body: str) -> None:
    media_type = "text/plain" if body is QUOTES else "text/html"
    for paths in FILES.values():
        site.routes |= dict.fromkeys(paths, Answer(body, headers={"Content-Type": media_type}))
    assert found_in(exposure_of(site)) == {}


def security_scan(site: Site) -> ScanResult:
    with Network(POLICY) as network:
        return scan(target(site.url_as("localhost")), [ScanType.SECURITY], network, Budget())[0]


# Politeness


def test_what_is_asked_for_where_nothing_lies(site: Site) -> None:
    exposure = exposure_of(site)
    asked = Counter(each.path.partition("?")[0] for each in site.requests)
    assert max(asked.values()) == 1  # each path once
    assert len(site.requests) <= 65
    assert {each.path.partition("?")[0] for each in answers_of(exposure)} <= set(asked)
    assert {path for paths in FILES.values() for path in paths} <= set(asked)
    assert not any("example" in path for path in asked)


def test_an_address_has_no_files_named_after_it(site: Site) -> None:
    exposure_of(site, "127.0.0.1")
    named = [path for path in site.paths() if not re.fullmatch(r"/(%C0)?[0-9a-f]+", path)]  # random ones may have 127
    assert not any("127" in path or "{" in path for path in named)


def test_never_more_than_eight_at_once(site: Site) -> None:
    lock, running, most = threading.Lock(), 0, [0]

    def slow(request: Request) -> Answer:
        nonlocal running
        with lock:
            running += 1
            most[0] = max(most[0], running)
        site.ended.wait(0.01)
        with lock:
            running -= 1
        return Answer("No", status=404)

    site.routes["*"] = slow
    exposure_of(site)
    assert 2 <= most[0] <= 8


def limited(allowed: int) -> Callable[[Request], Answer]:
    """Return a route that answers 429 after this many requests."""
    lock, count = threading.Lock(), [0]

    def answer(_: Request) -> Answer:
        with lock:
            count[0] += 1
            return Answer("No", status=404 if count[0] <= allowed else 429)

    return answer


def test_after_429_nothing_more_is_asked_and_the_rest_could_not_run(site: Site) -> None:
    site.routes["*"] = limited(10)
    site.routes["/.git/config"] = Answer(GIT_CONFIG, headers={"Content-Type": "text/plain"})
    exposure = exposure_of(site)
    errors = [each.error for each in answers_of(exposure) if each.status is None]
    assert set(errors) == {"The site answered a further request with status 429, too many requests."}
    assert len(site.requests) < 10 + 2 * probe.AT_ONCE + 5
    # Earlier responses count.
    assert any(each.status == 404 for each in answers_of(exposure))


def test_checks_whose_paths_were_not_answered_could_not_run_and_the_others_could(site: Site) -> None:
    def hang_up(_: Request) -> None:
        return None

    site.routes["/.env.local"] = hang_up
    site.routes["/dump.sql"] = hang_up
    site.routes["/backup.sql"] = Answer(MYSQL_DUMP, headers={"Content-Type": "text/plain"})
    result = security_scan(site)
    skipped = {each.id: each.reason for each in result.skipped_checks if each.id.startswith("exposed-")}
    assert list(skipped) == ["exposed-env"]
    assert "1 path of 4 got no answer that could be judged (/.env.local: localhost closed" in skipped["exposed-env"]
    verdicts = {each.id: each.status for each in result.checks}
    assert verdicts["exposed-sql-dump"] == "fail"  # one exposed file is enough
    assert verdicts["exposed-git"] == "pass"


def test_a_site_that_challenges_every_request_is_not_probed(site: Site) -> None:
    site.routes["*"] = Answer("<title>Just a moment...</title>", status=403, headers={"cf-mitigated": "challenge"})
    with pytest.raises(SiteProtected):
        exposure_of(site)
    assert len(site.requests) <= 2


def test_a_file_without_anything_to_compare_it_with_is_not_judged(site: Site) -> None:
    def sibling_hangs_up(request: Request) -> Answer | None:
        return None if request.path.startswith("/.git/") else Answer("No", status=404)

    site.routes["*"] = sibling_hangs_up
    site.routes["/.git/config"] = Answer(GIT_CONFIG, headers={"Content-Type": "text/plain"})
    site.routes["/.git/HEAD"] = Answer("No", status=404)
    answer = exposure_of(site).families["exposed-git"][0]
    assert (answer.is_exposed, answer.status) == (False, None)
    assert "without an answer" in answer.error


# Source maps


@pytest.mark.parametrize(
    ("script", "path"),
    [
        (SCRIPT, "/js/app.js.map"),
        (Answer("let a;"), "/js/app.js.map"),  # the usual place
        (Answer("let a;\n//@ sourceMappingURL=../maps/a.map  \n"), "/maps/a.map"),
        (Answer("let a;", headers={"SourceMap": "/m/b.map"}), "/m/b.map"),
        (Answer("let a;", headers={"X-SourceMap": "c.map?d"}), "/js/c.map?d"),
        (Answer("let a;\n//# sourceMappingURL=https://cdn.example.net/a.map"), None),
        (Answer("let a;\n//# sourceMappingURL=webpack://a.map"), None),
        (Answer("let a;\n//# sourceMappingURL=data:application/json;base64,e30="), None),
    ],
)
def test_where_a_script_s_map_is(site: Site, script: Answer, path: str | None) -> None:
    site.routes["/"] = Answer(
        head('<script src="/js/app.js"></script><script src="https://cdn.example.net/x.js"></script>')
    )
    site.routes["/js/app.js"] = script
    if path is not None:
        site.routes[path] = Answer(json.dumps(SOURCE_MAP), headers={"Content-Type": "application/json"})
    answers = exposure_of(site).families["exposed-source-maps"]
    assert [(each.path, each.is_exposed) for each in answers] == ([(path, True)] if path else [])


def test_the_map_of_a_script_that_is_not_answered_could_not_be_judged(site: Site) -> None:
    def hang_up(_: Request) -> None:
        return None

    site.routes["/js/app.js"] = hang_up
    first = exposure_of(site).families["exposed-source-maps"][0]
    assert (first.path, first.status) == ("/js/app.js", None)
    assert first.error
