"""Score caps of SEO."""

from website_scan.scoring import Cap

CAPS = (
    Cap(
        40,
        "Search engines cannot index this page.",
        checks=frozenset({"http-status", "is-indexable", "robots-blocked", "soft-404"}),
    ),
    Cap(40, "The page shows no content in a browser.", checks=frozenset({"seo-blank-page"})),
    Cap(79, "The page's content was not judged, so at most a C.", count=0, is_unseen=True),
)
