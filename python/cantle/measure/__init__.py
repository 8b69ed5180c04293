"""Measures of chunks: what their boundaries cut through."""
