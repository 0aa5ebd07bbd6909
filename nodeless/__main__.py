"""`python -m nodeless`, the same as the `nodeless` command."""

from nodeless.cli.main import main

raise SystemExit(main())
