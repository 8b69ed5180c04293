"""Stores: documents, chunks and vectors in one file, and the search over them."""
