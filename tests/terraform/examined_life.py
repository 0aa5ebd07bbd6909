"""A stack that real Terraform applies, and that `nodeless doctor` examines while it is broken piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.live.cluster import described
from nodeless.live.file_text import file_text
from nodeless.live.survey import Survey
from tests.live import site as sites
from tests.live.breakage import Breakage, break_all
from tests.terraform.lives import installation_of

if TYPE_CHECKING:
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.conftest import StackOf
    from tests.terraform.runner import Terraform


def examine_life(aws: AwsServer, stack_of: StackOf, initialized: Terraform) -> Breakage:
    """Apply the file that `nodeless init` writes, then break it; nothing is destroyed, the server just ends.

    With gitops, Terraform creates the AWS half, and the pools whose needs doctor looks at are known.
    """
    site = sites.create(aws, "demo")
    account = sites.account_of(site)
    config = file_text(Survey(account, described(account, site.cluster)).draft())
    assert "    # delivery: helm" in config
    terraform = stack_of(config.replace("    # delivery: helm", "    delivery: gitops"), endpoint=aws.url)
    terraform.init(like=initialized)
    terraform.plan()
    terraform.apply()
    return break_all(site, installation_of(terraform))
