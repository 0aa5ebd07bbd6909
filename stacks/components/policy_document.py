"""A policy as a data source: a reviewer of the JSON sees lines, not an escaped string."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import (
    DataAwsIamPolicyDocument,
    DataAwsIamPolicyDocumentStatement,
    DataAwsIamPolicyDocumentStatementCondition,
    DataAwsIamPolicyDocumentStatementPrincipals,
)
from nodeless.imports.cdk import Construct
from nodeless.karpenter.policy import Statement

# As references name it.
POLICY_DOCUMENT = "data.aws_iam_policy_document"


class PolicyDocument(DataAwsIamPolicyDocument):
    """The statements of one policy, trust or resource policy."""

    def __init__(
        self, scope: Construct, id_: str, *, statements: Sequence[Statement], policy_id: str | None = None
    ) -> None:
        """Render the statements as blocks."""
        super().__init__(scope, id_, policy_id=policy_id, statement=[_block(statement) for statement in statements])


def _block(statement: Statement) -> DataAwsIamPolicyDocumentStatement:
    return DataAwsIamPolicyDocumentStatement(
        sid=statement.sid,
        effect=statement.effect,
        actions=list(statement.actions),
        resources=list(statement.resources) or None,
        principals=[
            DataAwsIamPolicyDocumentStatementPrincipals(type=principal.type, identifiers=list(principal.identifiers))
            for principal in statement.principals
        ]
        or None,
        condition=[
            DataAwsIamPolicyDocumentStatementCondition(
                test=condition.test, variable=condition.variable, values=list(condition.values)
            )
            for condition in statement.conditions
        ]
        or None,
    )
