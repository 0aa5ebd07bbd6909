"""The Terraform that runs Karpenter on EKS, decided in plain Python: no cdktf, no jsii below this package."""
