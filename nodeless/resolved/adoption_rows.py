"""What each set-up that can be adopted has: by the address in our stack, and by the address in its own state.

Sources: the blog post; the CloudFormation template of each Karpenter release and the getting-started guide around it;
eksctl 0.2xx (`karpenter:` in its ClusterConfig); the submodule karpenter of terraform-aws-modules/eks, v20 and v21.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nodeless.karpenter.packing import TITLES, WHOLE_KEY
from nodeless.karpenter.versions import ALWAYS, Release, Window, before, in_effect, since

BLOG, CLOUDFORMATION, EKSCTL, TERRAFORM_AWS_EKS = "blog", "cloudformation", "eksctl", "terraform-aws-eks"

ATTACHMENT, POLICY, ROLE = "aws_iam_role_policy_attachment", "aws_iam_policy", "aws_iam_role"
RULE, TARGET = "aws_cloudwatch_event_rule", "aws_cloudwatch_event_target"
QUEUE, QUEUE_POLICY = "aws_sqs_queue.interruption", "aws_sqs_queue_policy.interruption"
ASSOCIATION = "aws_eks_pod_identity_association.controller"
OIDC_PROVIDER = "aws_iam_openid_connect_provider.cluster"
MODULE_ASSOCIATION = "aws_eks_pod_identity_association.karpenter"
# How the module's own names for the controller start; what follows is made up.
MODULE_CONTROLLER = "KarpenterController-"
EXCLUSIVE = ("aws_iam_role_policies_exclusive", "aws_iam_role_policy_attachments_exclusive")
# Where the one policy of a tool goes if the release has several: to the first of them, which then replaces it.
FIRST_POLICY = "(first)"

Rows = tuple[tuple[Window, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """What one way of installing Karpenter leaves in an account.

    `has` are addresses in our stack, with `*` at the end for all that start so. `moves` are pairs of an address in the
    tool's state and one in ours, and `forgotten` what that state must forget, not destroy. `generated` are the keys of
    `names` for what the tool names at random.
    """

    style: str
    has: Rows
    moves: tuple[tuple[Window, tuple[str, str]], ...] = ()
    forgotten: Rows = ()
    module: str | None = None
    """where its resources usually are in its state, if they are in a module"""
    generated: tuple[str, ...] = ()
    left_behind: tuple[str, ...] = ()
    """what is neither taken over nor removed by Terraform, in words"""

    @property
    def has_state(self) -> bool:
        """Tell whether it comes from Terraform."""
        return bool(self.moves)

    def addresses(self, release: Release) -> tuple[str, ...]:
        """Return what the set-up has for a release."""
        return in_effect(release, self.has)


def is_one_of(address: str, patterns: Iterable[str]) -> bool:
    """Tell whether an address is in `has`."""
    return any(
        address.startswith(pattern.removesuffix("*")) if pattern.endswith("*") else address == pattern
        for pattern in patterns
    )


def _always(*addresses: str) -> Rows:
    return tuple((ALWAYS, address) for address in addresses)


def _attachments(window: Window, *keys: str) -> Rows:
    return tuple((window, f"{ATTACHMENT}.{key}") for key in keys)


# IRSA does not work without the provider, so whoever set Karpenter up has one; the stack has it if it is told to.
ROLES = _always(f"{ROLE}.controller", f"{ROLE}.node", OIDC_PROVIDER)
INTERRUPTION = _always(QUEUE, QUEUE_POLICY, f"{RULE}.interruption_*", f"{TARGET}.interruption_*")
CHART = _always("helm_release.karpenter")
PROFILE = "aws_iam_instance_profile.node"
# The policies of upstream's template, in the releases that have them; nodeless adds others of its own.
BY_DUTY = tuple(key for key in TITLES if key not in {WHOLE_KEY, "extra"})
BLOG_REGISTRY = f"{ATTACHMENT}.eks_node_attach_AmazonEC2ContainerRegistryReadOnly"
OLD_STACKS = (
    "the CloudFormation stack still owns what it made, and deleting it deletes that: first set DeletionPolicy: Retain "
    "on every resource that was imported"
)

SETUPS = {
    BLOG: SetUp(
        style="blog",
        has=(
            *ROLES,
            *_always(f"{ROLE}.fargate", PROFILE, "aws_eks_fargate_profile.karpenter", QUEUE, QUEUE_POLICY),
            *_attachments(ALWAYS, "fargate_pod_execution", "fargate_cni", "node_cni", "node_worker", "node_ssm"),
            *_attachments(before(1, 4), "node_registry"),
            *CHART,
        ),
        moves=(
            (before(1, 4), (BLOG_REGISTRY, f"{ATTACHMENT}.node_registry")),
            *(
                (ALWAYS, move)
                for move in (
                    (f"{ROLE}.karpenter", f"{ROLE}.controller"),
                    (f"{ROLE}.fargate", f"{ROLE}.fargate"),
                    (f"{ROLE}.eks_node", f"{ROLE}.node"),
                    ("aws_iam_instance_profile.karpenter", PROFILE),
                    ("aws_eks_fargate_profile.karpenter", "aws_eks_fargate_profile.karpenter"),
                    ("aws_sqs_queue.karpenter", QUEUE),
                    ("aws_sqs_queue_policy.karpenter", QUEUE_POLICY),
                    (f"{ATTACHMENT}.fargate_attach_podexecution", f"{ATTACHMENT}.fargate_pod_execution"),
                    (f"{ATTACHMENT}.fargate_attach_cni", f"{ATTACHMENT}.fargate_cni"),
                    (f"{ATTACHMENT}.eks_node_attach_AmazonEKS_CNI_Policy", f"{ATTACHMENT}.node_cni"),
                    (f"{ATTACHMENT}.eks_node_attach_AmazonEKSWorkerNodePolicy", f"{ATTACHMENT}.node_worker"),
                    (f"{ATTACHMENT}.eks_node_attach_AmazonSSMManagedInstanceCore", f"{ATTACHMENT}.node_ssm"),
                )
            ),
        ),
        # Another policy takes its place, and nodes must pull images all the time: the exclusive policies remove it.
        forgotten=((since(1, 4), BLOG_REGISTRY),),
    ),
    CLOUDFORMATION: SetUp(
        style="official",
        has=(
            *ROLES,
            *_attachments(ALWAYS, "node_cni", "node_worker", "node_registry", "node_ssm"),
            (before(0, 32), PROFILE),
            (before(1, 9), f"{POLICY}.controller_{WHOLE_KEY}"),
            *_attachments(before(1, 9), f"controller_{WHOLE_KEY}"),
            *((since(1, 9), f"{POLICY}.controller_{key}") for key in BY_DUTY),
            *_attachments(since(1, 9), *(f"controller_{key}" for key in BY_DUTY)),
            *INTERRUPTION,
            *_always(ASSOCIATION),
            *CHART,
        ),
        generated=("rules",),
        left_behind=(OLD_STACKS,),
    ),
    EKSCTL: SetUp(
        style="eksctl",
        has=(
            *ROLES,
            *_attachments(ALWAYS, "node_cni", "node_worker", "node_ssm", f"controller_{WHOLE_KEY}"),
            *_always(PROFILE, f"{POLICY}.controller_{WHOLE_KEY}"),
            *INTERRUPTION,
            *CHART,
        ),
        generated=("rules",),
        left_behind=(
            OLD_STACKS,
            "the service account that eksctl made, unless the chart has made it: Helm does not take it over",
            "the node role in the ConfigMap aws-auth: with an access entry it is no longer needed",
        ),
    ),
    TERRAFORM_AWS_EKS: SetUp(
        style="terraform-aws-eks",
        module="module.karpenter",
        has=(
            *ROLES,
            *_attachments(ALWAYS, "node_cni", "node_worker"),
            *_always("aws_eks_access_entry.node"),
            *INTERRUPTION,
            *CHART,
        ),
        moves=(
            *(
                (ALWAYS, move)
                for move in (
                    (f"{ROLE}.controller[0]", f"{ROLE}.controller"),
                    (f"{POLICY}.controller[0]", f"{POLICY}.{FIRST_POLICY}"),
                    (f"{ATTACHMENT}.controller[0]", f"{ATTACHMENT}.{FIRST_POLICY}"),
                    (f"{MODULE_ASSOCIATION}[0]", ASSOCIATION),
                    (f"{ROLE}.node[0]", f"{ROLE}.node"),
                    (f'{ATTACHMENT}.node["AmazonEKSWorkerNodePolicy"]', f"{ATTACHMENT}.node_worker"),
                    (f'{ATTACHMENT}.node["AmazonEKS_CNI_Policy"]', f"{ATTACHMENT}.node_cni"),
                    (f'{ATTACHMENT}.node_additional["AmazonSSMManagedInstanceCore"]', f"{ATTACHMENT}.node_ssm"),
                    ("aws_iam_instance_profile.this[0]", PROFILE),
                    ("aws_eks_access_entry.node[0]", "aws_eks_access_entry.node"),
                    ("aws_sqs_queue.this[0]", QUEUE),
                    ("aws_sqs_queue_policy.this[0]", QUEUE_POLICY),
                    *(
                        (f'{kind}.this["{theirs}"]', f"{kind}.interruption_{ours}")
                        for kind in (RULE, TARGET)
                        for theirs, ours in (
                            ("health_event", "scheduled_change"),
                            ("spot_interrupt", "spot"),
                            ("instance_rebalance", "rebalance"),
                            ("instance_state_change", "state_change"),
                            ("capacity_reservation_interruption", "capacity_reservation"),
                        )
                    ),
                )
            ),
            # Older releases of the module attach ReadOnly. What is not moved is forgotten.
            (
                before(1, 4),
                (f'{ATTACHMENT}.node["AmazonEC2ContainerRegistryReadOnly"]', f"{ATTACHMENT}.node_registry"),
            ),
            (since(1, 4), (f'{ATTACHMENT}.node["AmazonEC2ContainerRegistryPullOnly"]', f"{ATTACHMENT}.node_registry")),
        ),
        # Terraform would destroy these before the new policies are there, or while pods still use them. Of the
        # attachments, the exclusive policies remove what the role must not keep, when it has all its own.
        forgotten=_always(
            f"{ROLE}_policy.controller", MODULE_ASSOCIATION, f"{ATTACHMENT}.node", f"{ATTACHMENT}.node_additional"
        ),
        generated=("controller_role", "node_role", "rules"),
        left_behind=(
            "the Pod Identity association, if identity is irsa: delete it when the new pods run",
            "in another state, the module's own policy: it is detached; delete it when it is no longer needed",
        ),
    ),
}
