"""The `inflate` Deployment: pods that only request CPU, so that Karpenter launches a node for them."""

from __future__ import annotations

from typing import Any

NAME = "inflate"
# Not the controller's namespace: its Fargate profile would run the pods, and Karpenter would have nothing to do.
NAMESPACE = "default"
IMAGE = "public.ecr.aws/eks-distro/kubernetes/pause:3.7"


def inflate() -> dict[str, Any]:
    """Return the Deployment, at zero replicas: `kubectl scale deployment inflate --replicas 5` starts the test."""
    labels = {"app": NAME}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": dict(labels)},
            "template": {
                "metadata": {"labels": dict(labels)},
                "spec": {
                    # A pause container has nothing to finish.
                    "terminationGracePeriodSeconds": 0,
                    "securityContext": {"runAsNonRoot": True, "runAsUser": 65535, "runAsGroup": 65535},
                    "containers": [
                        {
                            "name": NAME,
                            "image": IMAGE,
                            "resources": {"requests": {"cpu": "1"}},
                            "securityContext": {
                                "allowPrivilegeEscalation": False,
                                "readOnlyRootFilesystem": True,
                                "capabilities": {"drop": ["ALL"]},
                                "seccompProfile": {"type": "RuntimeDefault"},
                            },
                        }
                    ],
                },
            },
        },
    }
