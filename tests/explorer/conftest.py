"""What the explorer finds for a short problem, found once."""

import pytest


@pytest.fixture(scope="session")
def found():
    from flowlimit.explorer.answers import Found, limit_of, runs_of, theory_of, trade_off_of
    from flowlimit.explorer.inputs import Inputs

    short, never = Inputs(horizon=3.0, dim=100), lambda: False
    return Found(theory_of(short), limit_of(short, 0.9, never), runs_of(short, never), trade_off_of(short))
