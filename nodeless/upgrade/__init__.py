"""What changes between two Karpenter releases, and the reports about it."""
