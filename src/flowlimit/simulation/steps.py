"""Gradient descent at finite size: the exact recursion in the model's own parameters, two matrix products per step."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from ..problem.flow import Flow
from ..results import Code
from ..types import PRNGKey, ThetaRows
from .data import Data
from .engine import RUNNING, Chunk, Chunked, Engine, Failure, State, new_status
from .measure import Observables, backward, forward, measure
from .noise import kick, step_keys
from .start import initial_theta


class StepEngine(Engine):
    """theta_{i+1} = theta_i + step_size drift(t_i, theta_i, g_i)."""

    slots: int = eqx.field(default=256, static=True)
    budget: float = eqx.field(default=64.0, static=True)

    def start(self, flow: Flow, data: Data, key: PRNGKey, steps_key: PRNGKey) -> State:
        """Position is the next step to take, at first 0."""
        theta = initial_theta(flow, data, key)
        models = theta.shape[0]
        return State(jnp.zeros(()), theta, jnp.full(models, RUNNING, int), jnp.zeros(models, int), steps_key)

    def advance(
        self, flow: Flow, data: Data, observables: Observables, state: State, chunk: Chunk
    ) -> tuple[State, Chunked]:
        """Take steps up to and with the stop; a step measures before it moves."""
        targets, stop = chunk.targets.astype(int), chunk.stop.astype(int)

        def one(flow: Flow, theta: ThetaRows, step: Int[Array, ""]):
            clock = flow.clock.steps
            assert clock is not None
            t, size = clock.time(step), clock.size(step)
            w, f = forward(flow, data, t, theta)
            values = measure(flow, data, observables, t, theta, w, f)
            keys = step_keys(state.own, step)
            move = flow.drift_rows(t, theta, backward(flow, data, f, keys))
            return theta + size * move + kick(flow.noise, size, theta, keys), dict(values), w

        models = eqx.filter_vmap(one, in_axes=(eqx.if_array(0), 0, None))

        def body(carry):
            step, theta, slot, buffer, _ = carry
            theta, values, w = models(flow, theta, step)
            # Every step writes to the open slot; the slot closes when its target has been written. One write of all
            # curves together: at small dims the number of operations per step is what costs.
            row = jnp.stack(jax.tree.leaves(values))
            buffer = jax.lax.dynamic_update_index_in_dim(buffer, row, slot, axis=0)
            slot = jnp.minimum(slot + (step == targets[slot]), self.slots - 1)
            return step + 1, theta, slot, buffer, w

        _, values, w = eqx.filter_eval_shape(models, flow, state.theta, jnp.zeros((), int))
        curves, names = jax.tree.flatten(values)
        buffer = jnp.full((self.slots, len(curves), *curves[0].shape), jnp.nan)
        first = state.position.astype(int)
        step, theta, _, buffer, w = jax.lax.while_loop(
            lambda carry: carry[0] <= stop,
            body,
            (first, state.theta, jnp.zeros((), int), buffer, jnp.zeros(w.shape)),
        )
        recorded = Chunked(jax.tree.unflatten(names, list(jnp.moveaxis(buffer, 0, -1))), w)
        # Judged by what was measured: the move after the last measurement may never be needed.
        status = new_status(state.status, jnp.full_like(state.status, RUNNING), w)
        return State(step.astype(float), theta, status, jnp.full_like(state.steps, stop), state.own), recorded

    def failure(self, status: int) -> Failure:
        """Steps can only cease to be finite."""
        return Failure(Code.DIVERGED, "ceased to be finite", "take a smaller step_size, or GradientFlow")
