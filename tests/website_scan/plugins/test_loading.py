"""Declarations of installed plug-ins, as the scanner reads them from their processes."""

from __future__ import annotations

from pathlib import Path

from tests.website_scan.plugins.distributions import install, module
from website_scan.plugins.registry import UsedPlugIn, find_format, used_plug_ins

FORMAT = "def render(exports):\n    return ''"


def loaded() -> UsedPlugIn:
    (used,) = used_plug_ins(None)
    return used


def test_two_functions_with_one_name_are_two_checks(packages: Path) -> None:
    body = "@declared('acme-{0}')\ndef f(page: Page) -> Verdict:\n    return Pass('{0}.')\n"
    install(packages, {"acme": module(body.format("x") + body.format("y"))})
    description = loaded().description
    assert [check.id for check in description.checks] == ["acme-x", "acme-y"]
    assert description.problems == ()


def test_probe_may_be_in_another_module(packages: Path) -> None:
    (packages / "acme_probes.py").write_text(
        "from dataclasses import dataclass\nfrom website_scan.plugins import Page, probe\n\n"
        "@dataclass\nclass Length:\n    value: int\n\n"
        "@probe\ndef length(page: Page) -> Length:\n    return Length(len(page.body))\n"
    )
    body = (
        "from acme_probes import Length\n\n"
        "@declared('acme-a')\ndef a(length: Length) -> Verdict:\n    return Pass('It is short.')\n"
    )
    install(packages, {"acme": module(body)})
    (check,) = loaded().description.checks
    assert (check.evidence, check.problem) == ({"page": True}, "")


def test_module_without_checks_is_a_problem(packages: Path) -> None:
    install(packages, {"acme": module("")})
    assert loaded().description.problems == ("checks_of_acme has no checks.",)


def test_wrong_format_is_left_out(packages: Path) -> None:
    check = module("@declared('acme-a')\ndef a(page: Page) -> Verdict:\n    return Pass('Fine.')")
    install(packages, {"acme": check}, formats={"acme-text": FORMAT, "acme-bad": "1 / 0", "acme-none": "x = 1"})
    points = packages / "acme_scan-1.2.dist-info" / "entry_points.txt"
    points.write_text(points.read_text() + "\nacme-module = formats_of_acme_text\n")
    used = loaded()
    assert [check.id for check in used.description.checks] == ["acme-a"]
    assert used.description.formats == ("acme-text",)
    assert used.description.problems == (
        "The format acme-bad was left out: ZeroDivisionError: division by zero (formats_of_acme_bad.py, line 1).",
        "The format acme-none was left out: AttributeError: module 'formats_of_acme_none' has no attribute 'render'.",
        "The format acme-module was left out: the entry point names no function, as in “formats_of_acme_text:table”.",
    )
    assert find_format("acme-bad", None) is not None


def test_probe_must_annotate_what_it_returns(packages: Path) -> None:
    install(packages, {"acme": module("@probe\ndef load(page: Page):\n    return 1")})
    message = "It could not be loaded: annotate the class that the probe load returns, as in “-> OpeningHours”."
    assert loaded().error == message


def test_values_of_wrong_types_are_problems_of_their_checks(packages: Path) -> None:
    body = "@declared('acme-{0}', {1})\ndef {0}(page: Page) -> Verdict:\n    return Pass('Fine.')\n"
    wrong = {
        "references": "references='https://a.example/'",
        "outcomes": "outcomes=['bad']",
        "title": "outcomes={'bad': None}",
        "fix": "fix=None",
    }
    install(packages, {"acme": module("".join(body.format(name, value) for name, value in wrong.items()))})
    assert loaded().description.problems == (
        'acme-references cannot run: references must be a tuple or list of texts, such as ("CWE-319",).',
        "acme-outcomes cannot run: outcomes is not an object with at most 30 keys.",
        "acme-title cannot run: the title of an outcome is not a text.",
        "acme-fix cannot run: the fix is not a text.",
    )


def test_decorators_refuse_objects_that_are_no_functions(packages: Path) -> None:
    install(packages, {"acme": module("@declared('acme-a')\nclass A: ...")})
    assert "TypeError: check(…) must be written before a function (declaring.py" not in loaded().error
    assert "TypeError: check(…) must be written before a function (checks_of_acme.py, line 12)" in loaded().error


def test_entry_point_of_checks_names_a_module(packages: Path) -> None:
    install(packages, {"acme": module("")})
    points = packages / "acme_scan-1.2.dist-info" / "entry_points.txt"
    points.write_text(points.read_text().replace("checks_of_acme", "checks_of_acme:a"))
    assert loaded().error == "The entry point acme must name a module, not “checks_of_acme:a”."
