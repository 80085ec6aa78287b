"""Tests of what users get for testing, and of schedules by it."""
