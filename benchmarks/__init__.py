"""Measures how long synth takes."""
