"""What a process looks like after the bindings are loaded the fast way."""

import json
from pathlib import Path
from typing import Any

import pytest

from nodeless.imports import FRAMEWORK
from tests.imports.processes import node_in_use, run

AWS, HELM = FRAMEWORK.providers

# The programs are written for CDKTF.

PROCESS = """
import json, os, subprocess, sys, typing

hints, before = typing.get_type_hints, dict(os.environ)
from nodeless.imports.aws import IamRole
from nodeless.imports.cdk import App, TerraformStack
from nodeless.imports.helm import Release

providers = ("cdktf_cdktf_provider_aws.", "cdktf_cdktf_provider_helm.")
loaded = sorted(name for name in sys.modules if name.startswith(providers) and name.count(".") == 1)
show = "import json, os; print(json.dumps(dict(os.environ)))"
child = json.loads(subprocess.run([sys.executable, "-c", show], capture_output=True, check=True).stdout)

stack = TerraformStack(App(outdir=sys.argv[1]), "own")
try:
    IamRole(stack, "role", assume_role_policy=3)
except TypeError as error:
    refused = str(error)

from cdktf_cdktf_provider_aws import s3_bucket
import cdktf_cdktf_provider_aws as aws
bucket = aws.sns_topic.SnsTopic(stack, "topic", name="topic")

print(json.dumps({
    "before": before, "after": dict(os.environ), "child": child, "loaded": loaded, "refused": refused,
    "bucket": s3_bucket.S3Bucket.__module__, "arn": bucket.arn, "listed": "s3_bucket" in dir(aws),
    "frameworks": sorted({"cdktf", "cdktn"} & sys.modules.keys()),
    "typing": typing.get_type_hints is hints, "modules": len([name for name in sys.modules if "provider_aws." in name]),
}))
"""
# What the user has Node preload: when a Node ends, it notes which modules of the provider it had loaded.
NOTES = """
process.on("exit", () => {
  const loaded = Object.keys(require.cache).filter((name) => /provider-aws.lib/.test(name));
  require("fs").writeFileSync(`${__dirname}/${process.pid}.json`, JSON.stringify(loaded));
});
"""


def for_the_framework(program: str) -> str:
    """Return a program that names the packages of the framework in use."""
    names = {
        "cdktf_cdktf_provider_aws": AWS,
        "cdktf_cdktf_provider_helm": HELM,
        "import cdktf\n": f"import {FRAMEWORK.core}\n",
    }
    for name, own in names.items():
        program = program.replace(name, own)
    return program


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    notes = tmp_path_factory.mktemp("notes")
    (notes / "notes.cjs").write_text(NOTES)
    done = run(
        "-c",
        for_the_framework(PROCESS),
        str(tmp_path_factory.mktemp("out")),
        NODE_OPTIONS=f"--require {notes}/notes.cjs",
    )
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts | {"in_node": [name for note in notes.glob("*.json") for name in json.loads(note.read_text())]}


def test_the_environment_is_as_it_was(process: dict[str, Any]) -> None:
    assert process["after"] == process["before"]


def test_a_child_process_sees_the_user_s_node_options_and_none_of_ours(process: dict[str, Any]) -> None:
    assert process["child"]["NODE_OPTIONS"] == process["before"]["NODE_OPTIONS"]
    assert "JSII_NODE" not in process["child"]


def test_only_the_modules_in_use_are_loaded(process: dict[str, Any]) -> None:
    assert f"{AWS}.iam_role" in process["loaded"]
    assert f"{AWS}.s3_bucket" not in process["loaded"]
    assert f"{HELM}.data_helm_template" not in process["loaded"]
    assert len(process["loaded"]) < 40


def test_only_the_chosen_framework_is_loaded(process: dict[str, Any]) -> None:
    assert process["frameworks"] == [FRAMEWORK.core]


def test_node_too_loads_only_the_modules_in_use(process: dict[str, Any]) -> None:
    names = {Path(name).parent.name for name in process["in_node"]}

    assert names == {"lib", "sns-topic"}


def test_a_user_s_own_imports_from_the_provider_work_and_stay_lazy(process: dict[str, Any]) -> None:
    assert process["bucket"] == f"{AWS}.s3_bucket"
    assert process["arn"].startswith("${TfToken[")
    assert process["listed"]
    assert process["modules"] < 100


def test_arguments_are_still_checked_for_their_type(process: dict[str, Any]) -> None:
    assert "assume_role_policy" in process["refused"]


def test_typing_itself_is_not_touched(process: dict[str, Any]) -> None:
    assert process["typing"]


USER_FIRST = """
import sys
import cdktf
import cdktf_cdktf_provider_helm as helm

from nodeless.imports.cdk import App, TerraformStack
from nodeless.imports.helm import Release

assert sys.modules["cdktf_cdktf_provider_helm"] is helm
assert helm.release.Release is Release and type(helm).__name__ != "LazyPackage"
stack = TerraformStack(App(outdir=sys.argv[1]), "own")
assert Release(stack, "release", name="name", chart="chart").name_input == "name"
"""


def test_bindings_the_user_loaded_first_are_used_as_they_are(tmp_path_factory: pytest.TempPathFactory) -> None:
    # The user's own import looks for Node as jsii does; the variable spares this test the search.
    done = run("-c", for_the_framework(USER_FIRST), str(tmp_path_factory.mktemp("out")), JSII_NODE=str(node_in_use()))

    assert done.returncode == 0, done.stderr
