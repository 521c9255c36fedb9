"""Tables of a page's Content Security Policies.

They show the findings about each directive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from website_scan.report.sections.headers import HeaderCheck
from website_scan.report_json import ExportedCheck, ExportedFinding
from website_scan.stored_data import StoredPolicy

SCRIPTS = ("script-src-elem", "script-src-attr", "script-src", "default-src")
STYLES = ("style-src-elem", "style-src-attr", "style-src", "default-src")
WAYS = {"header": "sent as a header", "meta": "in a <meta> element", "report only": "reported only, nothing is blocked"}


class Source(Struct, frozen=True):
    """Source expression of a CSP directive.

    `is_weak` is True if a finding is about the source.
    """

    text: str
    is_weak: bool


class Directive(Struct, frozen=True):
    """CSP directive with its findings.

    `is_set` is False if the policy lacks the directive.
    """

    name: str
    sources: tuple[Source, ...]
    verdicts: tuple[HeaderCheck, ...]
    is_set: bool = True


class Policy(Struct, frozen=True):
    way: str
    directives: tuple[Directive, ...]


def _is_one_of(*values: str) -> Callable[[str], bool]:
    return lambda source: source.lower() in values


def _is_broad_source(source: str) -> bool:
    return source.lower() in ("*", "http:", "https:", "data:", "blob:", "filesystem:") or source.startswith("*.")


def _is_http_source(source: str) -> bool:
    return source.lower().startswith("http:")


def _is_any_source(_source: str) -> bool:
    return True


# In a fallback chain, the first directive that the policy contains counts.
JUDGED_DIRECTIVES: Mapping[str, tuple[tuple[tuple[str, ...], ...], Callable[[str], bool]]] = {
    "csp-present": ((SCRIPTS,), lambda source: _is_broad_source(source) or source.lower() == "'unsafe-inline'"),
    "csp-script-inline": ((SCRIPTS,), _is_one_of("'unsafe-inline'")),
    "csp-script-broad": ((SCRIPTS,), _is_broad_source),
    "csp-unsafe-eval": ((SCRIPTS,), _is_one_of("'unsafe-eval'")),
    "csp-allowlist-bypass": ((SCRIPTS,), _is_one_of()),
    "csp-nonce-static": ((SCRIPTS,), lambda source: source.lower().startswith("'nonce-")),
    "csp-object-base": ((("object-src", "default-src"), ("base-uri",)), _is_one_of("*")),
    "csp-style-inline": ((STYLES,), _is_one_of("'unsafe-inline'")),
    "clickjacking": ((("frame-ancestors",),), _is_broad_source),
}


def policy_tables(
    stored: Sequence[StoredPolicy], checks: Mapping[str, ExportedCheck], prefix: str
) -> tuple[Policy, ...]:
    """Convert stored policies to tables.

    `checks` are the checks of the JSON export by ID.

    `prefix` goes before anchors.
    """
    findings = {id: check for id, check in checks.items() if check["status"] != "pass"}
    return tuple(Policy(WAYS[policy["way"]], _directives(policy, findings, prefix)) for policy in stored)


def _directives(policy: StoredPolicy, findings: Mapping[str, ExportedFinding], prefix: str) -> tuple[Directive, ...]:
    values: dict[str, list[str]] = {}
    for part in policy["text"].split(";"):
        name, *sources = part.split() or [""]
        if name:
            values.setdefault(name.lower(), sources)
    verdicts: dict[str, list[HeaderCheck]] = {}
    weak: dict[str, list[Callable[[str], bool]]] = {}

    def add_verdict(id: str, name: str, is_weak: Callable[[str], bool]) -> None:
        verdicts.setdefault(name, []).append(HeaderCheck.of(findings[id], prefix))
        weak.setdefault(name, []).append(is_weak)

    if policy["way"] != "report only":
        for id, (groups, is_weak) in JUDGED_DIRECTIVES.items():
            for group in groups if id in findings else ():
                name = next((name for name in group if name in values), group[0])
                # Of several chains, only those with a weak source or without a directive are marked.
                has_single_chain = len(groups) == 1
                if (has_single_chain or any(map(is_weak, values[name]))) if name in values else not has_single_chain:
                    add_verdict(id, name, is_weak)
        if "csp-insecure-source" in findings:
            for name in (name for name, sources in values.items() if any(map(_is_http_source, sources))):
                add_verdict("csp-insecure-source", name, _is_http_source)
        if "csp-syntax" in findings:
            faulty = _faulty_directives(findings["csp-syntax"])
            for name in (name for name in values if name in faulty):
                add_verdict("csp-syntax", name, _is_any_source)
    missing = [
        Directive(name, (), tuple(judgements), is_set=False)
        for name, judgements in verdicts.items()
        if name not in values
    ]
    return (
        *(
            Directive(
                name,
                tuple(Source(text, any(is_weak(text) for is_weak in weak.get(name, ()))) for text in sources),
                tuple(verdicts.get(name, ())),
            )
            for name, sources in values.items()
        ),
        *missing,
    )


def _faulty_directives(check: ExportedFinding) -> set[str]:
    """Return the names of a finding's faulty directives."""
    faults: Any = check["values"]["faults"]["value"] if "faults" in check["values"] else ()
    names = (fault["values"].get("directive", {}).get("value", "") for fault in faults)
    return {str(name).lower() for name in names}
