"""The directives: records with an edit of the LoopTree. `proof` and `legality` check the result."""
