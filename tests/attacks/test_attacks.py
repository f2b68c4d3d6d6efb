"""Each attack, shown to work without the guard and to fail with it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from nl2sql.types import Diagnostic, ResultSet, Violation
from tests.attacks.arenas import Arena
from tests.attacks.attack import HARMLESS, QUERY_CANCELED, Attack, equal_rows
from tests.attacks.guarded import GuardedWay
from tests.attacks.scratch import PRINCIPALS, WITHHELD
from tests.attacks.table import ATTACKS

# Two groups of all engines are enough for `make test`: the other groups' claims are made there by
# the rules' own tests, and by what is refused without a policy (test_refusals.py).
QUICK_GROUPS = ("scopes", "statements")


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(
            attack, id=attack.id, marks=[] if attack.group in QUICK_GROUPS else pytest.mark.long
        )
        for attack in ATTACKS
    ],
)
def test_an_attack_works_without_the_guard_and_fails_with_it(
    attack: Attack, arenas: Mapping[str, Arena], guarded: Mapping[str, GuardedWay]
) -> None:
    outcome = arenas[attack.engine].run(attack)
    assert attack.works.holds(outcome), outcome

    way = guarded[attack.engine]
    query = way.guard(attack.sql, PRINCIPALS[attack.role])
    if isinstance(query, Violation):
        assert query.code == attack.refused_as, query
        return
    result = way.execute(query, hasty=attack.refused_as == QUERY_CANCELED)
    if isinstance(result, Diagnostic):
        assert result.sqlstate == attack.refused_as, (result, query.sql)
        told = f"{result.message} {result.hint}"
        assert not [text for text in WITHHELD if text in told], told
        return
    assert isinstance(result, ResultSet)
    assert attack.refused_as == HARMLESS, (result.rows, query.sql)
    assert attack.yields is not None
    assert equal_rows(result.rows, attack.yields), (result.rows, query.sql)
