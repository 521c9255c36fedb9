"""Decide what the scans of a repository look at."""

from __future__ import annotations

from urllib.parse import quote

from msgspec import Struct, field

from website_scan.command.errors import WrongUsage
from website_scan.command.init.quoting import shell_word
from website_scan.command.init.site import RecognizedSite
from website_scan.command.pages import SYNTAX, canonical_pages
from website_scan.net.addresses import loopback_addresses
from website_scan.net.errors import Blocked
from website_scan.net.targets import parse_target


class ScanPlan(Struct, frozen=True):
    """What is scanned: a published page, a page of this machine, or the folder that `site` names.

    `url` is that of a published page. `local_url` is that of a page of this machine, which website-scan.toml may not
    contain. Both are empty for a folder, and if nothing was recognized.
    """

    url: str = ""
    local_url: str = ""
    site: RecognizedSite = field(default_factory=RecognizedSite)

    @property
    def folder(self) -> str:
        """Folder of static files that is scanned; empty without one."""
        return "" if self.url or self.local_url else self.site.folder

    @property
    def start(self) -> str:
        return self.site.start if self.local_url else ""

    @property
    def build(self) -> str:
        """Command that builds the site before a scan; empty without one."""
        return "" if self.url else self.site.build

    @property
    def build_from_scratch(self) -> str:
        """Command that builds the site in a new copy of the repository; empty if it is not known."""
        return " && ".join(filter(None, (self.site.install, self.build))) if self.site.install and not self.url else ""

    @property
    def arguments(self) -> str:
        """Arguments of the command that are not in website-scan.toml, quoted for a shell."""
        start = f" --start {shell_word(self.start)}" if self.start else ""
        return f"{shell_word(self.local_url)}{start}" if self.local_url else ""

    @property
    def is_empty(self) -> bool:
        return not (self.url or self.local_url or self.folder)


def scan_plan(site: RecognizedSite, raw_url: str | None) -> ScanPlan:
    """Return the plan for a recognized site and the value of `--url`, which precedes it. Raises WrongUsage."""
    if raw_url is None:
        return ScanPlan(local_url=site.url, site=site)
    (url,) = canonical_pages([raw_url])
    if url.startswith("/"):
        raise WrongUsage("--url: write the address of a page, such as https://example.com/.")
    try:
        is_local = bool(loopback_addresses(parse_target(url, SYNTAX).host))
    except Blocked as refusal:
        raise WrongUsage(f"--url {url}: {refusal}") from None
    # GitHub would evaluate ${{ … }}, GitLab and shells $VARIABLE.
    url = quote(url, safe="!#&'()*+,/:;=?@[]%~")
    if is_local:
        return ScanPlan(local_url=url, site=site if site.start else RecognizedSite())
    return ScanPlan(url=url, site=site)
