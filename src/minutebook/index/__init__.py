"""The search index: disposable, made from transcripts, inscriptions and engagements."""
