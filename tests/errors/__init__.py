"""One test a message: what users are told, word by word."""
