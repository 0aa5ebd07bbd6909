"""What lets nodes in through aws-auth."""

from __future__ import annotations

import shlex

import pytest

from nodeless.resolved.node_access import (
    MappedRole,
    identity_mapping_commands,
    map_roles,
    palette_irsa_roles,
    palette_map_roles,
    without_path,
)

LINUX = MappedRole(arn="arn:aws:iam::123456789012:role/linux", os="linux")
WINDOWS = MappedRole(arn="arn:aws:iam::123456789012:role/windows", os="windows")


def test_windows_nodes_are_let_in_with_the_group_of_their_kube_proxy() -> None:
    linux, windows = map_roles([LINUX, WINDOWS])

    assert linux["groups"] == ["system:bootstrappers", "system:nodes"]
    assert windows["groups"] == ["system:bootstrappers", "system:nodes", "eks:kube-proxy-windows"]
    assert linux["username"] == windows["username"] == "system:node:{{EC2PrivateDNSName}}"


def test_the_command_says_what_the_entry_says() -> None:
    for role in (LINUX, WINDOWS):
        (command,) = identity_mapping_commands([role], cluster="demo", region="eu-north-1")
        (entry,) = map_roles([role])

        words = shlex.split(command)
        assert words[:3] == ["eksctl", "create", "iamidentitymapping"]
        options = list(zip(words[3::2], words[4::2], strict=False))
        assert ("--cluster", "demo") in options
        assert ("--region", "eu-north-1") in options
        assert ("--arn", entry["rolearn"]) in options
        assert ("--username", entry["username"]) in options
        assert [value for option, value in options if option == "--group"] == entry["groups"]


@pytest.mark.parametrize(
    ("arn", "expected"),
    [
        ("arn:aws:iam::123456789012:role/nodes", "arn:aws:iam::123456789012:role/nodes"),
        ("arn:aws-cn:iam::123456789012:role/team/a/nodes", "arn:aws-cn:iam::123456789012:role/nodes"),
        ("arn:aws:iam::${data.x.y}:role/team/nodes", "arn:aws:iam::${data.x.y}:role/nodes"),
        ("${aws_iam_role.nodes.arn}", "${aws_iam_role.nodes.arn}"),
    ],
)
def test_aws_auth_knows_roles_without_their_path(arn: str, expected: str) -> None:
    assert without_path(arn) == expected


def test_palettes_layer_names_policies_service_account_and_nodes() -> None:
    irsa = palette_irsa_roles(["arn:policy"], namespace="karpenter", service_account="controller")
    layer = palette_map_roles([LINUX], node_role="linux")

    (role,) = irsa["managedControlPlane"]["irsaRoles"]
    assert role["policies"] == ["arn:policy"]
    assert role["serviceAccount"] == {"name": "controller", "namespace": "karpenter"}
    assert layer["managedControlPlane"]["iamAuthenticatorConfig"]["mapRoles"] == map_roles([LINUX])
    assert layer["managedMachinePool"] == {"roleName": "linux"}
