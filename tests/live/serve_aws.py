"""The process behind the tests of `init` and `doctor`: the AWS of the Terraform tests, with more detail."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.live.aws_overlay import LiveOverlay
from tests.terraform.serve_aws import serve

if __name__ == "__main__":
    serve(Path(sys.argv[1]), LiveOverlay)
