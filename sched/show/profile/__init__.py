"""Where the time of a call goes: by stage, by loop that threads share, and over time."""
