"""Lets checkov read many folders and plans in one process, in checkov's own environment.

Standard input has {"folders": [...], "plans": [...]}, standard output what was found in each. Nothing is downloaded.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from checkov.runner_filter import RunnerFilter
from checkov.terraform.checks.data.registry import data_registry
from checkov.terraform.checks.resource.registry import resource_registry
from checkov.terraform.checks.utils.base_cloudsplaining_iam_scanner import BaseTerraformCloudsplainingIAMScanner
from checkov.terraform.plan_runner import Runner as PlanRunner
from checkov.terraform.runner import Runner as HclRunner
from checkov.terraform_json.runner import TerraformJsonRunner

FOLDERS = {"terraform": HclRunner, "terraform_json": TerraformJsonRunner}
PLAN = "terraform_plan"


def of_folder(folder):
    found = empty()
    for framework, runner_class in FOLDERS.items():
        runner = runner_class()
        report = runner.run(root_folder=folder, runner_filter=quiet(framework))
        names = addresses(runner.definitions) if framework == "terraform_json" else {}
        add(found, report, names)
    return found


def of_plan(file):
    found = empty()
    add(found, PlanRunner().run(files=[file], runner_filter=quiet(PLAN)), {})
    return found


def quiet(framework):
    return RunnerFilter(framework=[framework], show_progress_bar=False)


def empty():
    # It keeps policies by their paths below the folder that it reads, which are the same in all of these folders.
    BaseTerraformCloudsplainingIAMScanner.policy_document_cache.clear()
    return {"unread": [], "passed": [], "failed": [], "skipped": []}


def add(found, report, names):
    found["unread"] += report.parsing_errors
    for kind in ("passed", "failed", "skipped"):
        for record in getattr(report, f"{kind}_checks"):
            place = (record.file_abs_path, *record.file_line_range)
            found[kind].append([record.check_id, names.get(place, record.resource)])


def addresses(definitions):
    """Of JSON, checkov gives the name of a resource without its type: find both by the lines they are in."""
    return {
        (file, body["__startline__"], body["__endline__"]): f"{prefix}{kind}.{name}"
        for file, tree in definitions.items()
        for section, prefix in (("resource", ""), ("data", "data."))
        for block in tree.get(section, ())
        for kind, named in block.items()
        for name, body in named.items()
    }


asked = json.load(sys.stdin)
json.dump(
    {
        "known_types": sorted({*resource_registry.checks, *data_registry.checks}),
        "found": {
            **{folder: of_folder(folder) for folder in asked["folders"]},
            **{plan: of_plan(str(Path(plan))) for plan in asked["plans"]},
        },
    },
    sys.stdout,
)
