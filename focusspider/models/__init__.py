"""Learning and inference: arrays and texts in, arrays out; nothing here knows of a crawl."""
