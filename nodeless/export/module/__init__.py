"""A reusable Terraform module for one Karpenter release: its variables, its blocks, its README and an example."""
