"""The house stands as the design says: imports go one way, files are short, nothing is heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "focusspider"
MODULES = sorted(PACKAGE.rglob("*.py"))

#: In the order in which data flow. A module imports only from those above it, or from its
#: own folder.
ORDER = """
    errors resources sqlitefile priority registry keytable growing onemessage stats
    settingkinds config
    urls urllist hostile markup outline links stopwords text tables
    sites topicvalues topic page parsing profile
    linkgraph corpus webgraph models remotemodel relevance strategies training
    frontier failures targets journal facts runfolder visits wholerun record items runreport session
    exactjson payload explaining identity engine politeness scope admission leases
    checkpoint fleet sharing crawlfrontier pump scheduler scoring
    reranking middleware robots retryafter render
    pipelines exporters progress liveview monitor prometheus metricsport spiders replay
    search report inspection evaluation
    commands addon settings
""".split()  # noqa: SIM905 - a table to read

HEAVY = ("sklearn", "gensim", "matplotlib", "pyarrow", "plotly", "redis", "scipy.sparse.linalg")


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> set[str]:
    """Return the rooms that a module imports from when it runs, also within functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    rooms = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "focusspider":
                names = [f"focusspider.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("focusspider.")}
    return {name for name in rooms if not name.startswith("__")}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    here = room(path)
    if here == "__init__":
        return  # the front door, which opens each room when it is asked for
    assert here in ORDER, f"{here} has no place in the order of the house"
    above = set(ORDER[: ORDER.index(here)]) | {here}
    assert imports(path) <= above


def test_the_order_names_only_rooms_that_exist_or_are_planned() -> None:
    assert len(ORDER) == len(set(ORDER))
    assert {room(path) for path in MODULES} - {"__init__"} <= set(ORDER)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    assert path.name not in {"utils.py", "common.py", "helpers.py", "misc.py"}


@pytest.mark.parametrize(
    "statement",
    [
        "import focusspider",
        "from focusspider import FocusAddon",
        "import focusspider.spiders.focus",
    ],
)
def test_nothing_heavy_is_imported(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert done.stdout.strip() == "[]"


def test_models_need_no_scrapy() -> None:
    names = [f"focusspider.models.{path.stem}" for path in (PACKAGE / "models").glob("[a-z]*.py")]
    assert "focusspider.models.crf" in names
    code = (
        f"import sys, {', '.join(names)}\n"
        "print([m for m in ('scrapy', 'twisted') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert done.stdout.strip() == "[]"
