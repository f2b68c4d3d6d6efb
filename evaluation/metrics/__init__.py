"""From answers to figures: comparison with the gold, statistics, calibration."""
