"""What each directive does to a LoopTree. Whether the result may run is for `proof` to say."""
