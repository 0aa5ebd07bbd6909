"""What a new Karpenter release changes: a checklist of how upstream's own files differ from the tables of nodeless."""
