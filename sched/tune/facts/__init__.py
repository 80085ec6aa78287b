"""Facts of programs: what each statement does, how often, on which data, in what order."""
