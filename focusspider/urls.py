"""What makes two URLs, or two requests, one and the same."""
