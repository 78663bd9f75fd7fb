"""Where the explorer listens: which addresses others reach, and the names that go with them."""

import pytest

from flowlimit.explorer.place import checked_names, find_place


@pytest.mark.parametrize(
    ("address", "is_open", "name"),
    [("127.0.0.1", False, "127.0.0.1"), ("127.1", False, "127.1"), ("localhost", False, "localhost")],
)
def test_loopback_is_closed_to_others(address, is_open, name):
    place = find_place(address, 0)
    assert (place.is_open, place.name) == (is_open, name)
    assert {"localhost", "127.0.0.1", "[::1]", name} <= place.names


@pytest.mark.parametrize("address", ["0.0.0.0", "0", "::"])
def test_all_addresses_are_open_to_others(address, monkeypatch):
    """Nothing listens here: an address is tried, and let go."""
    monkeypatch.setattr("socket.gethostname", lambda: "Machine.example")
    try:
        place = find_place(address, 0)
    except ValueError:
        pytest.skip("this machine has no such address")
    assert place.is_open
    assert place.name == "machine.example"


def test_names_are_as_browsers_send_them():
    assert checked_names(["Ours.Example", "10.0.0.7", "::1", "[::1]"]) == {"ours.example", "10.0.0.7", "[::1]"}
    for wrong in ("", "*", "a b", "http://a", "a:80", "-a"):
        with pytest.raises(ValueError, match="--allow-host: given"):
            checked_names([wrong])
