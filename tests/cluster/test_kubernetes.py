"""Manifests: every object is valid, strictly, and the pods' own commands sweep into one store, here without pods."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import cheap
import pytest
import yaml

import flowlimit as fl
from flowlimit.cli.axes import parse_axis
from flowlimit.sweeps.templates import names, read

kubernetes_validate = pytest.importorskip("kubernetes_validate")
MANIFESTS = [name for name in names() if name.endswith(".yaml")]
OLDEST, NEWEST = "1.30", "1.33"
AXES = {
    name: parse_axis(f"{name}={values}")[1]
    for name, values in {"model.init_scale": "log:0.001:1:40", "task.noise_var": "lin:0:0.5:40"}.items()
}


def objects(name):
    return list(yaml.safe_load_all(read(name)))


def object_of(name, kind, label=""):
    (found,) = (o for o in objects(name) if o["kind"] == kind and o["metadata"]["name"].endswith(label))
    return found


def container(manifest):
    (own,) = manifest["spec"]["template"]["spec"]["containers"]
    return own


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "a.zarr"
    fl.sweep(fl.timescales, cheap.MODEL, cheap.TASK, over=AXES, store=path)
    return cheap.chunks(path)


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests_are_valid(name, version):
    assert objects(name)
    for one in objects(name):
        kubernetes_validate.validate(one, version, strict=True)


def test_validation_sees_a_misspelt_field():
    job = object_of("kubernetes_indexed_job.yaml", "Job")
    job["spec"]["backofLimitPerIndex"] = 3
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, NEWEST, strict=True)


@pytest.mark.parametrize("name", MANIFESTS)
def test_names_in_a_manifest_fit_together(name):
    claims = {o["metadata"]["name"] for o in objects(name) if o["kind"] == "PersistentVolumeClaim"}
    for one in objects(name):
        if one["kind"] not in ("Job", "Deployment"):
            continue
        pod = one["spec"]["template"]
        assert one["spec"].get("selector", {}).get("matchLabels", {}).items() <= pod["metadata"]["labels"].items()
        assert "requests" in container(one)["resources"]
        volumes = {v["name"]: v.get("persistentVolumeClaim", {}).get("claimName") for v in pod["spec"]["volumes"]}
        assert {claim for claim in volumes.values() if claim} <= claims
        assert {mount["name"] for mount in container(one).get("volumeMounts", [])} == set(volumes)


@pytest.mark.parametrize("name", MANIFESTS)
def test_pods_have_no_privileges(name):
    """Not root, nothing written but to volumes, no token of the cluster, bounded; and only they reach each other."""
    assert "NetworkPolicy" in {one["kind"] for one in objects(name)} or "Service" not in {
        o["kind"] for o in objects(name)
    }
    for one in objects(name):
        if one["kind"] not in ("Job", "Deployment"):
            continue
        pod, own = one["spec"]["template"]["spec"], container(one)
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert own["securityContext"]["allowPrivilegeEscalation"] is False
        assert own["securityContext"]["readOnlyRootFilesystem"] is True
        assert own["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert set(own["resources"]["limits"]) == {"cpu", "memory"}


def test_the_service_is_the_address_that_workers_and_client_call():
    name = "kubernetes_dask.yaml"
    service, scheduler = object_of(name, "Service"), object_of(name, "Deployment", "scheduler")
    labels = scheduler["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    address = f"tls://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    assert address in container(object_of(name, "Deployment", "worker"))["command"]
    assert f"--scheduler={address}" in container(object_of(name, "Job"))["command"]


def test_the_shares_of_an_indexed_job_are_the_whole(commands, tmp_path, undisturbed):
    job = object_of("kubernetes_indexed_job.yaml", "Job")
    own = container(job)
    variables = {variable["name"]: variable["value"] for variable in own["env"]}
    assert int(variables["SHARDS"]) == job["spec"]["completions"]
    # two pods instead of eight; the volume is a folder here
    variables |= {"SHARDS": "2", "STORE": str(tmp_path / "a.zarr")}
    variables.pop("JAX_COMPILATION_CACHE_DIR")
    for index in "01":
        environment = commands | variables | {"JOB_COMPLETION_INDEX": index}
        done = subprocess.run(
            own["command"] + own["args"], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert cheap.chunks(tmp_path / "a.zarr") == undisturbed


@pytest.fixture
def certificate(tmp_path):
    """The one that the first lines of the manifest make."""
    (line,) = (line for line in read("kubernetes_dask.yaml").splitlines() if "openssl" in line)
    subprocess.run(line.lstrip("# ").split(), cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_scheduler_worker_and_client_work_together(commands, certificate, tmp_path, undisturbed):
    name = "kubernetes_dask.yaml"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def here(words):
        """What a pod is told, as it is on loopback."""
        changes = {"flowlimit-scheduler:8786": f"127.0.0.1:{port}", "8786": f"{port}", "/store": f"{tmp_path}"}
        for old, new in (changes | {"/tls": f"{certificate}"}).items():
            words = [word.replace(old, new) for word in words]
        return words

    def environment(manifest):
        own = [variable for variable in container(manifest)["env"] if variable["name"].startswith("DASK")]
        return commands | dict(zip([v["name"] for v in own], here([v["value"] for v in own]), strict=True))

    loopback = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    pods = [object_of(name, "Deployment", part) for part in ("scheduler", "worker")]
    logs = [(tmp_path / f"{i}.log").open("w+") for i in range(2)]
    running = [
        subprocess.Popen(here(container(pod)["command"]) + loopback, env=environment(pod), stdout=log, stderr=log)
        for pod, log in zip(pods, logs, strict=True)
    ]
    client = object_of(name, "Job")
    words = here(container(client)["command"])
    try:
        done = subprocess.run(words, env=environment(client), capture_output=True, text=True, check=False, timeout=120)
        text = "\n".join(Path(log.name).read_text() for log in logs)
        assert done.returncode == 0, done.stderr + text
        attack = [sys.executable, "-c", ATTACK, f"127.0.0.1:{port}"]
        said = subprocess.run(attack, env=commands, capture_output=True, text=True, check=True)
        assert said.stdout.split() == ["refused"] * 2, said
    finally:
        for process in running:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        for log in logs:
            log.close()
    assert cheap.chunks(tmp_path / "sweep.zarr") == undisturbed


ATTACK = """
import os, sys
from distributed import Client, Security
ways = [lambda: Client("tcp://" + sys.argv[1], timeout=3)]
ways.append(lambda: Client("tls://" + sys.argv[1], security=Security.temporary(), timeout=3))
for way in ways:
    try:
        print("ran as", way().submit(os.getuid).result(timeout=10))
    except (OSError, TypeError, ValueError):
        print("refused")
"""
"""Whoever has no certificate, or another one, tries to run code."""
