"""The `flowlimit` command. Modules here import jax only inside the verbs, so that --help is quick."""
