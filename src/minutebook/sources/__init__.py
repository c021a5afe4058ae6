"""Adapters that read foreign transcripts; foreign dicts stop here."""
