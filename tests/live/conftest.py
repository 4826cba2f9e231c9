"""What tests on the real API share with whole-flow tests."""

from tests.e2e.conftest import prefect as prefect  # the fixture
