"""Loop nests of recurrences: of Funcs that read themselves or each other."""
