"""The polyhedral model of a program: statements, iteration domains, access relations, regions."""
