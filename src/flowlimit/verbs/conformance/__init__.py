"""Whether definition, runs and limit of a problem agree: for a model or a loss of one's own, and for all of ours."""

from .verb import Check, Conformance, conform

__all__ = ["Check", "Conformance", "conform"]
