"""``scrapy focus-*``: the commands that focusspider adds to Scrapy's."""
