"""Schedules that compute their Funcs before the eyes of the reader: pages with a slider."""
