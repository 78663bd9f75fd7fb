"""Nouns: models, laws, designs, tasks, trainings, and the one flow they make."""

from .designs import BinaryDesign, Design, GaussianDesign, IIDDesign, MatrixDesign
from .flow import Flow, make_flow
from .laws import Bernoulli, BernoulliGauss, Empirical, Law, Normal, PointMass, SparseRademacher
from .models import DiagonalLinear, Linear, Model, Reparametrized
from .noun import Noun, from_dict
from .tasks import Classification, Dataset, GeneralizedLinear, Regression
from .trainings import ContinuousClock, GradientDescent, GradientFlow, StepClock, Training

__all__ = [
    "Bernoulli",
    "BernoulliGauss",
    "BinaryDesign",
    "Classification",
    "ContinuousClock",
    "Dataset",
    "Design",
    "DiagonalLinear",
    "Empirical",
    "Flow",
    "GaussianDesign",
    "GeneralizedLinear",
    "GradientDescent",
    "GradientFlow",
    "IIDDesign",
    "Law",
    "Linear",
    "MatrixDesign",
    "Model",
    "Normal",
    "Noun",
    "PointMass",
    "Regression",
    "Reparametrized",
    "SparseRademacher",
    "StepClock",
    "Training",
    "from_dict",
    "make_flow",
]
