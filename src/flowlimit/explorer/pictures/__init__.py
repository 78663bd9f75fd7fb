"""The explorer's pictures: each is made once and then given new numbers, which is all that travels to the browser."""

from collections.abc import Callable

from .decay import Decay
from .errors import Errors
from .kernels import Kernels
from .law import Law
from .look import HEIGHT, LOOKS, Look
from .picture import Picture, Scene
from .trade_off import TradeOff

PICTURES: dict[str, Callable[[Look], Picture]] = {
    "errors": Errors,
    "law": Law,
    "trade_off": TradeOff,
    "decay": Decay,
    "kernels": Kernels,
}

__all__ = ["HEIGHT", "LOOKS", "PICTURES", "Decay", "Errors", "Kernels", "Law", "Look", "Picture", "Scene", "TradeOff"]
