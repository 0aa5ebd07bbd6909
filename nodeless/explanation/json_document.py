"""Everything about a cluster as one JSON object."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from nodeless.explanation.consequences import accesses, facts, policies
from nodeless.explanation.settings import Explained, settings
from nodeless.finding import written_path
from nodeless.karpenter.policy import Statement
from nodeless.resolved.inventory import inventory
from nodeless.resolved.resources import default_manifests
from nodeless.resolved.statement_words import in_words
from nodeless.resolved.workspaces import workspace_of


def json_document(explained: Explained) -> dict[str, Any]:
    """Return the settings by their path, and what follows from them."""
    installation = explained.installation
    workspace = workspace_of(installation)
    return {
        "name": installation.name,
        **{key.replace(" ", "_"): value for key, value in facts(installation).items()},
        **({"workspace": asdict(workspace)} if workspace else {}),
        "settings": {
            written_path(row.path): {
                "value": row.value,
                "source": row.source,
                **({"in_force": row.in_force} if row.in_force else {}),
                **({"hidden": True} if row.is_hidden else {}),
            }
            for row in settings(explained)
        },
        "resources": [asdict(row) for row in inventory(installation)],
        "policies": [
            {
                "name": row.proof.policy,
                "size": row.proof.size,
                "limit": row.limit,
                "headroom": row.proof.headroom,
                "longest_cluster_name": row.proof.longest_cluster_name,
                "statements": [_statement(statement) for statement in row.statements],
            }
            for row in policies(installation)
        ],
        "access": [
            {"of": row.of, "what": row.what, "statements": [_statement(statement) for statement in row.statements]}
            for row in accesses(installation)
        ],
        "added_by_default": [dict(manifest) for manifest in default_manifests(installation)],
    }


def _statement(statement: Statement) -> dict[str, Any]:
    return {
        "sid": statement.sid,
        "words": in_words(statement),
        "effect": statement.effect,
        "actions": statement.actions,
        "resources": statement.resources,
        "principals": [asdict(row) for row in statement.principals],
        "conditions": [asdict(row) for row in statement.conditions],
    }
