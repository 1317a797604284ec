"""The spiders that come with focusspider."""
