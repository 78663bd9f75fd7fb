"""The host's part of a solve: its plan, its pilot, its replicas, their error bars, and what to do next."""
