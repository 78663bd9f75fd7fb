"""Where a result came from: version, key and problem, as a plain dictionary."""

import datetime
from typing import Any

import jax
import numpy as np

from .. import __version__
from ..problem.noun import Noun
from ..types import PRNGKey


def provenance(key: int | PRNGKey, **problem: Any) -> dict[str, Any]:
    """Describe a computation; nouns become dictionaries, all else stays."""
    nouns = {name: value for name, value in problem.items() if isinstance(value, Noun)}
    origin = {
        "version": __version__,
        "jax": jax.__version__,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "key": np.asarray(jax.random.key_data(key)).tolist() if isinstance(key, jax.Array) else int(key),
        "problem": {name: value for name, value in problem.items() if name not in nouns},
        "summary": {},
    }
    return with_noun(origin, **nouns)


def with_noun(origin: dict[str, Any], **nouns: Noun) -> dict[str, Any]:
    """Return the description with nouns added in front."""
    problem = {name: noun.to_dict() for name, noun in nouns.items()} | origin["problem"]
    summary = {name: repr(noun) for name, noun in nouns.items()} | origin["summary"]
    return origin | {"problem": problem, "summary": summary}
