"""`nodeless adopt` where there is nothing to take over, or something is in the way; the rest is in tests/terraform."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nodeless.cli.options import DIFFERS, DONE, REFUSED
from tests.live.command import nodeless
from tests.terraform import other_setups, world
from tests.terraform.aws_server import ACCOUNT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terraform.aws_server import AwsServer
    from tests.terraform.world import World

REGION = "eu-north-1"
TRUST = json.dumps(other_setups.trust("ec2.amazonaws.com"))


def cluster(aws: AwsServer, name: str, folder: Path, **keys: Any) -> World:  # noqa: ANN401 - any key of a cluster
    """Create a cluster, and the file that names it."""
    write(folder, name, **keys)
    return world.create(aws, cluster=name, region=REGION)


def write(folder: Path, name: str, **keys: Any) -> None:  # noqa: ANN401 - any key of a cluster
    """Write the file."""
    tree = {"clusters": [{"name": name, "region": REGION, **keys}]}
    (folder / "clusters.yaml").write_text(json.dumps(tree), "utf-8")


def test_nothing_is_found_on_a_new_cluster(aws: AwsServer, tmp_path: Path) -> None:
    cluster(aws, "empty", tmp_path)

    done = nodeless(tmp_path, "adopt", "empty", aws=aws)

    assert done.returncode == DIFFERS
    assert done.stdout == ""
    assert "no set-up of another tool was found" in done.stderr


def test_the_keys_can_be_added_to_the_file(aws: AwsServer, tmp_path: Path) -> None:
    made = cluster(aws, "by-eksctl", tmp_path)
    other_setups.run_eksctl(None, None, made)

    done = nodeless(tmp_path, "adopt", "by-eksctl", aws=aws)

    assert done.returncode == DONE, done.stderr
    keys, _, rest = done.stdout.partition("\n\n")
    indented = "\n".join(f"    {line}" for line in keys.splitlines())
    (tmp_path / "clusters.yaml").write_text(
        f"clusters:\n  - name: by-eksctl\n    region: {REGION}\n{indented}\n", "utf-8"
    )
    assert nodeless(tmp_path, "explain", "by-eksctl").returncode == DONE
    assert f"the managed policy arn:aws:iam::{ACCOUNT}:policy/eksctl-KarpenterControllerPolicy-by-eksctl" in rest
    assert "DeletionPolicy: Retain" in rest


def test_a_file_whose_adoption_lacks_names_is_read_all_the_same(aws: AwsServer, tmp_path: Path) -> None:
    made = cluster(aws, "half", tmp_path, names="eksctl", adopt="eksctl")
    other_setups.run_eksctl(None, None, made)

    assert nodeless(tmp_path, "synth", aws=aws).returncode == REFUSED
    found = json.loads(nodeless(tmp_path, "adopt", "half", "--json", aws=aws).stdout)

    assert found["clear"]
    assert set(found["keys"]["names"]["rules"]) == {"scheduled_change", "spot", "rebalance", "state_change"}
    assert "aws_cloudwatch_event_rule.interruption_capacity_reservation" in found["keys"]["adopt"]["without"]


def test_a_profile_that_would_be_replaced_is_in_the_way(aws: AwsServer, tmp_path: Path) -> None:
    made = cluster(aws, "other-pods", tmp_path)
    iam, eks = aws.client("iam", REGION), aws.client("eks", REGION)
    for name in ("controller", "fargate", "node"):
        iam.create_role(RoleName=f"other-pods-karpenter-{name}", AssumeRolePolicyDocument=TRUST)
    eks.create_fargate_profile(
        clusterName="other-pods",
        fargateProfileName="karpenter",
        podExecutionRoleArn=f"arn:aws:iam::{ACCOUNT}:role/other-pods-karpenter-fargate",
        subnets=list(made.subnets),
        selectors=[{"namespace": "default"}],
    )

    done = nodeless(tmp_path, "adopt", "other-pods", "--json", aws=aws)

    assert done.returncode == DIFFERS
    (conflict,) = json.loads(done.stdout)["conflicts"]
    assert "aws_eks_fargate_profile.karpenter would be replaced" in conflict


def test_two_set_ups_are_one_too_many(aws: AwsServer, tmp_path: Path) -> None:
    cluster(aws, "twice", tmp_path)
    iam = aws.client("iam", REGION)
    for name in ("twice-karpenter-controller", "KarpenterNodeRole-twice"):
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)

    done = nodeless(tmp_path, "adopt", "twice", aws=aws)

    assert done.returncode == DIFFERS
    assert "several set-ups were found: blog, cloudformation" in done.stderr


def test_a_stack_of_nodeless_is_not_adopted(aws: AwsServer, tmp_path: Path) -> None:
    cluster(aws, "ours", tmp_path)
    about = "Assumed by the Karpenter controller"
    iam = aws.client("iam", REGION)
    iam.create_role(RoleName="ours-karpenter-controller", AssumeRolePolicyDocument=TRUST, Description=about)

    done = nodeless(tmp_path, "adopt", "ours", aws=aws)

    assert done.returncode == DIFFERS
    assert "applied already" in done.stderr


def test_credentials_of_another_account_are_refused(aws: AwsServer, tmp_path: Path) -> None:
    cluster(aws, "elsewhere", tmp_path, account="999999999999")

    assert nodeless(tmp_path, "adopt", "elsewhere", aws=aws).returncode == REFUSED


def test_a_cluster_that_is_not_in_the_file_is_refused(aws: AwsServer, tmp_path: Path) -> None:
    cluster(aws, "named", tmp_path)

    done = nodeless(tmp_path, "adopt", "nmaed", aws=aws)

    assert done.returncode == REFUSED
    assert "did you mean named?" in done.stderr


def test_a_cluster_of_an_included_file_is_adopted_with_the_defaults_above_it(aws: AwsServer, tmp_path: Path) -> None:
    made = cluster(aws, "by-a-team", tmp_path)
    other_setups.run_eksctl(None, None, made)
    above = {"defaults": {"region": REGION, "adopt": "blog"}, "include": ["teams/*.yaml"]}
    (tmp_path / "clusters.yaml").write_text(json.dumps(above), "utf-8")
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "a.yaml").write_text('{"clusters": [{"name": "by-a-team"}]}', "utf-8")
    (tmp_path / "other.yaml").write_text('{"clusters": [{"name": "other", "region": "eu-west-1"}]}', "utf-8")

    done = nodeless(
        tmp_path, "adopt", "by-a-team", "--json", "--config", "other.yaml", "--config", "clusters.yaml", aws=aws
    )

    assert done.returncode == DONE, done.stderr
    assert json.loads(done.stdout)["setups"] == ["eksctl"]


def test_a_name_that_two_stacks_have_is_refused(tmp_path: Path) -> None:
    rows = [
        {"name": "same", "stack": stack, "region": REGION, "account": account}
        for stack, account in (("one", "111122223333"), ("two", "444455556666"))
    ]
    (tmp_path / "clusters.yaml").write_text(json.dumps({"clusters": rows}), "utf-8")

    done = nodeless(tmp_path, "adopt", "same")

    assert done.returncode == REFUSED
    assert "one stack; the clusters of this name have one, two" in done.stderr


def blog_roles(aws: AwsServer, name: str, **more: Any) -> None:  # noqa: ANN401 - arguments of create_role
    """Create the roles of the blog's names."""
    iam = aws.client("iam", REGION)
    for role in ("controller", "fargate", "node"):
        iam.create_role(RoleName=f"{name}-karpenter-{role}", AssumeRolePolicyDocument=TRUST, **more)


def found(folder: Path, name: str, aws: AwsServer, exit_code: int = DONE) -> dict[str, Any]:
    """Return what the command says as JSON."""
    done = nodeless(folder, "adopt", name, "--json", aws=aws)
    assert done.returncode == exit_code, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


def test_roles_with_another_path_are_in_the_way(aws: AwsServer, tmp_path: Path) -> None:
    cluster(aws, "on-a-path", tmp_path)
    blog_roles(aws, "on-a-path", Path="/platform/")

    said = found(tmp_path, "on-a-path", aws, DIFFERS)["conflicts"]

    assert [each for each in said if "aws_iam_role.controller would be replaced" in each and "/platform/" in each]
    assert len(said) == 3


def test_what_is_missing_is_left_out_with_what_belongs_to_it(aws: AwsServer, tmp_path: Path) -> None:
    cluster(aws, "half-gone", tmp_path)
    blog_roles(aws, "half-gone")
    aws.client("iam", REGION).delete_role(RoleName="half-gone-karpenter-fargate")

    said = found(tmp_path, "half-gone", aws)

    assert "aws_iam_role.fargate" in said["keys"]["adopt"]["without"]
    assert "aws_iam_role.fargate" in said["created"]
    assert not [address for address in said["imported"] if "fargate" in address]


def test_policies_of_a_customer_are_named_before_they_go(aws: AwsServer, tmp_path: Path) -> None:
    cluster(aws, "extended", tmp_path)
    blog_roles(aws, "extended")
    iam = aws.client("iam", REGION)
    policy = iam.create_policy(PolicyName="team-backup", PolicyDocument=json.dumps(other_setups.BROAD))["Policy"]["Arn"]
    iam.attach_role_policy(RoleName="extended-karpenter-node", PolicyArn=policy)
    iam.put_role_policy(
        RoleName="extended-karpenter-node", PolicyName="more", PolicyDocument=json.dumps(other_setups.BROAD)
    )
    expected = [
        f"the managed policy {policy} from the role extended-karpenter-node",
        "the inline policy more from the role extended-karpenter-node",
    ]

    assert found(tmp_path, "extended", aws)["removed"] == expected

    write(tmp_path, "extended", nodes={"policies": [policy]})
    said = found(tmp_path, "extended", aws)
    assert said["removed"] == expected[1:]
    assert said["keys"]["adopt"]["ids"] == {
        "aws_iam_role_policy_attachment.node_extra_team_backup": f"extended-karpenter-node/{policy}"
    }

    write(tmp_path, "extended", exclusive_policies=False)
    said = found(tmp_path, "extended", aws)
    assert said["removed"] == []
    assert said["keys"]["exclusive_policies"] is False
    assert [f"{each}: exclusive_policies is false" for each in expected] == said["left_behind"]


def test_a_preset_that_does_not_fit_the_account_is_corrected(aws: AwsServer, tmp_path: Path) -> None:
    cluster(aws, "misread", tmp_path, adopt="eksctl", names="eksctl")
    blog_roles(aws, "misread")

    said = found(tmp_path, "misread", aws)

    assert said["setups"] == ["blog"]
    assert said["keys"]["names"] == "blog"
    assert said["keys"]["adopt"]["setup"] == "blog"


def test_what_only_the_cluster_knows_is_left_to_the_user(aws: AwsServer, tmp_path: Path) -> None:
    cluster(aws, "with-charts", tmp_path, karpenter={"namespace": "kube-system"})
    blog_roles(aws, "with-charts")

    said = found(tmp_path, "with-charts", aws)

    assert said["imported"]["helm_release.karpenter"] == "kube-system/karpenter"
    assert any("helm list --namespace kube-system" in each for each in said["unchecked"])
    assert any("helm_release.karpenter: its values" in each for each in said["changed"])


def test_the_oidc_provider_is_imported_if_the_stack_shall_own_it(aws: AwsServer, tmp_path: Path) -> None:
    made = cluster(aws, "trusted", tmp_path, oidc_provider="create")
    blog_roles(aws, "trusted")
    address = "aws_iam_openid_connect_provider.cluster"

    assert address in found(tmp_path, "trusted", aws)["keys"]["adopt"]["without"]

    arn = aws.client("iam", REGION).create_open_id_connect_provider(
        Url=made.oidc_issuer, ClientIDList=["sts.amazonaws.com"]
    )["OpenIDConnectProviderArn"]
    assert found(tmp_path, "trusted", aws)["imported"][address] == arn


def test_a_cluster_that_does_not_exist_is_refused(aws: AwsServer, tmp_path: Path) -> None:
    write(tmp_path, "nowhere")

    done = nodeless(tmp_path, "adopt", "nowhere", aws=aws)

    assert done.returncode == REFUSED
    assert "Traceback" not in done.stderr
    assert "nowhere" in done.stderr
