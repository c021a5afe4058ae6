"""From a session to its engagements: by a model, or offline by evidence."""
