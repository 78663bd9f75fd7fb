"""Nouns: models, laws, designs, tasks, trainings, and the one flow they make."""

from .designs import BinaryDesign, Design, GaussianDesign, IIDDesign, MatrixDesign, StudentDesign
from .flow import Flow, make_flow
from .laws import Bernoulli, BernoulliGauss, Empirical, Law, Normal, PointMass, SparseRademacher
from .models import DiagonalLinear, Linear, Model, Reparametrized
from .noun import Noun, from_dict
from .tasks import Classification, Dataset, GeneralizedLinear, Regression
from .trainings import GradientDescent, GradientFlow, Langevin, StochasticGradientDescent, Training

__all__ = [
    "Bernoulli",
    "BernoulliGauss",
    "BinaryDesign",
    "Classification",
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
    "Langevin",
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
    "StochasticGradientDescent",
    "StudentDesign",
    "Training",
    "from_dict",
    "make_flow",
]
