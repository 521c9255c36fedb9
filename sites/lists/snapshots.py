"""Snapshots of lists: figures of a run that has ended, differences between two, and adoption of a check over time.

Figures are calculated from the counts of the run, which hold the number of sites by score: no report is read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict

from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, QuerySet, Value
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Now
from django.utils import timezone

from documentation.checks import check_name, entries
from infrastructure.postgresql.statements import fetch
from scanner.errors import Refusal
from scanner.ids import is_id
from scanner.scoring import GRADES, mean_grade, rounded
from scans.models import Scan
from sites.models import ListCount, ListResult, ListRun, SiteList
from sites.models.site_list import ListCounts

# Every grade, the best first; "A+" is one of its own.
LETTERS = (*(letter for _, letter in GRADES), "F")
# Runs whose figures are those of the list: what a cancelled or failed one has seen may be any part of it.
WHOLE = (ListRun.Status.COMPLETED, ListRun.Status.PARTIAL)
# Tags with figures of their own, and sites that were not reached, in a summary.
TAGS_SHOWN, UNREACHED_SHOWN = 100, 100
EMPTY: ListCounts = {"sites": 0, "judged": 0, "scores": {}, "grades": {}, "checks": {}}

# Predicates of sites that pass a check, for people who read no check IDs.
PREDICATES: Mapping[str, str] = {
    "https-available": "are available over HTTPS",
    "http-to-https-redirect": "redirect to HTTPS",
    "tls-cert-trusted": "have a trusted certificate",
    "tls-cert-hostname": "have a certificate for their host name",
    "tls-cert-expiry": "have a valid certificate",
    "tls-modern-protocols": "support TLS 1.3",
    "tls-legacy-protocols": "refuse outdated TLS versions",
    "tls-weak-ciphers": "offer no weak cipher suites",
    "hsts": "use HSTS",
    "mixed-content": "load no mixed content",
    "csp-present": "have a Content Security Policy",
    "csp-script-inline": "restrict inline scripts",
    "clickjacking": "are protected from clickjacking",
    "x-content-type-options": "switch off MIME sniffing",
    "referrer-policy": "have a safe referrer policy",
    "permissions-policy": "have a Permissions-Policy",
    "cookie-secure": "set all cookies with Secure",
    "cookie-httponly": "set session cookies with HttpOnly",
    "caa": "have CAA records",
    "dnssec": "have DNSSEC",
    "spf": "have SPF",
    "dmarc": "enforce DMARC",
    "security-txt": "publish a security.txt",
    "server-version": "show no server version",
    "vulnerable-js-library": "load no JavaScript library with known vulnerabilities",
    "sri-third-party": "use Subresource Integrity",
    "exposed-git": "expose no Git repository",
    "exposed-env": "expose no environment file",
    "http-version": "use HTTP/2 or HTTP/3",
    "text-compressed": "compress text",
    "image-format": "use modern image formats",
    "cache-missing": "let browsers cache static files",
    "lcp": "show their main content quickly",
    "cls": "keep their layout stable",
    "html-has-lang": "declare their language",
    "document-title": "have a page title",
    "image-alt": "have alternative texts for all images",
    "color-contrast": "have sufficient contrast",
    "label": "label all form fields",
    "link-name": "have names for all links",
    "button-name": "have names for all buttons",
    "bypass": "let readers skip repeated content",
    "viewport": "have a viewport for phones",
    "title": "have a title of suitable length",
    "meta-description": "have a meta description",
    "is-indexable": "can be indexed",
    "robots-txt": "have no invalid robots.txt",
    "sitemap-found": "have a sitemap",
    "broken-links": "have no broken links",
    "canonical-valid": "have no invalid canonical URL",
}
SINGULAR = {"are": "is", "can": "can", "compress": "compresses", "have": "has", "pass": "passes"}
SINGULAR |= {"publish": "publishes", "switch": "switches"}

# Results of the same address in both runs, and the mean change of the scores that both have. An address is a site,
# also if its entry was deleted and added again.
PAIRS = """
    SELECT after.url, after.entry_id, after.tags, before.statuses AS statuses_before, after.statuses AS statuses_after,
        {columns}, (SELECT avg(each) FROM unnest(ARRAY[{changes}]) AS each) AS change
    FROM sites_listresult AS after
    JOIN sites_listresult AS before ON before.run_id = %(before)s AND before.url = after.url AND before.status = 'done'
    WHERE after.run_id = %(after)s AND after.status = 'done'
"""
TOTALS = """
    SELECT count(*), count(*) FILTER (WHERE change > 0), count(*) FILTER (WHERE change < 0),
        string_agg(rpad(statuses_before, %(width_before)s, '-'), ''),
        string_agg(rpad(statuses_after, %(width_after)s, '-'), '')
    FROM ({pairs}) AS pair
"""
EXTREMES = """
    WITH pair AS MATERIALIZED ({pairs})
    (SELECT change, url, entry_id, tags, {names} FROM pair WHERE change > 0 ORDER BY change DESC, url LIMIT %(limit)s)
    UNION ALL
    (SELECT change, url, entry_id, tags, {names} FROM pair WHERE change < 0 ORDER BY change, url LIMIT %(limit)s)
"""
# Sites that are in one run only, or that were judged in one only.
COMINGS = """
    SELECT count(*) FILTER (WHERE before.id IS NULL), count(*) FILTER (WHERE after.id IS NULL),
        count(*) FILTER (WHERE before.status = 'done' AND after.status = 'failed'),
        count(*) FILTER (WHERE before.status = 'failed' AND after.status = 'done'),
        (array_agg(after.url ORDER BY after.url)
            FILTER (WHERE before.status = 'done' AND after.status = 'failed'))[:%(limit)s],
        (array_agg(after.url ORDER BY after.url)
            FILTER (WHERE before.status = 'failed' AND after.status = 'done'))[:%(limit)s]
    FROM (SELECT * FROM sites_listresult WHERE run_id = %(before)s) AS before
    FULL JOIN (SELECT * FROM sites_listresult WHERE run_id = %(after)s) AS after ON after.url = before.url
"""


class SnapshotNotFound(Refusal):
    code = "SNAPSHOT_NOT_FOUND"
    status = 404


class TypeFigures(TypedDict):
    """Scores of a type over the sites that have one. All but `judged` are None if no site has.

    `mean` has one decimal. Median and quartiles are interpolated between the two nearest ranks (type 7 of Hyndman and
    Fan, Sample quantiles in statistical packages, 1996), as QUARTILE.INC of spreadsheets does, so they are multiples
    of a quarter. `grades` has every grade, the best first.
    """

    judged: int
    mean: float | None
    lower_quartile: float | None
    median: float | None
    upper_quartile: float | None
    grades: dict[str, int]


class CheckFigures(TypedDict):
    """Number of sites that fail, warn and pass, and of those on which the check ran."""

    check: str
    name: str
    type: str
    failed: int
    warned: int
    passed: int
    of: int


class NotReached(TypedDict):
    """Number of sites that could not be judged, in all and by error code."""

    total: int
    codes: dict[str, int]


class Figures(TypedDict):
    """Figures of a snapshot, which name no site and no tag. Checks with the most failures come first."""

    sites: int
    judged: int
    left_out: int
    not_reached: NotReached
    types: dict[str, TypeFigures]
    checks: list[CheckFigures]


class TagFigures(TypedDict):
    tag: str
    sites: int
    judged: int
    types: dict[str, TypeFigures]


class UnreachedSite(TypedDict):
    url: str
    code: str
    message: str


class Summary(Figures):
    """Figures of a snapshot with those of its most frequent tags, and the first sites that could not be judged."""

    tags: list[TagFigures]
    unreached: list[UnreachedSite]


class Score(TypedDict):
    score: int
    grade: str


class ScorePair(TypedDict):
    before: Score
    after: Score


class ChangedSite(TypedDict):
    """Site with another mean of the scores that it has in both snapshots; `change` has one decimal."""

    url: str
    entry_id: str | None
    tags: list[str]
    change: float
    types: dict[str, ScorePair]


class ChangedCheck(TypedDict):
    """Check that fails on more or on fewer of the sites on which it ran in both snapshots, `of` in number."""

    check: str
    name: str
    type: str
    of: int
    failed_before: int
    failed_after: int
    fixed: int
    broken: int


class ComparedSites(TypedDict):
    """Numbers of sites: judged in both snapshots (of these better, worse), in one only, and lost or regained since."""

    compared: int
    better: int
    worse: int
    added: int
    removed: int
    lost: int
    regained: int


class Difference(TypedDict):
    """Difference between two snapshots; the lists have the largest changes first.

    `types` are those of both. `checks_added` and `checks_removed` ran in one snapshot only, so nothing of them is
    better or worse.
    """

    types: list[str]
    sites: ComparedSites
    better: list[ChangedSite]
    worse: list[ChangedSite]
    lost: list[str]
    regained: list[str]
    fewer_failures: list[ChangedCheck]
    more_failures: list[ChangedCheck]
    checks_added: list[str]
    checks_removed: list[str]


def snapshots_of(site_list: SiteList) -> QuerySet[ListRun]:
    """Return the runs of a list that have ended, newest first, without expired ones."""
    return kept(ListRun.objects.filter(site_list=site_list)).order_by("-started_at", "-id")


def kept(runs: QuerySet[ListRun]) -> QuerySet[ListRun]:
    """Filter runs that have ended, and are kept to this second."""
    days = ExpressionWrapper(F("kept_days") * Value(timedelta(days=1)), output_field=DurationField())
    return runs.filter(
        Q(kept_days=None) | Q(ended_at__gt=Now() - days), status__in=ListRun.ENDED, ended_at__isnull=False
    )


def is_kept(run: ListRun, now: datetime | None = None) -> bool:
    """Return True for a snapshot that has not expired."""
    if not run.has_ended or run.ended_at is None:
        return False
    return run.kept_days is None or run.ended_at > (now or timezone.now()) - timedelta(days=run.kept_days)


def find_snapshot(organization_id: int, list_id: str, run_id: str) -> ListRun:
    """Return a snapshot of an organization's list. Raises SnapshotNotFound, also while the run goes on."""
    runs = ListRun.objects.filter(site_list__organization_id=organization_id, site_list_id=list_id, id=run_id)
    is_valid = is_id("lst", list_id) and is_id("run", run_id)
    found = kept(runs).select_related("site_list").first() if is_valid else None
    if found is None:
        raise SnapshotNotFound("There is no snapshot with this ID. A run has one when it has ended.")
    return found


def latest(site_list: SiteList) -> ListRun | None:
    """Return the newest snapshot of a run that was neither cancelled nor failed."""
    return snapshots_of(site_list).filter(status__in=WHOLE).first()


def previous(run: ListRun) -> ListRun | None:
    """Return the snapshot before this one, of a run that was neither cancelled nor failed."""
    earlier = snapshots_of(run.site_list).filter(status__in=WHOLE, started_at__lte=run.started_at)
    return earlier.exclude(id=run.id).first()


def figures(run: ListRun, tag: str = "") -> Figures:
    """Return the figures of a snapshot, or of its sites with a tag. They name no site."""
    found = ListCount.objects.filter(run=run, tag=tag).values_list("data", flat=True).first()
    counts: ListCounts = found or EMPTY
    results = _results(run, tag)
    codes = results.filter(status=ListResult.Status.FAILED).values_list("error_code")
    by_code = dict(codes.annotate(number=Count("id")).order_by("-number", "error_code"))
    return {
        "sites": results.count() if tag else run.entries,
        "judged": counts["judged"],
        "left_out": results.filter(status=ListResult.Status.LEFT_OUT).count() if tag else run.left_out,
        "not_reached": {"total": sum(by_code.values()), "codes": by_code},
        "types": _types(run, counts),
        "checks": _checks(counts["checks"]),
    }


def summary(run: ListRun, tag: str = "") -> Summary:
    """Return the figures of a snapshot, or of its sites with a tag, by tag as well, and what could not be judged."""
    failed = _results(run, tag).filter(status=ListResult.Status.FAILED).order_by("position")
    unreached: list[UnreachedSite] = [
        {"url": url, "code": code, "message": message}
        for url, code, message in failed.values_list("url", "error_code", "error_message")[:UNREACHED_SHOWN]
    ]
    return {**figures(run, tag), "tags": [] if tag else _tags(run), "unreached": unreached}


def _results(run: ListRun, tag: str) -> QuerySet[ListResult]:
    results = ListResult.objects.filter(run=run)
    return results.filter(tags__contains=[tag]) if tag else results


def _types(run: ListRun, counts: ListCounts) -> dict[str, TypeFigures]:
    return {
        each: type_figures(counts["scores"].get(each, {}), counts["grades"].get(each, {}))
        for each in Scan.Type.values
        if each in run.types
    }


def type_figures(scores: Mapping[str, int], grades: Mapping[str, int]) -> TypeFigures:
    """Return the figures of a type by its numbers of sites by score and by grade."""
    histogram = sorted((int(score), number) for score, number in scores.items() if number > 0)
    judged = sum(number for _, number in histogram)
    total = sum(score * number for score, number in histogram)
    return {
        "judged": judged,
        "mean": round(total / judged, 1) if judged else None,
        "lower_quartile": _quantile(histogram, judged, 1),
        "median": _quantile(histogram, judged, 2),
        "upper_quartile": _quantile(histogram, judged, 3),
        "grades": {letter: grades.get(letter, 0) for letter in LETTERS},
    }


def _quantile(histogram: Sequence[tuple[int, int]], judged: int, quarters: int) -> float | None:
    if not judged:
        return None
    rank, part = divmod(quarters * (judged - 1), 4)
    low, high = _at(histogram, rank), _at(histogram, rank + 1 if part else rank)
    return low + (high - low) * part / 4


def _at(histogram: Sequence[tuple[int, int]], rank: int) -> int:
    """Return the score with this rank, 0 for the lowest."""
    reached = 0
    return next(score for score, number in histogram if (reached := reached + number) > rank)


def grade_of(found: TypeFigures) -> str:
    """Return the grade of a type's mean; A+ only if every site has one. Empty without a judged site."""
    if found["mean"] is None:
        return ""
    return mean_grade(rounded(found["mean"]), found["grades"]["A+"] == found["judged"])


def _checks(counts: Mapping[str, Sequence[int]]) -> list[CheckFigures]:
    found: list[CheckFigures] = [
        {**_named(check), "failed": failed, "warned": warned, "passed": passed, "of": failed + warned + passed}
        for check, (failed, warned, passed) in counts.items()
    ]
    return sorted(found, key=lambda each: (-each["failed"], -each["warned"], each["check"]))


class _Named(TypedDict):
    check: str
    name: str
    type: str


def _named(check: str) -> _Named:
    entry = entries().get(check)
    return {"check": check, "name": check_name(check), "type": str(entry.type) if entry else ""}


def _tags(run: ListRun) -> list[TagFigures]:
    """Return the figures of the tags with most sites. The counts of checks, which are long, are not read."""
    rows = (
        ListCount.objects.filter(run=run)
        .exclude(tag="")
        .annotate(
            sites=KeyTransform("sites", "data"),
            judged=KeyTransform("judged", "data"),
            scores=KeyTransform("scores", "data"),
            grades=KeyTransform("grades", "data"),
        )
    )
    shown = rows.order_by("-sites", "tag").values_list("tag", "sites", "judged", "scores", "grades")[:TAGS_SHOWN]
    return [
        {
            "tag": tag,
            "sites": sites,
            "judged": judged,
            "types": _types(run, {**EMPTY, "scores": scores, "grades": grades}),
        }
        for tag, sites, judged, scores, grades in shown
    ]


def diff(run: ListRun, other: ListRun, limit: int = 50) -> Difference:
    """Return what has changed in `run` since the snapshot `other`, with at most `limit` sites of each kind.

    Only sites that both have judged are compared, in the types and with the checks that both have.
    """
    types = [each for each in Scan.Type.values if each in run.types and each in other.types]
    params = {"before": other.id, "after": run.id, "limit": limit}
    compared, better, worse, before, after = 0, 0, 0, "", ""
    changed: list[ChangedSite] = []
    if types:
        pairs = _pairs(types)
        widths = {"width_before": len(other.checks), "width_after": len(run.checks)}
        ((compared, better, worse, before, after),) = fetch(TOTALS.format(pairs=pairs), params | widths)
        names = ", ".join(_columns(types))
        changed = [_changed_site(types, row) for row in fetch(EXTREMES.format(pairs=pairs, names=names), params)]
    ((added, removed, lost, regained, urls_lost, urls_regained),) = fetch(COMINGS, params)
    checks = _changed_checks((other.checks, before or ""), (run.checks, after or ""), compared)
    return {
        "types": types,
        "sites": {
            "compared": compared,
            "better": better,
            "worse": worse,
            "added": added,
            "removed": removed,
            "lost": lost,
            "regained": regained,
        },
        "better": [each for each in changed if each["change"] > 0],
        "worse": [each for each in changed if each["change"] < 0],
        "lost": urls_lost or [],
        "regained": urls_regained or [],
        "fewer_failures": _by_size(each for each in checks if each["failed_after"] < each["failed_before"]),
        "more_failures": _by_size(each for each in checks if each["failed_after"] > each["failed_before"]),
        "checks_added": [each for each in run.checks if each not in set(other.checks)],
        "checks_removed": [each for each in other.checks if each not in set(run.checks)],
    }


def _pairs(types: Sequence[str]) -> str:
    """Return the query of pairs of results with the scores of these types."""
    columns = (
        f"{run}.{each}_{value} AS {each}_{value}_{run}"
        for each in types
        for run in ("before", "after")
        for value in ("score", "grade")
    )
    changes = (f"after.{each}_score - before.{each}_score" for each in types)
    return PAIRS.format(columns=", ".join(columns), changes=", ".join(changes))


def _columns(types: Sequence[str]) -> list[str]:
    return [f"{each}_{value}_{run}" for each in types for run in ("before", "after") for value in ("score", "grade")]


def _changed_site(types: Sequence[str], row: Sequence[Any]) -> ChangedSite:
    change, url, entry_id, tags, *values = row
    scores: dict[str, ScorePair] = {}
    for at, each in enumerate(types):
        before, grade_before, after, grade_after = values[4 * at : 4 * at + 4]
        if before is not None and after is not None:
            scores[each] = {
                "before": {"score": before, "grade": grade_before},
                "after": {"score": after, "grade": grade_after},
            }
    return {"url": url, "entry_id": entry_id, "tags": tags, "change": round(float(change), 1), "types": scores}


def _changed_checks(
    before: tuple[Sequence[str], str], after: tuple[Sequence[str], str], compared: int
) -> list[ChangedCheck]:
    """Compare the checks of two snapshots, given as their IDs and the letters of all compared sites in one string."""
    columns_before, columns_after = _Columns(*before), _Columns(*after)
    found: list[ChangedCheck] = []
    for check in after[0] if compared else ():
        if check not in columns_before:
            continue
        ran_before, failed_before = columns_before.of(check)
        ran_after, failed_after = columns_after.of(check)
        ran = ran_before & ran_after
        failed_before, failed_after = failed_before & ran, failed_after & ran
        both = (failed_before & failed_after).bit_count()
        fixed, broken = failed_before.bit_count() - both, failed_after.bit_count() - both
        if fixed or broken:
            found.append(
                {
                    **_named(check),
                    "of": ran.bit_count(),
                    "failed_before": fixed + both,
                    "failed_after": broken + both,
                    "fixed": fixed,
                    "broken": broken,
                }
            )
    return found


class _Columns:
    """Statuses of many sites, by check. A set of sites is an integer with a byte for each, because millions of letters
    are compared in milliseconds so."""

    RAN = bytes(chr(each) in "fwp" for each in range(256))
    FAILED = bytes(chr(each) == "f" for each in range(256))

    def __init__(self, checks: Sequence[str], letters: str) -> None:
        self._places = {check: place for place, check in enumerate(checks)}
        self._letters = letters.encode()

    def __contains__(self, check: str) -> bool:
        return check in self._places

    def of(self, check: str) -> tuple[int, int]:
        """Return the sets of sites on which the check ran, and on which it failed."""
        column = self._letters[self._places[check] :: len(self._places)]
        return int.from_bytes(column.translate(self.RAN)), int.from_bytes(column.translate(self.FAILED))


def _by_size(checks: Iterable[ChangedCheck]) -> list[ChangedCheck]:
    return sorted(checks, key=lambda each: (-abs(each["failed_after"] - each["failed_before"]), each["check"]))


def adoption(site_list: SiteList, check: str, tag: str = "", limit: int = 52) -> list[tuple[ListRun, int, int]]:
    """Return the last snapshots of a list, oldest first, with the number of sites that passed the check, and of those
    on which it ran. Snapshots without the check, and those of cancelled or failed runs, are left out."""
    found = KeyTransform(check, KeyTransform("checks", "data"))
    counts = ListCount.objects.filter(run__in=snapshots_of(site_list).filter(status__in=WHOLE), tag=tag)
    rows = counts.annotate(found=found).exclude(found=None).select_related("run").defer("data")
    newest = rows.order_by("-run__started_at", "-run_id")[:limit]
    return [(each.run, each.found[2], sum(each.found)) for each in newest][::-1]


def percent(part: int, of: int) -> int:
    """Return the percentage, rounded half up, but 0 and 100 only where they are exact. `of` is at least 1."""
    if part in (0, of):
        return 100 * (part == of)
    return min(99, max(1, (200 * part + of) // (2 * of)))


def sentence(check: str, passed: int, of: int) -> str:
    """Return a sentence such as "87 % of 1,204 sites redirect to HTTPS", without a full stop."""
    if not of:
        return f"No site has a result: {check_name(check)}"
    predicate = PREDICATES.get(check) or f"pass: {check_name(check)}"
    if of == 1:
        verb, _, rest = predicate.partition(" ")
        return f"{percent(passed, of)} % of 1 site {_singular(verb)} {rest}"
    return f"{percent(passed, of)} % of {of:,} sites {predicate}"


def _singular(verb: str) -> str:
    bare = verb.removesuffix(":")
    return SINGULAR.get(bare, f"{bare}s") + verb[len(bare) :]
