"""Excludes columns from the value index by their names.

The default list contains what should not get into a prompt: credentials, and the numbers and
addresses that identify a person. It checks only names: a column ``note`` that contains passwords is
read, unless the settings skip it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from nl2sql.words import split_words

# A column is private if its name contains all words of one of these, next to one another.
_PRIVATE = tuple(
    tuple(words.split("_"))
    for words in (
        "password passwd pwd passphrase pin secret token hash salt credential api_key apikey "
        "access_key private_key public_key cookie otp iban bic swift bank_account ssn sin nino "
        "social_security national_id passport driver_license driving_license tax_id tax_no tax_nr "
        "tax_number vat_id vat_no vat_nr vat_number email e_mail mail phone telephone tel mobile "
        "cellphone fax credit_card card_no card_nr card_number cvv cvc ip_address mac_address "
        "user_agent signature fingerprint"
    ).split()
)
# An account number is private in a table of bank accounts, but not in a ledger.
_BANK_NUMBERS = frozenset(("number", "no", "nr", "num"))


def find_objection(qualified: str, column: str, skip: Sequence[str]) -> str:
    """Why the column ``schema.table.column`` may not be read; empty if it may.

    >>> find_objection("hr.employees.iban", "iban", ())
    'looks private'
    >>> find_objection("crm.customers.city", "city", ("*.customers.*",))
    'skipped by the settings'
    """
    folded = qualified.lower()
    if any(fnmatchcase(folded, pattern.lower()) for pattern in skip):
        return "skipped by the settings"
    words = tuple(split_words(column))
    if words and words[-1] in _BANK_NUMBERS and "bank" in split_words(qualified):
        return "looks private"
    for private in _PRIVATE:
        length = len(private)
        if any(words[at : at + length] == private for at in range(len(words) - length + 1)):
            return "looks private"
    return ""
