"""What sessions used: replies, tokens, time, work; counted once, whoever asks (USE-01 … USE-06)."""
