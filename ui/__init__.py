"""Draws: the frame, the controls, the pictures. Computes nothing; what it shows comes from `attention_core`."""
