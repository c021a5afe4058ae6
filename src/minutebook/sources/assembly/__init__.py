"""What every adapter needs to make rounds of records: nothing here knows an agent."""
