"""An installation in Terraform's own syntax: what a user wrote as a literal is escaped, so that it stays one."""

from __future__ import annotations

from dataclasses import replace

from nodeless.karpenter.policy import Condition, Statement
from nodeless.resolved.installation import FargateProfile, Installation
from nodeless.sinks.terraform_json import literal_text, literal_tree, with_nulls


def in_terraform(installation: Installation) -> Installation:
    """Return the installation as constructs take it, where `${…}` is an expression and a null is one too.

    All other texts have types that admit no template.
    """
    if installation.is_literal:
        installation = _escaped(installation)
    return installation.with_texts(
        values=with_nulls(installation.values),
        node_classes=tuple((name, with_nulls(spec)) for name, spec in installation.node_classes),
        node_pools=tuple((name, with_nulls(spec)) for name, spec in installation.node_pools),
    )


def _escaped(installation: Installation) -> Installation:
    return installation.with_texts(
        values=literal_tree(installation.values),
        node_classes=tuple((name, literal_tree(spec)) for name, spec in installation.node_classes),
        node_pools=tuple((name, literal_tree(spec)) for name, spec in installation.node_pools),
        extra_statements=tuple(map(_statement, installation.extra_statements)),
        tags=literal_tree(installation.tags),
        tag_key=literal_text(installation.tag_key),
        fargate=installation.fargate and _profile(installation.fargate),
        is_literal=False,
    )


def _profile(profile: FargateProfile) -> FargateProfile:
    selectors = tuple((namespace, literal_tree(labels)) for namespace, labels in profile.selectors)
    return replace(profile, selectors=selectors)


def _statement(statement: Statement) -> Statement:
    return replace(
        statement,
        actions=tuple(map(literal_text, statement.actions)),
        resources=tuple(map(literal_text, statement.resources)),
        conditions=tuple(
            Condition(literal_text(row.test), literal_text(row.variable), tuple(map(literal_text, row.values)))
            for row in statement.conditions
        ),
    )
