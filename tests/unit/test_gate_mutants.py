"""The tests of the gate pin every one of its conditions."""

from tests import mutate_gate


def test_removing_any_single_condition_of_the_gate_fails_a_test() -> None:
    survivors, count = mutate_gate.survivors()
    assert [str(mutant) for mutant in survivors] == []
    assert count > 150
