"""``scrapy focus-train``: from the web graph of a topic to the models of its strategies."""

from __future__ import annotations

import json
import logging
import shlex
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focusspider.commands.focuscommand import FocusCommand, make_folder
from focusspider.config import FocusConfig
from focusspider.errors import FocusError, SettingError
from focusspider.resources import located

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from focusspider.topic import Topic
    from focusspider.training.base import Trained, Trainer, TrainingData

__all__ = ["Command"]

_ALL = "all"


class Command(FocusCommand):
    """Train the strategies that learn before a crawl."""

    argument = "topic, such as sample"
    stopped = "models that were finished are kept"
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's own way

    def syntax(self) -> str:
        """Return how the command is called."""
        return "[options] TOPIC"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Train a topic's models on what focus-collect or focus-record gathered"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Train models on a topic's web graph (scrapy focus-collect, focus-record or "
            "focus-import makes it), and write each as models/TOPIC/STRATEGY.npz, where a crawl "
            "with that strategy finds it. What was held out to measure them, what they learnt "
            "and what is doubtful about them is printed. The same graph, seed and date give the "
            "same files. See docs/training.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take what to train, on what, and how."""
        super().add_options(parser)
        add = parser.add_argument
        add("--strategy", metavar="NAME", default=_ALL,
            help="which strategy to train, or all (the default)")  # fmt: skip
        add("--relevance", action="store_true",
            help="train what judges pages (relevance = \"classifier\") instead of a strategy: from "
            "the topic's targets and negatives, and the web graph where there is one")  # fmt: skip
        add("--graph", metavar="FILE", help="what to learn from (models/TOPIC/graph.sqlite)")
        add("--out", metavar="DIR", help="where the models go (models/TOPIC)")
        add("--param", dest="params", metavar="NAME=VALUE", action="append", default=[],
            help="a parameter of the strategy's trainer, its value as in JSON or a word; may be "
            "given several times, with one strategy")  # fmt: skip
        add("--seed", metavar="N", type=int, help="of all that is drawn at random (FOCUS_SEED)")
        add("--date", metavar="YYYY-MM-DD", help="what the files give as their date (today)")

    def work(self, name: str, opts: argparse.Namespace) -> None:
        """Train the models that are asked for."""
        # here, since every call of scrapy loads every command
        from focusspider.commands.graphfile import graph_of_topic
        from focusspider.commands.progress import ProgressBar
        from focusspider.topic import Topic
        from focusspider.webgraph import WebGraph

        assert self.settings is not None
        config = FocusConfig.from_settings(self.settings)
        day = _date(opts.date)
        seed = config.seed if opts.seed is None else opts.seed
        if seed < 0:
            raise SettingError(f"--seed is a whole number of 0 or more, got {seed}")
        topic = Topic.load(name, config.topics_dir, needs_seeds=False)
        trainers = _trainers(opts.strategy, opts.params, topic if opts.relevance else None)
        folder = located(config.models_dir / topic.name)
        path = Path(opts.graph) if opts.graph else graph_of_topic(config, topic.name)
        out = Path(opts.out) if opts.out else folder
        if not path.exists() and (opts.graph or not opts.relevance):
            raise SettingError(
                f"there is nothing to learn from at {path}: collect it with 'scrapy "
                f"focus-collect {name}', or name a web graph with --graph"
            )
        make_folder(out, "--out")
        logging.getLogger("gensim").setLevel(logging.WARNING)
        data = None
        if path.exists():
            with WebGraph.open(path) as graph:
                with ProgressBar("Reading the graph") as bar:
                    data = _read(graph, topic, self.settings, bar)
                fingerprint = graph.fingerprint()
        if opts.relevance:
            data, fingerprint = _with_examples(data, topic, self.settings)
        assert data is not None
        about: dict[str, Any] = {"topic": topic.name, "training_data": fingerprint, "date": day}
        written = [
            kind
            for kind, trainer in trainers.items()
            if self._train(kind, trainer, data, out, seed, about)
        ]
        if written:
            model = out / f"{written[-1]}.npz"
            crawl = f"scrapy crawl focus -a topic={name} -a {_choice(opts, written[-1], model)}"
            print(f"\nNext: scrapy focus-inspect {model}, or {crawl}")

    def _train(
        self,
        kind: str,
        trainer: Trainer,
        data: TrainingData,
        out: Path,
        seed: int,
        about: dict[str, Any],
    ) -> bool:
        """Train one model and write it; return whether that could be done."""
        import numpy as np

        from focusspider.commands.progress import ProgressBar
        from focusspider.models.modelfile import write_model

        try:
            with ProgressBar(f"Training {kind}") as bar:
                trained = trainer.train(
                    data,
                    random_state=np.random.default_rng(seed),
                    told=lambda doing, done, total: bar.show(done, total, doing),
                )
            path = out / f"{kind}.npz"
            write_model(path, replace(trained.model, **about))
        except FocusError as error:
            print(f"{kind}: {error}", file=sys.stderr)
            self.exitcode = 1
            return False
        print("\n".join(_summary(kind, path, trained)), flush=True)
        for warning in trained.warnings:
            print(f"  Warning: {warning}", file=sys.stderr, flush=True)
        return True


def _trainers(name: str, params: Sequence[str], judged: Topic | None) -> dict[str, Trainer]:
    """Return the trainers that were asked for, by their names; wrong input stops here.

    ``judged`` is the topic whose judge is to be trained, which may name its algorithm.
    """
    from focusspider.training import TRAINERS, build_relevance_trainer, build_trainer

    if judged is not None:
        if name != _ALL:
            raise SettingError(f"--strategy {name} and --relevance: give one of them")
        own = judged.relevance.params if judged.relevance.kind == "classifier" else {}
        given = {"algorithm": own.get("algorithm"), **dict(map(_param, params))}
        trainer = build_relevance_trainer(given, where="focus-train")
        return {trainer.kind: trainer}
    if name == _ALL:
        if params:
            raise SettingError(
                "--param is for one strategy; name it with --strategy: " + ", ".join(TRAINERS)
            )
        return {kind: build_trainer(kind, {}) for kind in TRAINERS}
    return {name: build_trainer(name, dict(map(_param, params)), where="focus-train")}


def _param(text: str) -> tuple[str, Any]:
    """Return a parameter's name and value.

    >>> _param("n_states=4"), _param("observed=clusters")
    (('n_states', 4), ('observed', 'clusters'))
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise SettingError(f"--param {text!r} is not NAME=VALUE, such as n_states=4")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _date(given: str | None) -> str:
    if given is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError:
        raise SettingError(f"--date {given!r} is not a day, such as 2026-01-31") from None


def _read(graph: Any, topic: Topic, settings: Any, bar: Any) -> TrainingData:
    from focusspider.parsing import parser_of
    from focusspider.training.base import TrainingData

    return TrainingData.of_graph(
        graph,
        topic,
        parser_of(topic.language, settings),
        told=lambda doing, done, total: bar.show(done, total, doing),
    )


def _with_examples(
    data: TrainingData | None, topic: Topic, settings: Any
) -> tuple[TrainingData, str]:
    """Return the data with the topic's own examples, and their fingerprint."""
    from focusspider.commands.examples import examples_of
    from focusspider.parsing import parser_of
    from focusspider.training.relevance import fingerprint

    found = examples_of(topic, parser_of(topic.language, settings), settings, data)
    return found, fingerprint(found)


def _summary(kind: str, path: Path, trained: Trained) -> list[str]:
    """Return what was learnt, and how good it is on what was held out."""
    lines = [f"{kind}: {path}", *(f"  {line}" for line in trained.learnt)]
    lines += [
        f"  {name.replace('_', ' ')}: {value:,.3f}"
        if isinstance(value, float)
        else f"  {name.replace('_', ' ')}: {value:,}"
        for name, value in trained.model.metrics.items()
    ]
    return lines


def _choice(opts: argparse.Namespace, kind: str, model: Path) -> str:
    """Return the argument of a crawl that takes a model, which is named where ``--out`` is."""
    key, name = ("relevance", "classifier") if opts.relevance else ("strategy", kind)
    if not opts.out:
        return f"{key}={name}"
    table = {"kind" if opts.relevance else "name": name, "model": str(model.absolute())}
    return shlex.quote(f"{key}={json.dumps(table)}")
