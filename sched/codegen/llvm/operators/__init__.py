"""The instructions of each operator, and of conversions between types, lane by lane."""
