"""Kubernetes manifests in deploy/kubernetes, as far as they can be tested without a cluster."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import kubernetes_validate
import pytest
import yaml

from scanner.environment import SECRETS, defaults
from tests.release.test_containers import KEYS, NOT_FOR_OPERATORS, OURS, ROOT, SERVICES, WORKERS, command_of

FOLDER = ROOT / "deploy" / "kubernetes"
LIST = yaml.safe_load((FOLDER / "kustomization.yaml").read_text(encoding="utf-8"))
MANIFESTS: list[dict[str, Any]] = [
    manifest for name in LIST["resources"] for manifest in yaml.safe_load_all((FOLDER / name).read_text("utf-8"))
]
# Versions of Kubernetes: the oldest that any cloud still runs, and the newest with available schemas.
VERSIONS = ("1.30", kubernetes_validate.latest_version())


def of(kind: str) -> dict[str, dict[str, Any]]:
    """Return the manifests of a kind by name, without the common prefix of names."""
    found = [manifest for manifest in MANIFESTS if manifest["kind"] == kind]
    return {each["metadata"]["name"].removeprefix("website-scan-"): each for each in found}


PODS = {name: each["spec"]["template"]["spec"] for kind in ("Deployment", "Job") for name, each in of(kind).items()}


def container(name: str) -> dict[str, Any]:
    (only,) = PODS[name]["containers"]
    assert isinstance(only, dict)
    return only


def test_every_file_is_listed() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {"kustomization.yaml", *LIST["resources"]}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: f"{each['kind']}-{each['metadata']['name']}")
def test_kubernetes_understands_every_field(manifest: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)
    assert "namespace" not in manifest["metadata"]  # the operator chooses the namespace


def test_a_field_that_is_misspelt_would_be_found() -> None:
    broken = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"selectors": {"a": "b"}}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


@pytest.mark.parametrize("name", OURS)
def test_a_pod_runs_what_compose_runs(name: str) -> None:
    ours = [word.replace("/data/", "/tmp/") for word in command_of(name)]
    assert container(name).get("command", command_of("web")) == ours
    assert container(name)["image"] == SERVICES[name]["image"]
    assert set(PODS) == set(OURS)


def test_every_documented_variable_is_passed_on() -> None:
    """Variables are passed as values, secrets as names of files."""
    data = of("ConfigMap")["website-scan"]["data"]
    assert set(data) == defaults.keys() - NOT_FOR_OPERATORS - SECRETS
    assert all(isinstance(value, str) for value in data.values())
    for name in OURS:
        given = {each["name"] for each in container(name)["env"]}
        assert container(name)["envFrom"] == [{"configMapRef": {"name": "website-scan"}}]
        assert given <= {f"{secret}_FILE" for secret in SECRETS} | {"SECRET_KEY"}
    assert {each["name"] for each in container("web")["env"]} == {f"{name}_FILE" for name in SECRETS}


@pytest.mark.parametrize("name", OURS)
def test_secrets_are_files_and_never_in_the_environment(name: str) -> None:
    env = {each["name"]: each["value"] for each in container(name)["env"]}
    (secrets,) = [each["secret"] for each in PODS[name]["volumes"] if "secret" in each]
    (mount,) = [each["mountPath"] for each in container(name)["volumeMounts"] if each["name"] == "secrets"]
    assert {value for key, value in env.items() if key.endswith("_FILE")} == {
        f"{mount}/{item['path']}" for item in secrets["items"]
    }
    assert env.get("SECRET_KEY", "of-no-use").startswith("of-no-use")
    assert ("SECRET_KEY" in env) != ("SECRET_KEY_FILE" in env)


def test_the_browser_gets_no_keys_and_namespaces_for_its_sandbox() -> None:
    names = {each["name"] for each in container("browser")["env"]}
    assert not names & {f"{name}_FILE" for name in KEYS}
    profile = PODS["browser"]["securityContext"]["seccompProfile"]
    assert profile == {"type": "Localhost", "localhostProfile": "website-scan/seccomp.json"}
    assert {name for name, pod in PODS.items() if pod["securityContext"]["seccompProfile"] == profile} == {"browser"}


@pytest.mark.parametrize("name", OURS)
def test_a_pod_has_no_more_rights_than_it_needs_and_bounds(name: str) -> None:
    pod, only = PODS[name], container(name)
    assert (pod["automountServiceAccountToken"], pod["securityContext"]["runAsNonRoot"]) == (False, True)
    uid = re.search(r"--uid (\d+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert uid
    assert pod["securityContext"]["runAsUser"] == int(uid[1])
    rights = only["securityContext"]
    assert (rights["allowPrivilegeEscalation"], rights["readOnlyRootFilesystem"]) == (False, True)
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert {*only["resources"]["requests"], *only["resources"]["limits"]} == {"cpu", "memory"}
    assert "livenessProbe" in only or name == "migrate"


def test_each_has_the_time_that_it_needs_to_stop() -> None:
    for name in WORKERS:
        compose = int(SERVICES[name]["stop_grace_period"].removesuffix("s"))
        assert PODS[name]["terminationGracePeriodSeconds"] == compose
    command = command_of("web")
    graceful = int(command[command.index("--graceful-timeout") + 1])
    assert 0 < int(of("ConfigMap")["website-scan"]["data"]["DRAIN_S"]) <= graceful / 2
    assert PODS["web"]["terminationGracePeriodSeconds"] > graceful


def test_no_web_process_goes_before_its_successor_is_ready() -> None:
    assert of("Deployment")["web"]["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert container("web")["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container("web")["livenessProbe"]["httpGet"]["path"] == "/healthz"


def test_a_drained_node_takes_one_of_each_at_most() -> None:
    for name in ("web", *WORKERS):
        budget = of("PodDisruptionBudget")[name]["spec"]
        labels = of("Deployment")[name]["spec"]["selector"]
        assert (budget["maxUnavailable"], budget["selector"]) == (1, labels)
        assert of("Deployment")[name]["spec"]["replicas"] >= 2


def test_only_web_is_reached_and_only_who_must_goes_outside() -> None:
    policies = {name: each["spec"] for name, each in of("NetworkPolicy").items()}
    assert policies["website-scan"]["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in policies["website-scan"]
    outside = policies["outside"]["podSelector"]["matchExpressions"][1]["values"]
    assert set(outside) == {"web", *WORKERS}
    assert policies["outside"]["egress"][0]["to"][0]["ipBlock"]["except"] == ["169.254.0.0/16"]
    assert policies["web"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "web"


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl here")
def test_kustomize_builds_all_of_them() -> None:
    built = subprocess.run(["kubectl", "kustomize", FOLDER], capture_output=True, text=True, check=True).stdout
    kinds = [each["kind"] for each in yaml.safe_load_all(built)]
    assert sorted(kinds) == sorted(each["kind"] for each in MANIFESTS)
    assert "image: website-scan-service" not in built
