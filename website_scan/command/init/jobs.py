"""Build jobs that `website-scan init` writes or prints. docs/ci.md explains them."""

from __future__ import annotations

from website_scan.command.init.plan import ScanPlan
from website_scan.command.init.quoting import quoted
from website_scan.command.init.source import PLACEHOLDER, CommandSource

GITHUB_WORKFLOW = ".github/workflows/website-scan.yml"
GITLAB_JOB = ".gitlab/website-scan.yml"
GITLAB_INCLUDE = f"include:\n  - local: /{GITLAB_JOB}\n"
WRITTEN = "Written by `website-scan init`."
EXAMPLE_BUILD = "npm ci && npm run build"
EXAMPLE_START = "npm start"


def github_workflow(plan: ScanPlan, source: CommandSource) -> str:
    """Return a workflow for GitHub that scans in every build."""
    inputs = ""
    if plan.local_url:
        start = f"start: {quoted(plan.start)}" if plan.start else f"# start: {EXAMPLE_START}  # your server"
        inputs = f"        with:\n          urls: {quoted(plan.local_url)}\n          {start}\n"
    replace = "      # Replace this by your copy of the repository of website-scan.\n"
    return f"""\
# Scans the site in every build. {WRITTEN}
# The options are in website-scan.toml.
name: Website
on: [push, pull_request]
permissions:
  contents: read
jobs:
  website-scan:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
{_github_build(plan)}{replace if source.is_placeholder else ""}\
      - uses: {source.path}@{source.revision}
        id: scan
{inputs}\
      - uses: actions/upload-artifact@v4
        if: ${{{{ !cancelled() && steps.scan.outputs.html }}}}
        with:
          name: website-scan
          path: ${{{{ steps.scan.outputs.html }}}}
"""


def _github_build(plan: ScanPlan) -> str:
    if plan.build_from_scratch:
        return f"      - run: {plan.build_from_scratch}\n"
    if plan.build or plan.local_url or plan.folder not in ("", "."):
        missing = f"the folder {plan.folder}" if plan.folder else "what the server needs"
        example = plan.build or EXAMPLE_BUILD
        return f"      # Build {missing} here, if it is not in the repository:\n      # - run: {example}\n"
    return ""


def gitlab_job(plan: ScanPlan, source: CommandSource, host: str) -> str:
    """Return the file for GitLab that includes the job of the service's repository.

    `host` is that of the GitLab server; empty if it is not known.
    """
    is_on_server = bool(source.host) and source.host == host
    project = source if is_on_server else PLACEHOLDER
    replace = "" if is_on_server else "  # Replace `project` by your copy of the repository of website-scan.\n"
    address = "    # Replace this by the address of your copy.\n" if source.is_placeholder else ""
    return f"""\
# Scans the site in every pipeline. {WRITTEN}
# The options are in website-scan.toml.
include:
{replace}\
  - project: {project.path}
    ref: {project.revision}
    file: /deploy/gitlab.yml

website-scan:
  # stage: test  # a stage of your pipeline, after that of the build
{_gitlab_server(plan)}\
  variables:
{address}\
    WEBSITE_SCAN_SOURCE: {source.requirement_url}
{_gitlab_variables(plan)}"""


def _gitlab_server(plan: ScanPlan) -> str:
    if not plan.local_url:
        return ""
    build = plan.build_from_scratch
    return f"  before_script:\n    - {build}\n" if build else ""


def _gitlab_variables(plan: ScanPlan) -> str:
    if not plan.local_url:
        return ""
    start = quoted(plan.start) if plan.start else f'"{EXAMPLE_START}"  # your server'
    return (
        "    # The server needs an image with its programs, and with Python 3.11 or newer.\n"
        "    # WEBSITE_SCAN_IMAGE: registry.example.com/python-and-node\n"
        f"    WEBSITE_SCAN_URLS: {quoted(plan.local_url)}\n"
        f"    WEBSITE_SCAN_START: {start}\n"
    )


def gitlab_pipeline(plan: ScanPlan) -> str:
    """Return a whole .gitlab-ci.yml, for a repository without one."""
    if not (plan.folder and plan.build_from_scratch):
        return GITLAB_INCLUDE
    return f"""\
{GITLAB_INCLUDE}
build:
  stage: build
  image: node:22
  script: {plan.build_from_scratch}
  artifacts:
    paths: [{plan.folder}]
"""


def shell_lines(plan: ScanPlan, source: CommandSource) -> list[str]:
    """Return the lines of a shell that install the command and scan, for any other build system."""
    arguments = f" {plan.arguments}" if plan.arguments else ""
    return [
        *([plan.build_from_scratch] if plan.build_from_scratch else []),
        "python3 -m venv .website-scan",
        f'.website-scan/bin/pip install --quiet "website-scan[browser] @ {source.requirement_url}"',
        f".website-scan/bin/website-scan{arguments}",
    ]
