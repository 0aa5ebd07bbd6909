"""What a Karpenter release needs: permissions, events, roles and charts, as tables with a version window per row."""
