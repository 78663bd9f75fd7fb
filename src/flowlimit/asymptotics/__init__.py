"""The long time: fixed points and rates, in closed form or by a few integrals."""
