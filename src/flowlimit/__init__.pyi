from . import plot as plot
from .problem.designs import BinaryDesign as BinaryDesign
from .problem.designs import Design as Design
from .problem.designs import GaussianDesign as GaussianDesign
from .problem.designs import IIDDesign as IIDDesign
from .problem.designs import MatrixDesign as MatrixDesign
from .problem.laws import Bernoulli as Bernoulli
from .problem.laws import BernoulliGauss as BernoulliGauss
from .problem.laws import Empirical as Empirical
from .problem.laws import Law as Law
from .problem.laws import Normal as Normal
from .problem.laws import PointMass as PointMass
from .problem.laws import SparseRademacher as SparseRademacher
from .problem.models import DiagonalLinear as DiagonalLinear
from .problem.models import Linear as Linear
from .problem.models import Model as Model
from .problem.models import Reparametrized as Reparametrized
from .problem.noun import from_dict as from_dict
from .problem.tasks import Dataset as Dataset
from .problem.tasks import Regression as Regression
from .problem.trainings import GradientDescent as GradientDescent
from .problem.trainings import GradientFlow as GradientFlow
from .problem.trainings import Training as Training
from .results import Code as Code
from .results import Curve as Curve
from .results import Curves as Curves
from .results import FlowlimitError as FlowlimitError
from .results import Outcome as Outcome
from .results import Runs as Runs
from .verbs.citation import citation as citation
from .verbs.simulate import simulate as simulate
from .verbs.storage import load as load
from .verbs.storage import save as save

__version__: str
__all__: list[str]
