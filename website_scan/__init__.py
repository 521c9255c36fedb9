"""Scan web pages for security, performance, accessibility and SEO.

The package is a library (docs/library.md) and a command, and needs no framework. The names of `__all__` are its public
interface, which docs/compatibility.md promises. They are imported when they are first used.
"""

# Version of the release for the Python distribution, openapi.yaml and the operations page.
__version__ = "1.0.0"

# Type checkers take this branch. The import of `typing` would take as long as all the rest of this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from website_scan.library.browser import Browser
    from website_scan.library.comparison import Change, ChangedPlace, Diff, NotCompared, diff
    from website_scan.library.criteria import Conformance, Criterion, CriterionCheck, conformance
    from website_scan.library.documents import FORMATS, document, read
    from website_scan.library.errors import (
        Blocked,
        BrowserUnavailable,
        InvalidDocument,
        InvalidOption,
        InvalidUrl,
        WebsiteScanError,
    )
    from website_scan.library.options import STANDARDS, TYPES, ColorScheme, Credentials, ScanType
    from website_scan.library.results import (
        Cap,
        Category,
        Detail,
        Failure,
        Finding,
        Fix,
        OmittedCheck,
        PageResult,
        PassedCheck,
        Place,
        PlugIn,
        RepeatedCheck,
        Report,
        Severity,
        SkippedCheck,
        Snippet,
        Value,
    )
    from website_scan.library.scanning import Progress, scan, scan_pages

_MODULES = {
    "browser": ("Browser",),
    "comparison": ("Change", "ChangedPlace", "Diff", "NotCompared", "diff"),
    "criteria": ("Conformance", "Criterion", "CriterionCheck", "conformance"),
    "documents": ("FORMATS", "document", "read"),
    "errors": ("Blocked", "BrowserUnavailable", "InvalidDocument", "InvalidOption", "InvalidUrl", "WebsiteScanError"),
    "options": ("STANDARDS", "TYPES", "ColorScheme", "Credentials", "ScanType"),
    "results": (
        *("Cap", "Category", "Detail", "Failure", "Finding", "Fix", "OmittedCheck", "PageResult", "PassedCheck"),
        *("Place", "PlugIn", "RepeatedCheck", "Report", "Severity", "SkippedCheck", "Snippet", "Value"),
    ),
    "scanning": ("Progress", "scan", "scan_pages"),
}

# Type checkers need a literal list; a test compares it with the imports above.
__all__ = [
    "FORMATS",
    "STANDARDS",
    "TYPES",
    "Blocked",
    "Browser",
    "BrowserUnavailable",
    "Cap",
    "Category",
    "Change",
    "ChangedPlace",
    "ColorScheme",
    "Conformance",
    "Credentials",
    "Criterion",
    "CriterionCheck",
    "Detail",
    "Diff",
    "Failure",
    "Finding",
    "Fix",
    "InvalidDocument",
    "InvalidOption",
    "InvalidUrl",
    "NotCompared",
    "OmittedCheck",
    "PageResult",
    "PassedCheck",
    "Place",
    "PlugIn",
    "Progress",
    "RepeatedCheck",
    "Report",
    "ScanType",
    "Severity",
    "SkippedCheck",
    "Snippet",
    "Value",
    "WebsiteScanError",
    "__version__",
    "conformance",
    "diff",
    "document",
    "read",
    "scan",
    "scan_pages",
]


if not TYPE_CHECKING:
    # For type checkers, the module has no other names than those above.
    def __getattr__(name: str) -> object:
        """Import a public name at its first use."""
        for module, names in _MODULES.items():
            if name in names:
                from importlib import import_module

                value: object = getattr(import_module(f"website_scan.library.{module}"), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
