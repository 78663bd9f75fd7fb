"""Pictures as plain Plotly dictionaries, in light or dark."""

from typing import Any, NamedTuple

import numpy as np

from ..results import Curve, Limit, Runs
from .answers import Found, Theory
from .inputs import Inputs

Picture = dict[str, Any]
COLOURS = {"train_error": "#0072B2", "test_error": "#D55E00"}
WORDS = {"train_error": "training error", "test_error": "test error"}
SHADES = ("rgba(0,114,178,0.10)", "rgba(230,159,0,0.14)")
BINS = 50
SQUARES = 48
"""Squares along a side of a heat map, about."""
MARKERS = 24
LATE = 0.3
"""Part of the time after which the slope of theory is drawn."""


class Look(NamedTuple):
    """Colours of a theme."""

    text: str
    grid: str
    back: str


LOOKS = {"default": Look("#222222", "#dddddd", "#ffffff"), "dark": Look("#e8e8e8", "#444444", "#181818")}


def empty(look: Look, words: str) -> Picture:
    """Return a picture that says why it is empty."""
    layout = _layout(look, "", "")
    layout |= {
        "annotations": [{"text": words, "showarrow": False, "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}]
    }
    return {"data": [], "layout": layout}


def errors(look: Look, inputs: Inputs, found: Found) -> Picture:
    """Draw both errors: the limit in its band, runs as points, the end as a dashed line, phases shaded and named."""
    data: list[Picture] = []
    limit, runs, theory = found.limit, found.runs, found.theory
    for name, colour in COLOURS.items():
        if limit is not None and len(limit.times):
            data += _band(limit.times, limit[name], colour, WORDS[name])
        if runs is not None and len(runs.times):
            data.append(_points(runs, name, colour))
    layout = _layout(look, "time t", "error", log_x=True)
    layout["yaxis"] |= {"rangemode": "tozero"}
    first = _first_time(limit, inputs)
    layout["xaxis"] |= {"range": [float(np.log10(first)), float(np.log10(inputs.horizon))]}
    layout["shapes"], layout["annotations"] = _phases(look, inputs, theory, first)
    layout["shapes"] += _ends(theory)
    return {"data": data, "layout": layout}


def decay(look: Look, found: Found) -> Picture:
    """Draw the training error less its end, with the slope of theory where there is one."""
    limit, theory = found.limit, found.theory
    if limit is None or not len(limit.times) or theory.point is None:
        return empty(look, "no closed form for this problem")
    left = np.abs(limit.train_error - float(theory.point.train_error))
    shown = (limit.times > 0.0) & (left > limit.train_error_stderr)
    data = [_line(limit.times[shown], left[shown], COLOURS["train_error"], "training error less its end")]
    if theory.rate is not None and shown.any():
        gamma, power = float(theory.rate.train_rate) / 2.0, theory.rate.power
        times = limit.times[shown]
        late = times[times > LATE * times[-1]]
        slope = (late / late[-1]) ** power * np.exp(-2.0 * gamma * (late - late[-1])) * left[shown][-1]
        words = f"t^-3/2 exp(-2γt), γ = {gamma:.3g}" if gamma > 0.0 else f"t^{power:g}"
        data.append(_line(late, slope, look.text, words, dash="dash"))
    layout = _layout(look, "time t", "training error less its end", log_x=True, log_y=True)
    return {"data": data, "layout": layout}


def law(look: Look, time: float, found: Found) -> Picture:
    """Draw the law of w(t): the limit's paths as a line, runs as bars, the density at the end as a dashed line."""
    limit, runs, theory = found.limit, found.runs, found.theory
    if limit is None or limit.paths is None:
        return empty(look, "the limit is being solved")
    w = limit.paths.weights_at(min(time, float(limit.times[-1])))
    bins = np.linspace(min(-0.3, float(w.min())), max(1.2, float(w.max())), BINS + 1)
    middle, width = (bins[1:] + bins[:-1]) / 2.0, float(bins[1] - bins[0])
    height = np.histogram(w, bins=bins, weights=limit.paths.probability)[0] / width
    data: list[Picture] = []
    if runs is not None and runs.weights is not None and runs.weights_times is not None and len(runs.weights_times):
        own = runs.weights[:, int(np.abs(runs.weights_times - time).argmin())].ravel()
        bars = np.histogram(own, bins=bins)[0] / len(own) / width
        data.append(
            {"type": "bar", "x": middle, "y": bars, "width": width, "name": "runs", "marker": {"color": "#9aa0a6"}}
        )
    data.append(_line(middle, np.where(height > 0.0, height, np.nan), look.text, f"limit, t = {time:.3g}", shape="hvh"))
    if theory.point is not None and theory.point.case != "threshold":
        at = np.linspace(bins[0], bins[-1], 400)
        data.append(
            _line(at, np.asarray(theory.point.density(at)), COLOURS["test_error"], "density at the end", dash="dash")
        )
    layout = _layout(look, "weight w(t)", "density", log_y=True)
    layout["yaxis"] |= {"range": [-2.5, 2.0]}
    return {"data": data, "layout": layout}


def kernels(look: Look, limit: Limit | None) -> Picture:
    """Draw C_w and R_w as heat maps over two times."""
    if limit is None or limit.kernels is None:
        return empty(look, "the limit is being solved")
    times = limit.kernels.times
    after = np.flatnonzero(times > 0.0)[:: max(1, len(times) // SQUARES)]
    data, x = [], np.log10(times[after])
    for place, name in enumerate(("C_w", "R_w")):
        values = getattr(limit.kernels, name)[np.ix_(after, after)].copy()
        if name == "R_w":
            values[np.triu_indices(len(values), 1)] = np.nan
        bar = {"x": 0.44 if place == 0 else 1.0, "len": 0.9, "thickness": 10}
        axes = {"xaxis": "x" if place == 0 else "x2", "yaxis": "y" if place == 0 else "y2"}
        data.append({"type": "heatmap", "x": x, "y": x, "z": values, "colorscale": "Viridis", "colorbar": bar, **axes})
    layout = _layout(look, "log10 s", "log10 t")
    layout["xaxis"] |= {"domain": [0.0, 0.42]}
    layout["xaxis2"] = layout["xaxis"] | {"domain": [0.56, 0.98], "anchor": "y2"}
    layout["yaxis2"] = layout["yaxis"] | {"anchor": "x2", "title": {"text": ""}}
    titles = (("C_w(t, s)", 0.18), ("R_w(t, s)", 0.78))
    layout["annotations"] = [
        {"text": words, "x": x0, "y": 1.08, "xref": "paper", "yref": "paper", "showarrow": False}
        for words, x0 in titles
    ]
    return {"data": data, "layout": layout}


def trade_off(look: Look, inputs: Inputs, found: Found) -> Picture:
    """Draw the test error at the end against the rate over init scales, with the current point."""
    known, theory = found.trade_off, found.theory
    if known is None:
        return empty(look, "no rate at this aspect ratio")
    text = [f"α = {scale:.3g}" for scale in known.scales]
    line = _line(known.gamma, known.test_error, look.text, "over init scales, λ = 0")
    data = [line | {"mode": "lines+markers", "text": text, "marker": {"size": 4}}]
    if theory.rate is not None and theory.rate.kind == "exponential":
        here = {"x": [float(theory.rate.gamma)], "y": [float(theory.rate.point.test_error)]}
        marker = {"size": 12, "color": COLOURS["test_error"]}
        data.append(
            {"type": "scatter", "mode": "markers", "name": f"α = {inputs.init_scale:.3g}", "marker": marker} | here
        )
    return {"data": data, "layout": _layout(look, "rate γ", "test error at the end", log_x=True)}


def _layout(look: Look, x: str, y: str, *, log_x: bool = False, log_y: bool = False) -> Picture:
    axis = lambda words, log: {
        "title": {"text": words},
        "type": "log" if log else "linear",
        "gridcolor": look.grid,
        "zeroline": False,
        "exponentformat": "power",
    }
    return {
        "xaxis": axis(x, log_x),
        "yaxis": axis(y, log_y),
        "paper_bgcolor": look.back,
        "plot_bgcolor": look.back,
        "font": {"color": look.text, "size": 12},
        "margin": {"l": 60, "r": 15, "t": 30, "b": 45},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0.0, "font": {"size": 11}},
        "autosize": True,
    }


def _line(x: Any, y: Any, colour: str, words: str, *, dash: str = "solid", shape: str = "linear") -> Picture:
    style = {"color": colour, "dash": dash, "shape": shape, "width": 2}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": words, "line": style}


def _band(times: Any, curve: Curve, colour: str, words: str) -> list[Picture]:
    low, high = curve.value - 2.0 * curve.stderr, curve.value + 2.0 * curve.stderr
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    edge = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    fill = {"fill": "tonexty", "fillcolor": f"rgba({red},{green},{blue},0.25)"}
    return [
        edge | {"x": times, "y": low},
        edge | fill | {"x": times, "y": high},
        _line(times, curve.value, colour, words),
    ]


def _points(runs: Runs, name: str, colour: str) -> Picture:
    curve, times = runs[name], runs.times
    wanted = np.geomspace(max(float(times[-1]) * 1e-3, 1e-9), float(times[-1]), MARKERS)
    some = np.unique(np.abs(times[None] - wanted[:, None]).argmin(axis=1))
    bars = {"type": "data", "array": curve.stderr[some], "width": 0, "thickness": 1}
    marker = {"color": colour, "size": 5, "symbol": "circle-open"}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": times[some],
        "y": curve.value[some],
        "error_y": bars,
        "marker": marker,
        "name": f"{WORDS[name]}, runs",
        "showlegend": name == "test_error",
    }


def _first_time(limit: Limit | None, inputs: Inputs) -> float:
    known = limit.times[limit.times > 0.0] if limit is not None else np.zeros(0)
    return max(float(known[0]), 1e-4 * inputs.horizon) if len(known) else 1e-3 * inputs.horizon


def _ends(theory: Theory) -> list[Picture]:
    if theory.point is None:
        return []
    lines = []
    for name, colour in COLOURS.items():
        level = float(getattr(theory.point, name))
        line = {"color": colour, "width": 1, "dash": "dash"}
        lines.append({"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": level, "y1": level, "line": line})
    return lines


def _phases(look: Look, inputs: Inputs, theory: Theory, first: float) -> tuple[list[Picture], list[Picture]]:
    """Return shades and names of the phases that theory predicts within the picture."""
    if theory.times is None:
        return [], []
    large = theory.times.regime == "large"
    turn = float(theory.times.rich_sharp if large else theory.times.search)
    names = ("lazy", "rich") if large else ("search", "descent")
    last = inputs.horizon
    if not first < turn < last:
        return [], []
    shapes, words = [], []
    for place, (start, stop) in enumerate(((first, turn), (turn, last))):
        box = {"type": "rect", "yref": "paper", "x0": start, "x1": stop, "y0": 0, "y1": 1, "line": {"width": 0}}
        shapes.append(box | {"fillcolor": SHADES[place], "layer": "below"})
        middle = float(np.log10(np.sqrt(start * stop)))
        words.append({"text": names[place], "x": middle, "y": 0.98, "yref": "paper", "showarrow": False})
    return shapes, words
