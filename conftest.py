"""What pytest leaves unread; here, since a conftest.py decides only for its own folder and src/ has examples too."""

SLOW_FOLDERS = ("cluster", "browser", "explorer")


def pytest_ignore_collect(collection_path, config):
    """Import nothing of what starts clusters and browsers, seconds each, only to leave its tests out as slow."""
    asked = any(folder in argument for argument in config.args for folder in SLOW_FOLDERS)
    if config.option.markexpr == "not slow" and not asked and collection_path.name in SLOW_FOLDERS:
        return True
    return None


# --doctest-modules would import every conftest.py under the same name
collect_ignore_glob = ["conftest.py", "*/conftest.py"]
