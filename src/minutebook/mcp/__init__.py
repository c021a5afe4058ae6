"""For agents: the minutes as tools and resources of the Model Context Protocol."""
