"""A flow on Gauss-Legendre panels: both sides are iterated until they agree."""
