"""Lets checkov read many folders and plans in one process, in checkov's own environment.

Standard input has {"folders": [...], "plans": [...]}, standard output what was found in each. Nothing is downloaded.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from checkov.runner_filter import RunnerFilter
from checkov.terraform.checks.data.registry import data_registry
from checkov.terraform.checks.resource.registry import resource_registry
from checkov.terraform.checks.utils.base_cloudsplaining_iam_scanner import BaseTerraformCloudsplainingIAMScanner
from checkov.terraform.plan_runner import Runner as PlanRunner
from checkov.terraform.runner import Runner as HclRunner
from checkov.terraform_json.runner import TerraformJsonRunner

HCL, JSON, PLAN = "terraform", "terraform_json", "terraform_plan"
KINDS = ("passed", "failed", "skipped")
# A section of Terraform JSON -> how addresses in it begin.
PREFIXES = {"resource": "", "data": "data."}

Found = dict[str, list[Any]]


def of_folder(folder: str) -> Found:
    """Read the files below a folder, in HCL and in JSON."""
    found = nothing()
    add(found, HclRunner().run(root_folder=folder, runner_filter=quiet(HCL)), {})
    runner = TerraformJsonRunner()
    report = runner.run(root_folder=folder, runner_filter=quiet(JSON))
    add(found, report, addresses(runner.definitions))
    return found


def of_plan(file: str) -> Found:
    """Read a plan, as `terraform show -json` writes it."""
    found = nothing()
    add(found, PlanRunner().run(files=[file], runner_filter=quiet(PLAN)), {})
    return found


def quiet(framework: str) -> RunnerFilter:
    """Run all checks of a framework without a progress bar."""
    return RunnerFilter(framework=[framework], show_progress_bar=False)


def nothing() -> Found:
    """Begin with another folder or plan."""
    # It keeps policies by their paths below the folder that it reads, which are the same in all of these folders.
    BaseTerraformCloudsplainingIAMScanner.policy_document_cache.clear()
    return {"unread": [], **{kind: [] for kind in KINDS}}


def add(found: Found, report: Any, names: dict[tuple[str, int, int], str]) -> None:  # noqa: ANN401 - checkov's own
    """Add what a report says."""
    found["unread"] += report.parsing_errors
    for kind in KINDS:
        for record in getattr(report, f"{kind}_checks"):
            first, last = record.file_line_range
            found[kind].append([record.check_id, names.get((record.file_abs_path, first, last), record.resource)])


def addresses(definitions: dict[str, Any]) -> dict[tuple[str, int, int], str]:
    """Of JSON, checkov gives the name of a resource without its type: find both by the lines they are in."""
    return {
        (file, body["__startline__"], body["__endline__"]): f"{prefix}{kind}.{name}"
        for file, tree in definitions.items()
        for section, prefix in PREFIXES.items()
        for block in tree.get(section, ())
        for kind, named in block.items()
        for name, body in named.items()
    }


asked = json.load(sys.stdin)
answer = {
    "known_types": [*resource_registry.checks, *(f"data.{kind}" for kind in data_registry.checks)],
    "found": {
        **{folder: of_folder(folder) for folder in asked["folders"]},
        **{plan: of_plan(plan) for plan in asked["plans"]},
    },
}
json.dump(answer, sys.stdout)
