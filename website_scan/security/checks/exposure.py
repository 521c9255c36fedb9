"""Sensitive file checks: public files that should not be, proved by their content."""

from __future__ import annotations

from collections.abc import Sequence

from website_scan.catalogue import Category, check
from website_scan.findings import (
    CRITICAL,
    HIGH,
    LOW,
    MEDIUM,
    EvidenceItem,
    Fail,
    Finding,
    Fix,
    NotApplicable,
    Pass,
    Server,
    Warn,
)
from website_scan.messages import counted, excerpt, size, some
from website_scan.net.errors import NetError
from website_scan.security.evidence import Exposure, PathAnswer, SourceMaps
from website_scan.security.file_signatures import HEALTH_ONLY

CATEGORY = Category("Sensitive file exposure", weight=10)

# /.well-known must stay public, for certificate renewal and security.txt.
NO_DOT_FILES = {
    Server.NGINX: r"location ~ /\.(?!well-known) { return 404; }",
    Server.APACHE: r'RedirectMatch 404 "/\.(?!well-known)"',
}


class Unanswered(NetError):
    """Raised if some of a family's paths got no response and none is exposed, so that the family can't be judged."""

    code = "URL_NOT_REACHABLE"


@check(
    "exposed-git",
    name="Git repository is not public",
    found="Git repository is public",
    why="Anyone can download the source code with its history, and every secret that was ever committed.",
    severity=CRITICAL,
    fix=Fix(
        "Delete .git from the web root, or block it ({example}). Replace every secret in its history.",
        {
            Server.NGINX: r"location ~ /\.git { return 404; }",
            Server.APACHE: r'RedirectMatch 404 "/\.git"',
            Server.IIS: '<hiddenSegments><add segment=".git"/></hiddenSegments>',
        },
    ),
    references=("CWE-527", "OWASP WSTG-CONF-04"),
)
def exposed_git(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-git"])


@check(
    "exposed-svn-hg",
    name="Subversion and Mercurial data are not public",
    found="Version control data is public",
    why="Anyone can download the source code with its history, and every secret that was ever committed.",
    severity=HIGH,
    fix=Fix(
        "Delete .svn and .hg from the web root, or block them ({example}).",
        {
            Server.NGINX: r"location ~ /\.(svn|hg) { return 404; }",
            Server.APACHE: r'RedirectMatch 404 "/\.(svn|hg)"',
            Server.IIS: '<hiddenSegments><add segment=".svn"/><add segment=".hg"/></hiddenSegments>',
        },
    ),
    references=("CWE-527", "OWASP WSTG-CONF-04"),
)
def exposed_svn_hg(exposure: Exposure) -> Finding:
    answers = exposure.families["exposed-svn-hg"]
    systems = {"Subversion" if "/.svn" in each.path else "Mercurial" for each in answers if each.is_exposed}
    return _judge(answers, title=f"{systems.pop()} data is public" if len(systems) == 1 else "")


@check(
    "exposed-env",
    name="Environment file is not public",
    found="Environment file is public",
    why="Environment files hold database passwords and API keys in plain text.",
    severity=CRITICAL,
    fix=Fix(
        "Move .env out of the web root, block dot files ({example}), and replace every secret in it.",
        NO_DOT_FILES | {Server.IIS: '<hiddenSegments><add segment=".env"/></hiddenSegments>'},
    ),
    references=("CWE-538", "CWE-200", "OWASP WSTG-CONF-04"),
)
def exposed_env(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-env"])


@check(
    "exposed-credentials",
    name="Credential files are not public",
    found="Credential file is public",
    why="Anyone who finds the file can log in to servers, registries or cloud accounts in your name.",
    severity=CRITICAL,
    fix="Delete the file from the web root, block dot files, and revoke the keys and passwords in it.",
    references=("CWE-538", "CWE-522", "OWASP WSTG-CONF-04"),
)
def exposed_credentials(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-credentials"])


@check(
    "exposed-backup",
    name="Backup archives are not public",
    found="Backup archive is public",
    why="An archive of the site holds its source code, its configuration and often its data.",
    severity=HIGH,
    fix="Delete the archive from the web root, and keep backups where the web server can't read them.",
    references=("CWE-530", "OWASP WSTG-CONF-04"),
)
def exposed_backup(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-backup"])


@check(
    "exposed-sql-dump",
    name="Database dumps are not public",
    found="Database dump is public",
    why="A dump holds the database's tables, often with customers' data and password hashes.",
    severity=CRITICAL,
    fix="Delete the dump from the web root, and treat every record and password in it as stolen.",
    references=("CWE-530", "CWE-200", "OWASP WSTG-CONF-04"),
)
def exposed_sql_dump(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-sql-dump"])


@check(
    "exposed-sqlite",
    name="SQLite databases are not public",
    found="SQLite database is public",
    why="Such a file is a whole database, often with customers' data and password hashes.",
    severity=CRITICAL,
    fix="Move the database out of the web root, and treat every record and password in it as stolen.",
    references=("CWE-538", "CWE-200", "OWASP WSTG-CONF-04"),
)
def exposed_sqlite(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-sqlite"])


@check(
    "exposed-source-backup",
    name="Backups of source files are not public",
    found="Backup of a source file is public",
    why="Servers send a copy named .bak or ~ as text, with the code and the passwords in it.",
    severity=CRITICAL,
    fix=Fix(
        "Delete the copies that editors leave, block them ({example}), and change the passwords in them.",
        {
            Server.NGINX: r"location ~ (\.bak|~|\.swp)$ { return 404; }",
            Server.APACHE: r'RedirectMatch 404 "(\.bak|~|\.swp)$"',
            Server.IIS: '<fileExtensions><add fileExtension=".bak" allowed="false"/></fileExtensions>',
        },
    ),
    references=("CWE-530", "CWE-540", "OWASP WSTG-CONF-04"),
)
def exposed_source_backup(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-source-backup"])


@check(
    "exposed-phpinfo",
    name="phpinfo() is not public",
    found="phpinfo() is public",
    why="phpinfo() lists versions, paths, modules and environment variables, which help attackers.",
    severity=MEDIUM,
    fix="Delete the script that calls phpinfo().",
    references=("CWE-497", "OWASP WSTG-CONF-02"),
)
def exposed_phpinfo(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-phpinfo"])


@check(
    "exposed-server-status",
    name="Server status page is not public",
    found="Server status page is public",
    why="The page shows which addresses visit which pages, with their query strings, as it happens.",
    severity=MEDIUM,
    fix='Restrict the page to the server itself: <Location "/server-status"> Require local </Location>, and '
    "/server-info too.",
    references=("CWE-497", "Apache HTTP Server, mod_status"),
)
def exposed_server_status(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-server-status"])


@check(
    "exposed-actuator",
    name="Spring Boot Actuator is not public",
    found="Spring Boot Actuator is public",
    why="Actuator endpoints can reveal environment variables and memory, and some change the application.",
    severity=HIGH,
    fix="Set management.endpoints.web.exposure.include=health, and require a login for everything below /actuator.",
    references=("CWE-497", "CWE-306", "Spring Boot, “Exposing Endpoints”"),
)
def exposed_actuator(exposure: Exposure) -> Finding:
    found = [each for each in exposure.families["exposed-actuator"] if each.is_exposed]
    if found and all(each.excerpt == HEALTH_ONLY for each in found):
        return Warn(
            f"{some([excerpt(each.path) for each in found])} answers with {HEALTH_ONLY}, and shows only that Spring "
            "Boot runs here.",
            severity=LOW,
            evidence=_items(found),
            title="Spring Boot health check is public",
        )
    return _judge(exposure.families["exposed-actuator"])


@check(
    "exposed-compose",
    name="Docker Compose file is not public",
    found="Docker Compose file is public",
    why="The file names services, images, ports and often passwords of the whole installation.",
    severity=MEDIUM,
    fix="Keep docker-compose.yml out of the web root, and change the passwords in it.",
    references=("CWE-538", "OWASP WSTG-CONF-04"),
)
def exposed_compose(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-compose"])


@check(
    "exposed-ds-store",
    name=".DS_Store file is not public",
    found=".DS_Store file is public",
    why="The file lists the names of files in the folder, including those that nothing links to.",
    severity=LOW,
    fix=Fix(
        "Delete .DS_Store from the web root, and block dot files ({example}).",
        NO_DOT_FILES | {Server.IIS: '<hiddenSegments><add segment=".DS_Store"/></hiddenSegments>'},
    ),
    references=("CWE-538", "OWASP WSTG-CONF-04"),
)
def exposed_ds_store(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-ds-store"])


@check(
    "exposed-logs",
    name="Log files are not public",
    found="Log file is public",
    why="Logs hold visitors' addresses, paths, stack traces and sometimes session IDs or passwords.",
    severity=MEDIUM,
    fix=Fix(
        "Write logs outside the web root, and block them ({example}).",
        {
            Server.NGINX: r"location ~ \.log$ { return 404; }",
            Server.APACHE: r'RedirectMatch 404 "\.log$"',
            Server.IIS: '<fileExtensions><add fileExtension=".log" allowed="false"/></fileExtensions>',
        },
    ),
    references=("CWE-532", "OWASP WSTG-CONF-04"),
)
def exposed_logs(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-logs"])


@check(
    "exposed-api-docs",
    name="API description is not public",
    found="API description is public",
    why="A description of every operation shows attackers where to start.",
    severity=LOW,
    fix="If the API is not meant for the public, require a login for its description, and turn off "
    "GraphQL introspection.",
    references=("CWE-200", "OWASP API Security Top 10 2023, API9"),
)
def exposed_api_docs(exposure: Exposure) -> Finding:
    return _judge(exposure.families["exposed-api-docs"], is_warning=True)


@check(
    "exposed-source-maps",
    name="Source maps are not public",
    found="Source maps are public",
    why="Source maps give anyone the original source code, with its comments.",
    severity=LOW,
    fix="Build without source maps for production, or upload them to the error tracker only (hidden source maps).",
    references=("CWE-540", "ECMA-426", "MDN: SourceMap"),
)
def exposed_source_maps(maps: SourceMaps) -> Finding:
    if not maps.answers:
        return NotApplicable("The page loads no script of its own that could have a source map.")
    return _judge(maps.answers, is_warning=True)


def _judge(answers: Sequence[PathAnswer], *, is_warning: bool = False, title: str = "") -> Finding:
    """Judge the exposed files. If there are none, raise `Unanswered` unless every path got a response."""
    found = [each for each in answers if each.is_exposed]
    if found:
        shown = some([f"{excerpt(each.path)} ({each.excerpt}; {size(each.size_bytes)})" for each in found])
        verb = "is" if len(found) == 1 else "are"
        return (Warn if is_warning else Fail)(f"{shown} {verb} public.", evidence=_items(found), title=title)
    unanswered = [each for each in answers if each.status is None]
    if unanswered:
        first = unanswered[0]
        raise Unanswered(
            f"{counted(len(unanswered), 'path')} of {len(answers)} got no answer that could be judged "
            f"({excerpt(first.path)}: {first.error})"
        )
    seen = some([f"{excerpt(each.path)} ({_told(each)})" for each in answers])
    return Pass(f"No such file is public: {seen}.", _items(answers))


def _told(answer: PathAnswer) -> str:
    return "200, but other content" if answer.status == 200 else str(answer.status)


def _items(answers: Sequence[PathAnswer]) -> list[EvidenceItem]:
    return [
        {
            "path": excerpt(each.path),
            "status": each.status,
            "media_type": each.media_type,
            "size_bytes": each.size_bytes,
            "is_exposed": each.is_exposed,
        }
        | ({"proof": each.excerpt} if each.excerpt else {})
        for each in answers
    ]
