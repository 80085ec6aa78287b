"""Nests of Funcs that need themselves."""
