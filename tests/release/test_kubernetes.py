"""Kubernetes manifests in deploy/kubernetes: their schemas, and their agreement with compose.yaml and documents.

tests/release/test_kubernetes_server.py applies them to an API server.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.conf import settings

from tests.kubernetes import kubectl
from tests.networks import is_within
from tests.release.test_containers import (
    KEYS,
    NOT_FOR_OPERATORS,
    OURS,
    ROOT,
    SERVICES,
    WORKERS,
    command_of,
    queues_of,
)
from website_scan.environment import SECRETS, defaults
from website_scan.net.addresses import IPV4_SPECIAL, IPV6_GLOBAL, IPV6_SPECIAL

FOLDER = ROOT / "deploy" / "kubernetes"
PARTS = ("base", "autoscaling", "example")
# Versions of Kubernetes: the oldest that any cloud still runs, those between, and the newest with available schemas.
VERSIONS = ("1.30", "1.32", "1.34", kubernetes_validate.latest_version())


def listed(part: str) -> dict[str, Any]:
    """Return the kustomization of a folder."""
    found: dict[str, Any] = yaml.safe_load((FOLDER / part / "kustomization.yaml").read_text(encoding="utf-8"))
    return found


MANIFESTS: list[dict[str, Any]] = [
    manifest
    for part in PARTS
    for name in listed(part)["resources"]
    if name.endswith(".yaml")
    for manifest in yaml.safe_load_all((FOLDER / part / name).read_text("utf-8"))
]


@cache
def example() -> list[dict[str, Any]]:
    """Return the example's manifests as Kustomize builds them."""
    built = subprocess.run([kubectl(), "kustomize", FOLDER / "example"], capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(built.stdout))


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
    assert {path.name for path in FOLDER.iterdir()} == set(PARTS)
    for part in PARTS:
        patches = [each["path"] for each in listed(part).get("patches", ()) if "path" in each]
        taken = {Path(each).name for each in [*listed(part)["resources"], *patches]} - set(PARTS)
        others = {"kustomization.yaml", "prometheus-adapter.yaml"}  # the latter is for Helm
        assert {path.name for path in (FOLDER / part).iterdir()} - others == taken


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: f"{each['kind']}-{each['metadata']['name']}")
def test_kubernetes_understands_every_field(manifest: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)
    assert "namespace" not in manifest["metadata"]  # the operator's kustomization chooses the namespace


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_understands_what_kustomize_builds(version: str) -> None:
    for each in example():
        kubernetes_validate.validate(each, version, strict=True)


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
    assert pod["enableServiceLinks"] is False  # the addresses of the namespace's other services are nobody's business


@pytest.mark.parametrize("name", OURS)
def test_a_pod_keeps_the_restricted_pod_security_standard(name: str) -> None:
    """Kubernetes' documentation, "Pod Security Standards", Restricted; the example's namespace enforces it."""
    pod, only = PODS[name], container(name)
    assert not {"hostNetwork", "hostPID", "hostIPC", "hostUsers", "initContainers", "ephemeralContainers"} & pod.keys()
    assert all(len(each) == 2 and {"secret", "emptyDir"} & each.keys() for each in pod["volumes"])
    assert not any("hostPort" in port for port in only.get("ports", ()))
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] != 0
    assert pod["securityContext"]["seccompProfile"]["type"] in {"RuntimeDefault", "Localhost"}
    assert only["securityContext"].keys() == {"allowPrivilegeEscalation", "readOnlyRootFilesystem", "capabilities"}
    labels = of("Namespace")["website-scan"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("name", sorted(set(OURS) - {"migrate"}))
def test_a_pod_has_probes_for_its_start_and_its_life(name: str) -> None:
    """A pod without a Service has a readiness probe all the same: a rollout waits for it."""
    probes = {"startupProbe", "livenessProbe", "readinessProbe"}
    assert container(name).keys() & probes == probes - ({"readinessProbe"} if name == "scheduler" else set())
    if name in WORKERS:
        (_, probe) = SERVICES[name]["healthcheck"]["test"]
        command = ["sh", "-c", probe.replace("$$", "$")]
        assert all(container(name)[each]["exec"]["command"] == command for each in probes)
    startup = container(name)["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 120


@pytest.mark.parametrize("name", ["web", *WORKERS])
def test_pods_spread_over_nodes_and_zones(name: str) -> None:
    spread = PODS[name]["topologySpreadConstraints"]
    assert [each["topologyKey"] for each in spread] == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
    labels = of("Deployment")[name]["spec"]["selector"]
    # A cluster of one node runs all of them.
    assert all((each["labelSelector"], each["whenUnsatisfiable"]) == (labels, "ScheduleAnyway") for each in spread)


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


def allowed(name: str, policies: dict[str, dict[str, Any]] | None = None) -> list[tuple[dict[str, Any], set[int]]]:
    """Return the destinations that the policies allow a pod, each with its ports."""
    labels = {"app.kubernetes.io/name": "website-scan", "app.kubernetes.io/component": name}
    rules = []
    for policy in (policies or of("NetworkPolicy")).values():
        selector = policy["spec"]["podSelector"]
        expressions = selector.get("matchExpressions", ())
        is_selected = all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
        if is_selected and all(labels[each["key"]] in each["values"] for each in expressions):
            rules += policy["spec"].get("egress", ())
    assert all(rule["to"] and rule["ports"] for rule in rules)  # without them, a rule is for everything
    return [(to, {port["port"] for port in rule["ports"]}) for rule in rules for to in rule["to"]]


def test_only_web_is_reached() -> None:
    policies = {name: each["spec"] for name, each in of("NetworkPolicy").items()}
    everything = {"matchLabels": {"app.kubernetes.io/name": "website-scan"}}
    assert policies["website-scan"] == {"podSelector": everything, "policyTypes": ["Ingress", "Egress"]}
    (reached,) = [name for name, each in policies.items() if "ingress" in each]
    assert policies[reached]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "web"


@pytest.mark.parametrize("name", ["web", *WORKERS])
def test_pods_reach_public_addresses_by_the_tables_of_the_guard_and_no_others(name: str) -> None:
    ports = {*settings.SCAN_ALLOWED_PORTS, 53}
    mail = [{25, 465, 587}] if name in {"web", "worker"} else []
    blocks = [(to["ipBlock"], numbers) for to, numbers in allowed(name) if "ipBlock" in to]
    public = {"0.0.0.0/0": [str(network) for network, _ in IPV4_SPECIAL]}
    public |= {str(IPV6_GLOBAL): [str(network) for network, _ in IPV6_SPECIAL]}
    for cidr, special in public.items():
        found = [(each, numbers) for each, numbers in blocks if each["cidr"] == cidr]
        assert all(each["except"] == special for each, _ in found)
        assert [numbers for _, numbers in found] == [ports, *mail]
    others = [(each["cidr"], numbers) for each, numbers in blocks if each["cidr"] not in public]
    assert others == [("169.254.20.10/32", {53})]  # the name server on the pod's own node


@pytest.mark.parametrize("name", OURS)
def test_pods_reach_three_servers_of_the_cluster_and_no_others(name: str) -> None:
    inside = [(to["podSelector"]["matchLabels"], numbers) for to, numbers in allowed(name) if "podSelector" in to]
    assert inside == [
        ({"k8s-app": "kube-dns"}, {53}),
        ({"app.kubernetes.io/name": "postgresql"}, {5432}),
        ({"app.kubernetes.io/name": "redis"}, {6379}),
    ]


def test_the_browser_has_no_way_to_metadata_neighbours_and_private_networks() -> None:
    addresses = ["169.254.169.254", "168.63.129.16", "192.0.0.192", "100.100.100.200", "10.96.0.1", "172.17.0.1"]
    addresses += ["192.168.1.1", "127.0.0.1", "fd00:ec2::254", "fe80::1", "fd00::1"]
    for to, _ in allowed("browser"):
        if "ipBlock" not in to:
            continue
        block = ip_network(to["ipBlock"]["cidr"])
        excepted = [ip_network(each) for each in to["ipBlock"].get("except", ())]
        for address in map(ip_network, addresses):
            if is_within(address, block):
                assert any(is_within(address, each) for each in excepted), address


def test_servers_elsewhere_take_the_place_of_those_in_the_namespace() -> None:
    policies = {each["metadata"]["name"]: each for each in example() if each["kind"] == "NetworkPolicy"}
    (database, queue) = policies["website-scan-servers"]["spec"]["egress"]
    assert [list(each["to"][0]) for each in (database, queue)] == [["ipBlock"], ["ipBlock"]]
    assert not any("podSelector" in to and ports & {5432, 6379} for to, ports in allowed("browser", policies))


def test_the_autoscalers_follow_a_documented_metric_of_the_queue_that_the_pod_serves() -> None:
    documented = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    alerts = (ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text(encoding="utf-8")
    rules = yaml.safe_load((FOLDER / "autoscaling" / "prometheus-adapter.yaml").read_text(encoding="utf-8"))["rules"]
    (rung_at,) = re.findall(r"website_scan_queue_age_seconds > (\d+)", alerts)
    scalers = {name: each["spec"] for name, each in of("HorizontalPodAutoscaler").items()}
    assert scalers.keys() == {"worker", "browser"}
    for name, scaler in scalers.items():
        assert scaler["scaleTargetRef"]["name"] == f"website-scan-{name}"
        assert scaler["minReplicas"] == of("Deployment")[name]["spec"]["replicas"]
        (metric,) = [each["external"] for each in scaler["metrics"]]
        assert metric["metric"]["selector"]["matchLabels"]["queue"] in queues_of(command_of(name))
        assert int(metric["target"]["value"]) < int(rung_at) < int(str(defaults["SCAN_QUEUE_AGE_LIMIT"]))
        assert metric["metric"]["name"] == rules["external"][0]["seriesQuery"]
        assert f"| `{metric['metric']['name'].removeprefix('website_scan_')}` | `queue` |" in documented
        built = next(each for each in example() if each["metadata"]["name"] == f"website-scan-{name}")
        assert "replicas" not in built["spec"]  # an apply would reset what the autoscaler has set


def test_kustomize_builds_an_installation_of_the_example() -> None:
    kinds = [each["kind"] for each in example()]
    assert sorted(kinds) == sorted(each["kind"] for each in MANIFESTS)
    assert {each["metadata"].get("namespace") for each in example() if each["kind"] != "Namespace"} == {"website-scan"}
    images = re.findall(r"'image': '([^']+)'", str(example()))
    assert {image.partition("/")[0] for image in images} == {"registry.example.com"}
    data = next(each["data"] for each in example() if each["kind"] == "ConfigMap")
    (ingress,) = [each["spec"] for each in example() if each["kind"] == "Ingress"]
    host = data["BASE_URL"].removeprefix("https://")
    assert ingress["tls"][0]["hosts"] == [ingress["rules"][0]["host"]] == [host]
    service = ingress["rules"][0]["http"]["paths"][0]["backend"]["service"]
    assert service["name"] == of("Service")["website-scan"]["metadata"]["name"]
    assert service["port"]["name"] in {each["name"] for each in of("Service")["website-scan"]["spec"]["ports"]}
