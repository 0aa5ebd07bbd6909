"""The process behind the lab's AWS: the one of the Terraform tests, with what Karpenter's controller needs."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.lab.aws_overlay import LabOverlay
from tests.terraform.serve_aws import serve

if __name__ == "__main__":
    serve(Path(sys.argv[1]), LabOverlay)
