"""Numbers of the command line: what is written is what is taken."""

import numpy as np
import pytest

from flowlimit.cli.axes import parse_axes, parse_axis


def test_small_numbers_are_not_rounded_to_0():
    _, values = parse_axis("a.b=log:1e-16:1e-13:4")
    np.testing.assert_allclose(values, [1e-16, 1e-15, 1e-14, 1e-13], rtol=1e-14)
    assert parse_axis("a.b=log:1e-20:1:21")[1][0] == 1e-20


def test_values_are_round():
    assert parse_axis("a.b=lin:0.1:0.5:5")[1] == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert parse_axis("a.b=lin:-0.3:0.3:7")[1] == [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]
    assert parse_axis("a.b=log:10:0.1:3")[1] == [10.0, 1.0, 0.1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.b=1,nan", "nan is not finite"),
        ("a.b=inf", "inf is not finite"),
        ("a.b=1e400", "1e400 is not finite"),
        ("a.b=lin:0:inf:3", "inf is not finite"),
        ("a.b=1e-400", "too small for double precision"),
        ("a.b=1e-320", "too small for double precision"),
        ("a.b=", "needs an address and finite numbers"),
        ("=1", "needs an address and finite numbers"),
        ("a.b", "needs an address and finite numbers"),
        ("a.b=1,,2", "needs an address and finite numbers"),
        ("a.b=lin:0:1", "needs an address and finite numbers"),
        ("a.b=log:0:1:3", "a log axis is above 0"),
        ("a.b=lin:0:1:0", r"a count from 2 to 1e\+07"),
        ("a.b=lin:0:1:1", r"a count from 2 to 1e\+07"),
        ("a.b=lin:0:1:100000000000", r"a count from 2 to 1e\+07"),
        ("key=9007199254740993", r"integers above 2\^53 are rounded"),
        ("key=1" + 400 * "0", r"integers above 2\^53 are rounded"),
        ("a.b=1,2,1.0", "given 1 twice"),
    ],
)
def test_refusals(text, message):
    with pytest.raises(ValueError, match=message):
        parse_axis(text)


def test_integers_that_double_precision_holds():
    assert parse_axis("key=9007199254740992") == ("key", [2**53])


def test_an_axis_stands_once():
    with pytest.raises(ValueError, match=r"--over a\.b: given twice"):
        parse_axes(["a.b=1,2", "a.b=3"])
    with pytest.raises(ValueError, match=r"given 1e\+08 points"):
        parse_axes(["a.b=lin:0:1:10000", "a.c=lin:0:1:10000"])
