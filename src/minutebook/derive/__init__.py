"""Pure derivations from the model: no files, no databases, no network."""
