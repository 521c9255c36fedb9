"""Recognize what a repository's scans can look at: a folder of static files, or a server that a script starts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from msgspec import Struct

from website_scan.command.init.folder import SetupFolder

PACKAGE = "package.json"
# Folders that builds commonly write, if the generator is not known.
BUILT_FOLDERS = ("dist", "build", "_site", "out", "site", "public", "docs")
# Many builds read this folder instead of writing it.
SOURCE_FOLDER = "public"
# Folder that a build writes by the dependency in package.json that writes it; empty if it builds for a server. The
# first one counts, so frameworks precede the tools that they use.
FOLDERS_BY_DEPENDENCY = {
    "next": "",
    "nuxt": "",
    "@remix-run/node": "",
    "@sveltejs/adapter-static": "build",
    "@sveltejs/kit": "",
    "@docusaurus/core": "build",
    "astro": "dist",
    "gatsby": "public",
    "@11ty/eleventy": "_site",
    "hexo": "public",
    "react-scripts": "build",
    "@vue/cli-service": "dist",
    "parcel": "dist",
    "vite": "dist",
}
# Configuration files of generators that are no packages of npm: folder that they write, and their command.
GENERATORS = {
    "hugo.toml": ("public", "hugo"),
    "hugo.yaml": ("public", "hugo"),
    "hugo.json": ("public", "hugo"),
    "mkdocs.yml": ("site", "mkdocs build"),
    "_config.yml": ("_site", "bundle exec jekyll build"),
}
# Package managers by their lock file, with the command that installs the packages of the file.
INSTALLATIONS = {
    "pnpm-lock.yaml": ("pnpm", "corepack enable && pnpm install --frozen-lockfile"),
    "yarn.lock": ("yarn", "corepack enable && yarn install --frozen-lockfile"),
    "package-lock.json": ("npm", "npm ci"),
    "npm-shrinkwrap.json": ("npm", "npm ci"),
}
# Scripts that start a server, best first: one that shows the result of a build precedes one for development.
SERVER_SCRIPTS = ("preview", "serve", "start")
# Ports of servers by a word of their script. The first one counts.
PORTS = {
    "vite preview": 4173,
    "vite": 5173,
    "astro": 4321,
    "gatsby serve": 9000,
    "gatsby": 8000,
    "eleventy": 8080,
    "vue-cli-service": 8080,
    "webpack": 8080,
    "http-server": 8080,
    "ng serve": 4200,
    "parcel": 1234,
}
DEFAULT_PORT = 3000
MAX_PORT = 65_535
_PORT = re.compile(r"(?:--port[ =]|(?<![\w-])-p ?|\bPORT=)([1-9]\d{1,4})(?!\d)")


class RecognizedSite(Struct, frozen=True):
    """What scans of the repository look at.

    `folder` has static files, or is written by the command `build`. Otherwise `start` is a command that starts a server
    at `url`, after `build` if there is one. `install` is the command before `build`; it is empty if builds have to
    install the generator in their own way. `is_there` is True if the folder exists.
    """

    folder: str = ""
    build: str = ""
    install: str = ""
    start: str = ""
    url: str = ""
    is_there: bool = False


def recognize_site(folder: SetupFolder) -> RecognizedSite:
    """Return the static files or the server of the repository; empty without one."""
    package = _package(folder)
    scripts = _texts(package.get("scripts"))
    manager, install = next(
        (value for name, value in INSTALLATIONS.items() if folder.has_file(name)), ("npm", "npm install")
    )
    build = f"{manager} run build" if "build" in scripts else ""
    if built := _built_folder(folder, package, has_build=bool(build)):
        is_there = folder.has_folder(built)
        return RecognizedSite(built, build, install if build else "", is_there=is_there)
    for name, (built, command) in GENERATORS.items():
        if folder.has_file(name):
            return RecognizedSite(built, command, is_there=folder.has_folder(built))
    for name in SERVER_SCRIPTS:
        if script := scripts.get(name):
            url = f"http://localhost:{_port(script)}/"
            start = f"{manager} start" if name == "start" else f"{manager} run {name}"
            return RecognizedSite(build=build, install=install, start=start, url=url)
    return RecognizedSite(".", is_there=True) if folder.has_file("index.html") else RecognizedSite()


def _built_folder(folder: SetupFolder, package: Mapping[str, object], *, has_build: bool) -> str:
    """Return the folder that the build writes, or that contains a built site; empty without one."""
    if has_build:
        dependencies = {**_texts(package.get("devDependencies")), **_texts(package.get("dependencies"))}
        for dependency, built in FOLDERS_BY_DEPENDENCY.items():
            if dependency in dependencies:
                return built
    elif any(map(folder.has_file, GENERATORS)):
        return ""
    candidates = (name for name in BUILT_FOLDERS if not (has_build and name == SOURCE_FOLDER))
    return next((name for name in candidates if folder.has_file(f"{name}/index.html")), "")


def _package(folder: SetupFolder) -> Mapping[str, object]:
    """Return the content of package.json, or nothing if it is missing or invalid."""
    try:
        package = json.loads(folder.text(PACKAGE) or "{}")
    except (ValueError, RecursionError):
        return {}
    return package if isinstance(package, dict) else {}


def _texts(value: object) -> dict[str, str]:
    return {key: text for key, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}


def _port(script: str) -> int:
    if (match := _PORT.search(script)) and int(match[1]) <= MAX_PORT:
        return int(match[1])
    return next((port for words, port in PORTS.items() if words in script), DEFAULT_PORT)
