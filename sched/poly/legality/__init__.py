"""Whether the state behind a directive is legal, and the refusal of one that is not."""
