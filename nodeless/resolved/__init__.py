"""One cluster, resolved: every name, role, policy, rule and chart is decided here; the stacks create them."""
