"""Terraform: the constructs that create what `nodeless.resolved` decides, and the stack that connects them."""
