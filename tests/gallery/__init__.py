"""Programs as a textbook writes them, with arguments and references: what the tests run on."""
