"""The pages that a topic gives as examples, of what is wanted and of what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focusspider import stats
from focusspider.errors import TopicError, TrainingError
from focusspider.page import Page
from focusspider.relevance.negatives import negative_files, read_negatives
from focusspider.training.base import TrainingData
from focusspider.training.relevance import with_examples

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from focusspider.page import PageParser
    from focusspider.topic import Topic

__all__ = ["examples_of"]


def examples_of(
    topic: Topic, parser: PageParser, settings: Settings, graph: TrainingData | None
) -> TrainingData:
    """Return the topic's targets and negatives, beside the pages of a web graph if there is one.

    Targets that are URLs are those of the graph; without one they are fetched, as a crawl would.

    Raises
    ------
    TopicError
        For negatives that cannot be read.
    TrainingError
        Where none of the targets could be fetched.
    """
    try:
        files = negative_files(topic.relevance.params.get("negatives", ()), topic.base_dir)
    except ValueError as error:
        raise TopicError(f"{topic.place('relevance')}: {error}") from None
    wanted = [
        parser.parse_html(path.read_bytes(), path.absolute().as_uri())
        for path in topic.target_files
    ]
    if graph is None:
        graph = TrainingData(
            pages=(), sources=(), destinations=(), targets=(), topic=topic, parser=parser,
            source=topic.source,
        )  # fmt: skip
        wanted += _fetched(topic, parser, settings)
    return with_examples(graph, wanted, list(read_negatives(files, parser.analyzer)))


def _fetched(topic: Topic, parser: PageParser, settings: Settings) -> list[Page]:
    """Fetch the targets of the web in a crawl of its own."""
    if not topic.target_urls:
        return []
    from focusspider.commands.fetchspider import fetch_in_crawl

    came: list[Any] = []

    async def work(fetch: Any) -> None:
        came.extend(await fetch(topic.target_urls))

    finished = fetch_in_crawl(
        settings,
        work,
        name="focus-train",
        parser=parser,
        read=lambda _, page: page,
        counted=(stats.TARGET_FETCHED, stats.TARGET_FAILED),
    )
    if not finished:
        raise KeyboardInterrupt
    pages = [page for page in came if isinstance(page, Page)]
    if not pages:
        raise TrainingError(
            f"{topic.source}: none of its {len(topic.target_urls)} targets could be fetched, the "
            f"first for the reason {came[0].reason!r}; mend the targets, or save them as files"
        )
    return pages
