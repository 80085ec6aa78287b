"""The check of a lowered schedule: its loops are run step by step and compared with the program."""
