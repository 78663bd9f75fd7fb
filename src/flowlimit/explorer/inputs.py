"""What a user sets: numbers within bounds, presets of what the paper shows, and the problem that they make."""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

from ..problem.features import Features
from ..problem.laws import Bernoulli, Empirical
from ..problem.models import DiagonalLinear
from ..problem.tasks import Regression
from ..problem.trainings import GradientFlow

Nouns = tuple[DiagonalLinear, Regression, GradientFlow]


class Slider(NamedTuple):
    """A number with its bounds; on a log scale where these are positive and far apart."""

    words: str
    low: float
    high: float
    log: bool = False


SLIDERS = {
    "init_scale": Slider("init scale α", 0.01, 100.0, log=True),
    "weight_decay": Slider("weight decay λ", 0.0, 1.0),
    "aspect_ratio": Slider("aspect ratio δ", 0.1, 3.0),
    "noise_var": Slider("noise variance σ²", 0.0, 0.5),
    "sparsity": Slider("share of targets", 0.02, 0.9),
    "capacity": Slider("capacity of the features' spectrum", 0.0, 2.0),
    "horizon": Slider("horizon", 1.0, 200.0, log=True),
}
DEPTHS, DIMS = (2, 3, 4), (100, 200, 400)
GROUPS = 4
"""Groups of features with one variance each: as few as show a power law, since a limit draws paths for each."""


@dataclass(frozen=True)
class Inputs:
    """A problem of the explorer; numbers outside their bounds are taken to the nearest one inside."""

    init_scale: float = 0.3
    weight_decay: float = 0.0
    aspect_ratio: float = 0.5
    noise_var: float = 0.01
    sparsity: float = 0.1
    capacity: float = 0.0
    horizon: float = 20.0
    depth: int = 2
    dim: int = 200

    def bounded(self) -> "Inputs":
        """Return what a computation is given: a browser may send anything."""
        numbers = {name: min(max(float(getattr(self, name)), s.low), s.high) for name, s in SLIDERS.items()}
        if any(number != number for number in numbers.values()):
            raise ValueError(f"given {self}, needs numbers")
        depth = min(DEPTHS, key=lambda known: abs(known - self.depth))
        return replace(self, **numbers, depth=depth, dim=min(DIMS, key=lambda known: abs(known - self.dim)))

    @property
    def nouns(self) -> Nouns:
        """The model, the task and the training."""
        model = DiagonalLinear(self.init_scale, weight_decay=self.weight_decay, depth=self.depth)
        target = Bernoulli(self.sparsity)
        features = Features(variance=Empirical(self.variances()), target=target) if self.capacity else None
        own = {"target": target} if features is None else {"features": features}
        task = Regression(aspect_ratio=self.aspect_ratio, noise_var=self.noise_var, **own)
        return model, task, GradientFlow(self.horizon)

    def variances(self) -> list[float]:
        """Return the variances of the groups of features, j^-capacity with the mean 1, to four digits.

        Examples
        --------
        >>> Inputs(capacity=1.0).variances()[:3]
        [1.92, 0.96, 0.64]
        """
        powers = [j**-self.capacity for j in range(1, GROUPS + 1)]
        return [float(f"{GROUPS * power / sum(powers):.4g}") for power in powers]

    def to_python(self) -> str:
        """Return a script that solves and draws it.

        Examples
        --------
        >>> print(Inputs().to_python().splitlines()[2])
        model = fl.DiagonalLinear(init_scale=0.3, weight_decay=0.0, depth=2)
        """
        target = f"fl.Bernoulli({self.sparsity!r})"
        features = f"features=fl.Features(variance=fl.Empirical({self.variances()}), target={target})"
        return (
            "import flowlimit as fl\n\n"
            f"model = fl.DiagonalLinear(init_scale={self.init_scale!r}, weight_decay={self.weight_decay!r}, "
            f"depth={self.depth})\n"
            f"task = fl.Regression(aspect_ratio={self.aspect_ratio!r}, noise_var={self.noise_var!r}, "
            f"{features if self.capacity else f'target={target}'})\n"
            f"training = fl.GradientFlow(horizon={self.horizon!r})\n"
            "limit = fl.solve_dmft(model, task, training, rtol=1e-2, key=0)\n"
            f"runs = fl.simulate(model, task, training, dim={self.dim}, trials=10, key=0)\n"
            "fl.plot.curves(limit, runs)\n"
        )

    def to_toml(self) -> str:
        """Return a problem for ``flowlimit solve-dmft problem.toml``."""
        own = "task.features.target" if self.capacity else "task.target"
        features = '[task.features]\nkind = "Features"\n\n[task.features.variance]\nkind = "Empirical"\n'
        features += f"values = {self.variances()}\n\n"
        return (
            f'[model]\nkind = "DiagonalLinear"\ninit_scale = {self.init_scale!r}\n'
            f"weight_decay = {self.weight_decay!r}\ndepth = {self.depth}\n\n"
            f'[task]\nkind = "Regression"\naspect_ratio = {self.aspect_ratio!r}\nnoise_var = {self.noise_var!r}\n\n'
            f"{features if self.capacity else ''}"
            f'[{own}]\nkind = "Bernoulli"\nprobability = {self.sparsity!r}\n\n'
            f'[training]\nkind = "GradientFlow"\nhorizon = {self.horizon!r}\n\n'
            f"[simulate]\ndim = {self.dim}\ntrials = 10\n"
        )

    def numbers(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return asdict(self)


NAMES = tuple(field.name for field in fields(Inputs))
PRESETS = {
    "lazy, then rich (grokking)": Inputs(init_scale=10.0, weight_decay=0.3, horizon=70.0),
    "incremental learning": Inputs(init_scale=0.01, weight_decay=0.1, horizon=40.0),
    "double descent": Inputs(init_scale=3.0, aspect_ratio=0.95, noise_var=0.1, horizon=100.0),
    "trade-off: fast and worse": Inputs(init_scale=2.0, horizon=20.0),
    "trade-off: slow and better": Inputs(init_scale=0.1, horizon=100.0),
    "features of a power law": Inputs(capacity=1.2, horizon=40.0),
}
"""What the paper shows, and what goes beyond it, by name."""
