"""Command `manage.py site_docs`, which writes the public pages as a static site (`make site-docs`)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from documentation.static_site import BrokenSite, build
from website_scan.written_urls import split_url

# The command recognizes a static site, which it may replace, by this file.
SITE_MARKER = "docs/search-index.js"


class Command(BaseCommand):
    help = "Writes start page, documentation and sample reports as static files. It needs no database."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="folder to write; a site in it is replaced")
        parser.add_argument(
            "--url", default="", help="address that the site will have, such as https://example.com/scans/"
        )

    def handle(self, *args: Any, folder: Path, url: str, **options: Any) -> None:
        if url and not (split_url(url).scheme in ("http", "https") and split_url(url).netloc):
            raise CommandError(
                f"{url} is not an address: write it as https://example.com/ or https://example.com/scans/."
            )
        if folder.exists() and any(folder.iterdir()) and not (folder / SITE_MARKER).is_file():
            raise CommandError(f"{folder} contains something other than such a site. Use another folder, or empty it.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            site = Path(work) / "site"
            site.mkdir()
            try:
                pages = build(site, f"{url.rstrip('/')}/" if url else "")
            except BrokenSite as fault:
                raise CommandError(str(fault)) from None
            if folder.exists():
                shutil.rmtree(folder)
            site.rename(folder)
        self.stdout.write(f"{pages} pages in {folder}; open {folder / 'index.html'}")
        if not url:
            self.stdout.write("Without URL=https://… the site has no sitemap and no previews of its links.")
