"""Helpers of the tests: real repositories, small and quick to build."""
