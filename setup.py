"""The egg that ``scrapyd-deploy`` sends to a node: the code, and beside it topics and models.

``pip`` does not read this file: what it builds is in ``pyproject.toml``, from which the egg has
its name, version and settings too.
"""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["focusspider", "focusspider.*"]), "topics", "models"],
    package_data={
        "focusspider": ["**/*"],
        "topics": ["**/*"],
        "models": ["**/*.npz"],  # and no web graphs, which only training reads
    },
    exclude_package_data={"": ["**/__pycache__/*", "**/*.pyc"]},
)
