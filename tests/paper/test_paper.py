"""The paper's room: what is registered can be made, verdicts judge, and summaries say what was found."""

import json
import re
import tomllib
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.paper import BOOK, Entry, Verdict, find, labels, reproduce, write_summary
from flowlimit.paper.figures import phases, rates
from flowlimit.paper.lab import Lab
from flowlimit.paper.lines import Line
from flowlimit.paper.parameters import read_parameters
from flowlimit.paper.verdict import judge_deviations

FIGURES = resources.files("flowlimit.paper") / "figures"


def test_every_label_of_the_paper_is_there():
    """The labels as the issue of the paper lists them."""
    wanted = """fig:timescales fig:longtime fig:fixedpoint fig:convergencerate fig:convergencerate_real
    fig:timescales_detail fig:timescale_grok fig:timescale_descent fig:timescale_large fig:timescale_large_lazy
    fig:timescale_large_grok fig:timescale_large_rich fig:timescale_small fig:timescale_small_transition
    fig:fixedpoint_case1 fig:fixedpoint_case2 fig:fixedpoint_case3 fig:convergencerate_details
    fig:convergencerate_theory fig:experiment_binary fig:empirical_gene tab:longtime sec:overview"""
    assert set(wanted.split()) <= set(labels())
    with pytest.raises(ValueError, match="given 'fig:none', the paper has"):
        find("fig:none")


@pytest.mark.parametrize("figure", BOOK, ids=lambda figure: figure.label)
def test_every_figure_has_a_module_and_parameters(figure):
    assert all(hasattr(figure.module, name) for name in ("compute", "draw", "judge"))
    quick, full = (vars(read_parameters(figure.parameters, quick=quick)) for quick in (True, False))
    assert quick.keys() == full.keys()


def test_every_parameter_is_used():
    """A parameter that no code reads would say something of the figure that is not so."""
    code = (
        "".join(path.read_text() for path in Path(str(FIGURES)).glob("*.py"))
        + (resources.files("flowlimit.paper") / "setting.py").read_text()
    )
    for path in Path(str(FIGURES)).glob("*.toml"):
        for part in ("stated", "chosen"):
            for name in tomllib.loads(path.read_text()).get(part, {}):
                group = re.fullmatch(r"(large|small|middle)(_times)?", name)
                assert group or f"p.{name}" in code or f"own.{name}" in code, (path.name, name)


def test_a_verdict_judges():
    good = Verdict("fig:a", "claim", "number", 1.0, 2.0)
    assert good.holds
    assert not Verdict("fig:a", "claim", "number", 1.0, 2.0, "above").holds
    assert not Verdict("fig:a", "claim", "number", float("nan"), 2.0).holds
    assert str(good) == "number: 1 (needs <= 2)"


def test_the_bound_of_deviations_is_rarely_passed_by_chance():
    """2000 panels of 20 points from 10 trials each: 2 false alarms expected, 12 would be 7 standard errors."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2000, 20, 10))
    off = values.mean(axis=-1) / (values.std(axis=-1, ddof=1) / np.sqrt(10))
    wrong = sum(not judge_deviations("p", "c", "w", own, 10).holds for own in off)
    assert wrong < 12
    assert not judge_deviations("p", "c", "w", np.array([0.0, 50.0]), 10).holds


def _decay(gamma, power, scale=1.0):
    rate = SimpleNamespace(gamma=gamma)
    times = np.geomspace(0.01, 4.0 / gamma, 200)
    value = times**power * np.exp(-2.0 * gamma * times) * (1.0 + 0.1 / (gamma * times))
    line = Line(times, value, 1e-4 * value)
    return rates.Decay(scale, rate, times, np.stack([value, 1.1 * value]), line, line)


def test_late_curves_are_judged_by_their_rate_and_power():
    right = rates.judge_late("fig:a", [_decay(0.1, -1.5)])
    assert [verdict.holds for verdict in right] == [True, True]
    wrong = rates.judge_late("fig:a", [_decay(0.1, -1.5)._replace(rate=SimpleNamespace(gamma=0.12))])
    assert not wrong[0].holds
    assert not rates.judge_late("fig:a", [_decay(0.1, -0.5)])[1].holds


def test_the_order_of_starts_is_judged_by_their_times():
    rng, times = np.random.default_rng(0), np.linspace(0.0, 80.0, 400)
    gammas = [gamma * (1.0 + 0.1 * rng.normal(size=(10, 1))) for gamma in (0.1, 0.2)]
    slow, fast = (_decay(0.1, -1.5)._replace(times=times, trials=np.exp(-own * times)) for own in gammas)
    np.testing.assert_allclose(slow.ended, np.log(1e3) / gammas[0][:, 0], rtol=1e-6)
    assert rates.judge_order("fig:a", [slow, fast]).holds
    assert not rates.judge_order("fig:a", [fast, slow]).holds


def test_curves_that_do_not_fall_together_are_told():
    from flowlimit.paper.figures.stories import Stories, Story, log_clock, plain_clock

    times = np.linspace(0.0, 60.0, 600)

    def story(scale):
        line = Line(times, np.exp(-((times / abs(np.log(scale)) / 4.0) ** 4)), 0.01 * np.ones(600))
        return Story(scale, times, {"train_error": line}, {"train_error": line}, None, 0.0)

    stories = Stories("small", [story(scale) for scale in (0.1, 0.01, 0.001)], 10)
    assert phases.judge_collapse("fig:a", stories, "train_error", log_clock, (1.0, 8.0)).holds
    assert not phases.judge_collapse("fig:a", stories, "train_error", plain_clock, (1.0, 50.0)).holds


@pytest.mark.slow
def test_one_figure_and_its_summary(tmp_path):
    """The figure of theory alone: pictures, verdicts and the summary are written, and the next call reads them."""
    (entry,) = reproduce(["fig:convergencerate_theory"], out=tmp_path, quick=True)
    assert entry.holds
    assert (tmp_path / entry.file).stat().st_size > 10_000
    assert (tmp_path / entry.file).with_suffix(".pdf").exists()
    known = fl.convergence_rate(fl.DiagonalLinear(0.03), fl.Regression(2.0, noise_var=0.01, target=fl.Bernoulli(0.1)))
    figure = find("fig:convergencerate_theory")
    data = figure.module.compute(figure.label, Lab(tmp_path, True), read_parameters("rates", quick=True))
    assert data.gamma[2.0][0] == pytest.approx(float(known.gamma), rel=1e-9)
    (row,) = json.loads((tmp_path / "summary.json").read_text())["rows"]
    assert row["holds"] is True
    assert row["command"] == "flowlimit paper fig:convergencerate_theory --quick"


def test_a_claim_that_fails_stands_in_the_summary(tmp_path):
    bad = Verdict("fig:a", "a claim", "a number", 3.0, 2.0, note="and why")
    write_summary(tmp_path, [Entry("fig:a", "shows", "a.png", [bad], 1.0, True)])
    assert "**does not hold**: and why" in (tmp_path / "summary.md").read_text()
