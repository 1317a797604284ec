"""The settings of this project's own crawls; yours need only ``ADDONS``.

Any of them can be changed for one crawl with ``-s NAME=VALUE``.
"""

from focusspider import __version__

BOT_NAME = "focusspider"
SPIDER_MODULES = ["focusspider.spiders"]
NEWSPIDER_MODULE = "focusspider.spiders"

ADDONS = {"focusspider.FocusAddon": 500}

# So that -o and -O know it too; in FEEDS the add-on is enough.
FEED_EXPORTERS = {"parquet": "focusspider.exporters.ParquetItemExporter"}

# Be recognised, and obey what sites ask for. Delays are the spider's: see spiders/focus.py.
USER_AGENT = f"focusspider/{__version__}"
ROBOTSTXT_OBEY = True

# Nothing listens that was not asked for.
REMOTE_CONTROL_ENABLED = False
TELNETCONSOLE_ENABLED = False

FEED_EXPORT_ENCODING = "utf-8"
