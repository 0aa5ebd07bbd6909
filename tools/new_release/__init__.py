"""What a new Karpenter release changes: upstream's own files held against the tables of nodeless, as a checklist."""
