"""Paths have the law they stand for: targets, weights, batches; and modes of z are in falling order."""

import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.engine.site import make_site
from flowlimit.dmft.sampling.modes import principal_rotation
from flowlimit.dmft.sampling.paths import Counts, Part, draw_cloud, live_strata, make_paths, with_room
from flowlimit.dmft.sampling.sample_paths import draw_sample_cloud
from flowlimit.problem.flow import make_flow

NODES, ROOM, COUNTS = 4, 16, Counts(64, 16)


@pytest.mark.parametrize(
    "law", [fl.Bernoulli(0.1, value=2.0), fl.SparseRademacher(0.3), fl.BernoulliGauss(0.2, std=1.5)], ids=repr
)
@pytest.mark.parametrize("turned", [False, True])
def test_paths_have_the_moments_of_their_law(law, turned):
    """Strata have their probabilities, and within each the Gaussian parts have matched moments: exactly."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(NODES, NODES)))[0] if turned else None
    site = make_site(
        make_flow(
            fl.Linear(0.0, init_scale=0.5, init_overlap=0.2),
            fl.Regression(0.5, noise_var=0.1, target=law),
            fl.GradientDescent(0.1, num_steps=3),
        )
    )
    cloud = draw_cloud(site, law, live_strata(law), ROOM, NODES, COUNTS, rotation, rng)
    paths = make_paths(site, law, live_strata(law), COUNTS, cloud)
    p, w_star, z = (np.asarray(x) for x in (paths.probability, paths.w_star, paths.normals[:NODES]))
    assert p.sum() == pytest.approx(1.0)
    assert np.asarray(paths.few_probability).sum() == pytest.approx(1.0)
    assert (p @ w_star, p @ w_star**2) == pytest.approx((float(law.mean), float(law.second_moment)), abs=1e-12)
    assert (p * z) @ z.T == pytest.approx(np.eye(NODES), abs=1e-10)
    assert (p * z) @ w_star == pytest.approx(np.zeros(NODES), abs=1e-10)
    assert np.abs(np.asarray(paths.normals[NODES:])).max() == 0.0
    start = np.asarray(paths.theta[0])
    assert p @ start**2 == pytest.approx(0.04 * float(law.second_moment) + 0.25)


@pytest.mark.parametrize("persistent", [False, True])
def test_batches_of_sample_paths(persistent):
    """Masks are 0 or 1 over the share, of mean 1 (5 standard errors); a kept batch is one for all steps."""
    rng, share = np.random.default_rng(0), 0.2
    cloud = draw_sample_cloud(1, ROOM, NODES, Counts(4096, 64), None, share, persistent, rng, part=None)
    assert set(np.unique(cloud.masks)) == {0.0, 5.0}
    draws = cloud.masks.shape[1] * (1 if persistent else ROOM)
    assert cloud.masks.mean() == pytest.approx(1.0, abs=5.0 * np.sqrt((1.0 / share - 1.0) / draws))
    assert (cloud.masks == cloud.masks[:1]).all() == persistent


@pytest.mark.parametrize("columns", [6, 9])
def test_modes_fall(columns):
    """Normals V eta of the triangular root have effects as large as singular values, in falling order."""
    rng = np.random.default_rng(1)
    F, response = rng.normal(size=(6, columns)), np.tril(rng.normal(size=(6, 6)))
    V = principal_rotation(F, response @ F)
    assert pytest.approx(np.eye(6), abs=1e-12) == V.T @ V
    effects = np.linalg.norm(response @ np.linalg.cholesky(F @ F.T) @ V, axis=0)
    assert effects == pytest.approx(np.linalg.svd(response @ F)[1][:6])


def test_start_of_paths_is_the_models():
    """Every path starts where the model says, as a function of its own target and normals."""
    rng, law = np.random.default_rng(2), fl.SparseRademacher(0.3)
    site = make_site(
        make_flow(
            fl.Linear(0.0, init_scale=0.5, init_overlap=0.2),
            fl.Regression(0.5, noise_var=0.1, target=law),
            fl.GradientDescent(0.1, num_steps=3),
        )
    )
    cloud = draw_cloud(site, law, live_strata(law), ROOM, NODES, COUNTS, None, rng)
    paths = make_paths(site, law, live_strata(law), COUNTS, cloud)
    assert np.asarray(paths.theta[0]) == pytest.approx(0.2 * np.asarray(paths.w_star) + 0.5 * cloud.start[:, 0])
    assert jnp.unique(paths.w_star).tolist() == [-1.0, 0.0, 1.0]


def test_strata_may_share_their_normals():
    """Each stratum then has the matched moments of the one cloud, which is all that a linear flow needs."""
    law = fl.PowerLaw(100, capacity=1.2, source=1.5)
    task = fl.Regression(0.5, noise_var=0.1, features=law)
    site = make_site(make_flow(fl.Linear(), task, fl.GradientDescent(0.1, num_steps=3)))
    cloud = draw_cloud(site, law, live_strata(law), ROOM, NODES, COUNTS, None, np.random.default_rng(0), alike=True)
    strata = len(live_strata(law))
    z = cloud.z[:NODES].reshape(NODES, COUNTS.paths, strata)  # strata take turns
    assert strata > 8
    assert (z == z[..., :1]).all()
    assert z[..., 0] @ z[..., 0].T / COUNTS.paths == pytest.approx(np.eye(NODES), abs=1e-10)


def test_wider_modes_are_those_of_z():
    """With modes to go by, weights fall with the leading mode of z, and starts have their own spread without them."""
    rng, law = np.random.default_rng(3), fl.Normal()
    site = make_site(
        make_flow(
            fl.Linear(0.0, init_scale=0.5, init_overlap=0.2),
            fl.Regression(0.5, noise_var=0.1, target=law),
            fl.GradientDescent(0.1, num_steps=3),
        )
    )
    rotation = np.linalg.qr(rng.normal(size=(NODES, NODES)))[0]
    cloud = draw_cloud(site, law, live_strata(law), ROOM, NODES, Counts(1024, 16), rotation, rng)
    modes = rotation.T @ cloud.z[:NODES]
    related = lambda x: np.corrcoef(np.log(cloud.weight), x**2)[0, 1]
    assert related(modes[0]) < -0.8
    assert abs(related(cloud.start[:, 0])) < 0.1


@pytest.mark.parametrize("of", [2, 4])
@pytest.mark.parametrize("leading", [None, 2])
def test_parts_are_the_whole(of, leading):
    """Before moments are matched the parts of a replica's points, one after the other, are its points."""
    law, rotation = fl.Bernoulli(0.1), np.linalg.qr(np.random.default_rng(1).normal(size=(NODES, NODES)))[0]
    training = fl.Langevin(temperature=0.5, step_size=0.1, num_steps=NODES)
    site = make_site(make_flow(fl.Linear(init_scale=0.5), fl.Regression(0.5, noise_var=0.1, target=law), training))
    draw = lambda part: draw_cloud(
        site,
        law,
        live_strata(law),
        ROOM,
        NODES,
        COUNTS,
        rotation,
        np.random.default_rng(0),
        matched=0.0,
        leading=leading,
        part=part,
    )
    whole, parts = draw(None), [draw(Part(number, of, COUNTS)) for number in range(of)]
    assert np.concatenate([part.weight for part in parts]) == pytest.approx(whole.weight)
    # means are taken out of each part and stratum, of which there are two in turn: differences within one stay
    differences = lambda x: x[..., 2:] - x[..., :-2]
    step = whole.z.shape[1] // of
    for number, part in enumerate(parts):
        own = slice(number * step, (number + 1) * step)
        assert differences(part.z) == pytest.approx(differences(whole.z[:, own]), abs=1e-12)
        assert differences(part.kicks) == pytest.approx(differences(whole.kicks[..., own]), abs=1e-12)


def test_paths_in_larger_arrays_have_the_same_averages():
    """What is repeated has no weight, so that a part of the paths takes the program of others."""
    law = fl.Bernoulli(0.1)
    site = make_site(make_flow(fl.Linear(), fl.Regression(0.5, noise_var=0.1, target=law), fl.GradientFlow(1.0)))
    cloud = draw_cloud(site, law, live_strata(law), ROOM, NODES, COUNTS, None, np.random.default_rng(0))
    paths = make_paths(site, law, live_strata(law), COUNTS, cloud)
    larger = with_room(paths, Counts(256, 48), 2)
    assert (larger.probability.shape, larger.few_probability.shape, larger.normals.shape) == (
        (512,),
        (96,),
        (ROOM, 512),
    )
    square = lambda paths: (np.asarray(paths.normals) * np.asarray(paths.probability)) @ np.asarray(paths.normals).T
    assert square(larger) == pytest.approx(square(paths))
    few = lambda paths: np.asarray(paths.normals[:, : len(paths.few_probability)] @ paths.few_probability)
    assert few(larger) == pytest.approx(few(paths))
