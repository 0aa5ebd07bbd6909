"""The installation whose plans the tests of single components create."""

from __future__ import annotations

from nodeless.resolved.permissions import place_of
from nodeless.spec.resolution import installation
from nodeless.stacks.addresses import Addresses
from tests.conftest import LITERALS

AT = Addresses()
EXAMPLE = installation(**LITERALS)
PLACE = place_of(EXAMPLE, account=LITERALS["account"])
