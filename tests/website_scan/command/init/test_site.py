"""Tests for the static files and servers that `website-scan init` recognizes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.website_scan.command.init.conftest import create
from website_scan.command.init.folder import SetupFolder
from website_scan.command.init.site import RecognizedSite, recognize_site

PAGE = "<!doctype html><title>Inn</title>"


def package(scripts: Mapping[str, str], *dependencies: str) -> str:
    return json.dumps({"scripts": scripts, "devDependencies": dict.fromkeys(dependencies, "1")})


def server(start: str, port: int, install: str = "npm install", build: str = "") -> RecognizedSite:
    return RecognizedSite(start=start, url=f"http://localhost:{port}/", install=install, build=build)


def npm_build(folder: str, install: str = "npm install", *, is_there: bool = False) -> RecognizedSite:
    return RecognizedSite(folder, "npm run build", install, is_there=is_there)


BUILD = {"build": "make it"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, RecognizedSite()),
        ({"index.html": PAGE}, RecognizedSite(".", is_there=True)),
        ({"public/index.html": PAGE, "index.html": PAGE}, RecognizedSite("public", is_there=True)),
        ({"_site/index.html": PAGE}, RecognizedSite("_site", is_there=True)),
        ({"dist/index.html": PAGE, "docs/index.html": PAGE}, RecognizedSite("dist", is_there=True)),
        ({"dist/main.js": ""}, RecognizedSite()),
        ({"hugo.toml": ""}, RecognizedSite("public", "hugo")),
        ({"hugo.toml": "", "docs/index.html": PAGE}, RecognizedSite("public", "hugo")),
        ({"mkdocs.yml": "", "site/": ""}, RecognizedSite("site", "mkdocs build", is_there=True)),
        ({"_config.yml": "", "index.html": PAGE}, RecognizedSite("_site", "bundle exec jekyll build")),
        ({"package.json": package(BUILD, "vite")}, npm_build("dist")),
        ({"package.json": package(BUILD, "vite", "astro"), "dist/": ""}, npm_build("dist", is_there=True)),
        ({"package.json": package(BUILD, "react-scripts"), "public/index.html": PAGE}, npm_build("build")),
        ({"package.json": package(BUILD, "gatsby"), "package-lock.json": ""}, npm_build("public", "npm ci")),
        (
            {"package.json": package(BUILD, "vite"), "pnpm-lock.yaml": ""},
            RecognizedSite("dist", "pnpm run build", "corepack enable && pnpm install --frozen-lockfile"),
        ),
        # A build of an unknown generator reads this folder.
        ({"package.json": package(BUILD), "public/index.html": PAGE}, RecognizedSite()),
        ({"package.json": package(BUILD), "out/index.html": PAGE}, npm_build("out", is_there=True)),
        (
            {"package.json": package({"start": "next start -p 3100", "build": "next build"}, "next")},
            server("npm start", 3100, build="npm run build"),
        ),
        (
            {"package.json": package({"preview": "vite preview", "start": "node server.js"}), "yarn.lock": ""},
            server("yarn run preview", 4173, "corepack enable && yarn install --frozen-lockfile"),
        ),
        ({"package.json": package({"start": "PORT=8123 node server.js"})}, server("npm start", 8123)),
        ({"package.json": package({"serve": "http-server --port 80801"})}, server("npm run serve", 8080)),
        ({"package.json": package({"start": "node server.js"})}, server("npm start", 3000)),
        ({"package.json": package({"test": "jest"}), "index.html": PAGE}, RecognizedSite(".", is_there=True)),
        ({"package.json": "{"}, RecognizedSite()),
        ({"package.json": "[" * 100_000}, RecognizedSite()),
        ({"package.json": "[]"}, RecognizedSite()),
        ({"package.json": '{"scripts": ["build"], "dependencies": 5}'}, RecognizedSite()),
        ({"package.json": '{"scripts": {"start": 5}}'}, RecognizedSite()),
    ],
)
def test_sites_are_recognized(folder: Path, files: Mapping[str, str], expected: RecognizedSite) -> None:
    create(folder, files)
    assert recognize_site(SetupFolder(folder)) == expected


def test_links_and_pipes_are_not_read(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    create(outside, {"dist/index.html": PAGE, "package.json": package({"start": "next start"})})
    (folder / "dist").symlink_to(outside / "dist")
    (folder / "package.json").symlink_to(outside / "package.json")
    os.mkfifo(folder / "index.html")
    assert recognize_site(SetupFolder(folder)) == RecognizedSite()
    (folder / "package.json").unlink()
    os.mkfifo(folder / "package.json")
    assert recognize_site(SetupFolder(folder)) == RecognizedSite()
