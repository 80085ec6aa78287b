"""A corpus of schedules whose loop IR a refactoring must not change."""
