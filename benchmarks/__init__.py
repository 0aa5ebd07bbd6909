"""What synth costs, measured on the real app."""
