"""Generates large schemas for measurements: an ERP's tables in modules, and questions about them.

The same ``(tables, seed)`` always gives the same catalog. Each module is a schema, one business
area at one site; it has subjects (``invoice``), tables about their aspects (``invoice_line``) and
foreign keys from aspect to subject, between subjects, and from some to a subject of another module.
A third of the modules abbreviates names (``inv_ln``), a third writes them as ``InvoiceLine``; a
third of the tables and a tenth of the columns have a comment.

It is easier than a real ERP: a question names area, site, subject and aspect in full words.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from nl2sql.catalog import Catalog, Column, ForeignKey, Table

DATABASE = "generated"

_AREAS = (
    "finance purchasing sales inventory manufacturing payroll recruiting quality logistics "
    "maintenance projects support marketing treasury taxes assets budgeting planning fleet legal "
    "safety training billing warranty"
).split()
_SITES = (
    "oslo lisbon turin leeds lyon ghent bonn graz porto malmo cork bergen dresden nantes seville "
    "krakow brno riga tartu vilnius zagreb split sofia varna patras izmir haifa cairo tunis rabat "
    "dakar accra lagos nairobi kigali durban pune surat jaipur kandy dhaka hanoi cebu osaka kobe "
    "busan taipei perth hobart dunedin suva lima quito cali bogota recife natal salta merida boise "
    "tulsa fresno halifax regina"
).split()
_SUBJECTS = (
    "invoice order shipment payment receipt item supplier customer employee contract account "
    "ledger journal batch warehouse bin machine tool shift route vehicle driver claim inspection "
    "defect audit policy permit course candidate vacancy campaign lead ticket visit project task "
    "milestone budget forecast asset lease loan deposit refund discount tariff price quote bid "
    "tender delivery pallet container carrier dock recipe formula sample meter reading"
).split()
_ASPECTS = (
    "line,status history,type,approval,attachment,note,allocation,schedule,adjustment,reason,"
    "assignment,change log,tax,address,contact,summary,reconciliation,transfer,limit,exception,"
    "template,document,group,archive"
).split(",")
_FIELDS = (
    "amount numeric(14,2);quantity numeric(12,3);currency code char(3);created at timestamp;"
    "updated at timestamp;created by text;status text;description text;reference number text;"
    "start date date;end date date;due date date;unit price numeric(12,4);discount rate numeric;"
    "tax amount numeric(14,2);net weight numeric;gross weight numeric;priority integer;"
    "is active boolean;is deleted boolean;cost center text;profit center text;posting date date;"
    "fiscal period integer;exchange rate numeric;external code text;remark text;version integer;"
    "source system text;region text;country text;city text;postal code text;email text;phone text;"
    "first name text;last name text;full name text;short name text;serial number text;"
    "batch number text;lot number text;unit of measure text;minimum stock numeric;"
    "maximum stock numeric;lead time days integer;approved by text;approved at timestamp;"
    "cancelled at timestamp;completion percent numeric;planned hours numeric;actual hours numeric;"
    "hourly rate numeric;balance numeric(14,2);opening balance numeric(14,2);"
    "closing balance numeric(14,2);payment terms text;delivery terms text;category text;"
    "subcategory text;color text;material text;length numeric;width numeric;height numeric"
).split(";")
_SHORT = {
    "invoice": "inv", "order": "ord", "shipment": "shp", "payment": "pmt", "receipt": "rcpt",
    "item": "itm", "supplier": "supp", "customer": "cust", "employee": "emp", "contract": "ctr",
    "account": "acct", "warehouse": "whse", "machine": "mach", "inspection": "insp",
    "project": "proj", "budget": "bdgt", "delivery": "dlv", "container": "cont", "line": "ln",
    "status": "stat", "history": "hist", "type": "typ", "approval": "appr", "attachment": "att",
    "allocation": "alloc", "schedule": "sched", "adjustment": "adj", "assignment": "asgn",
    "address": "addr", "summary": "summ", "reconciliation": "recon", "transfer": "xfer",
    "template": "tmpl", "document": "doc", "group": "grp", "archive": "arch", "amount": "amt",
    "quantity": "qty", "currency": "curr", "code": "cd", "created": "crt", "updated": "upd",
    "description": "descr", "reference": "ref", "number": "no", "date": "dt", "discount": "disc",
    "weight": "wt", "exchange": "exch", "version": "vers", "approved": "appr", "balance": "bal",
}  # fmt: skip
_LARGEST_MODULE = 113  # as in a 2,377-table ERP of 21 schemas
_ASPECTS_A_SUBJECT = 5
_COLUMNS = (6, 22)


@dataclass(frozen=True, slots=True)
class TargetQuestion:
    """A question and the tables (``schema.table``) that its answer needs."""

    text: str
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """The topic of a table in words; ``aspect`` is empty for the subject's own table."""

    area: str
    site: str
    subject: str
    aspect: str

    @property
    def words(self) -> str:
        return f"{self.subject} {self.aspect}".strip()


@dataclass(frozen=True, slots=True)
class GeneratedCatalog:
    """A catalog, and the topics of its tables in the catalog's order."""

    catalog: Catalog
    places: tuple[_Place, ...]

    def draw_questions(self, count: int, *, seed: int = 0) -> tuple[TargetQuestion, ...]:
        """``count`` questions about one table each, half of them also about one that refers to it.

        Tables are drawn with replacement, reproducibly for a seed.
        """
        chance = random.Random(f"questions {seed}")
        tables = self.catalog.tables
        places = {table.qualified: place for table, place in zip(tables, self.places, strict=True)}
        inside = [
            key
            for key in self.catalog.foreign_keys
            if places[key.table].site == places[key.target].site and key.table != key.target
        ]
        questions = []
        for at in range(count):
            if inside and at % 2:
                key = chance.choice(inside)
                questions.append(_ask((key.table, key.target), places))
            else:
                questions.append(_ask((chance.choice(tables).qualified,), places))
        return tuple(questions)


def generate_catalog(tables: int, *, seed: int = 0) -> GeneratedCatalog:
    """A catalog of exactly ``tables`` tables, 1 to 150,000, of 6 to 22 columns and their keys."""
    chance = random.Random(f"catalog {seed}")
    size = max(12, min(_LARGEST_MODULE, round(2 * tables**0.5)))
    modules = [(area, site) for site in _SITES for area in _AREAS][: -(-tables // size)]
    pool: dict[tuple[str, str, str], Column] = {}
    made: list[Table] = []
    places: list[_Place] = []
    keys: list[ForeignKey] = []
    masters: list[Table] = []
    for number, (area, site) in enumerate(modules):
        style = chance.randrange(3)
        wanted = min(size, tables - len(made))
        inside: dict[str, Table] = {}
        for place in _draw_places(chance, area, site, wanted):
            targets = _draw_targets(chance, place, inside, masters)
            table, own = _build_table(chance, pool, place, style, targets)
            if not place.aspect:
                inside[place.subject] = table
            made.append(table)
            places.append(place)
            keys += own
        if number % 5 == 0:
            masters += list(inside.values())[:2]
    catalog = Catalog(
        DATABASE,
        tuple(made),
        tuple(keys),
        search_path=tuple(f"{area}_{site}" for area, site in modules),
    )
    return GeneratedCatalog(catalog, tuple(places))


def _draw_places(chance: random.Random, area: str, site: str, count: int) -> list[_Place]:
    """Subjects in random order, each followed by tables about some of its aspects."""
    places: list[_Place] = []
    for subject in chance.sample(_SUBJECTS, len(_SUBJECTS)):
        aspects = chance.sample(_ASPECTS, _ASPECTS_A_SUBJECT)
        places += [_Place(area, site, subject, aspect) for aspect in ("", *aspects)]
        if len(places) >= count:
            break
    return places[:count]


def _draw_targets(
    chance: random.Random, place: _Place, inside: dict[str, Table], masters: Sequence[Table]
) -> list[Table]:
    """The tables that it refers to: its subject, up to two others of the module, or a master."""
    targets = [inside[place.subject]] if place.aspect else []
    others = [table for subject, table in inside.items() if subject != place.subject]
    targets += chance.sample(others, min(len(others), chance.randrange(3)))
    if masters and chance.random() < 0.1:
        targets.append(chance.choice(masters))
    return targets


def _build_table(
    chance: random.Random,
    pool: dict[tuple[str, str, str], Column],
    place: _Place,
    style: int,
    targets: Sequence[Table],
) -> tuple[Table, list[ForeignKey]]:
    def column(name: str, kind: str, comment: str = "") -> Column:
        # Shared: a million columns have a few thousand different texts.
        return pool.setdefault((name, kind, comment), Column(name, kind, True, comment))

    schema, name = f"{place.area}_{place.site}", _write(place.words, style)
    key = column(_write(f"{place.subject} id", style), "bigint")
    columns = {key.name: key}
    foreign: list[ForeignKey] = []
    for target in targets:
        at = _write(f"{_read(target.name)} id", style)
        if at in columns:
            at = _write(f"parent {_read(target.name)} id", style)
        if at in columns:
            continue
        columns[at] = column(at, "bigint")
        foreign.append(
            ForeignKey(
                f"{name}_{at}_fkey",
                f"{schema}.{name}",
                (at,),
                target.qualified,
                target.primary_key,
            )
        )
    for field in chance.sample(_FIELDS, chance.randint(*_COLUMNS)):
        words, _, kind = field.rpartition(" ")
        comment = f"{words} of the {place.subject}" if chance.random() < 0.1 else ""
        written = _write(words, style)
        columns.setdefault(written, column(written, kind, comment))
    comment = f"{place.words} of {place.area} in {place.site}" if chance.random() < 0.33 else ""
    return Table(schema, name, tuple(columns.values()), (key.name,), comment), foreign


def _write(words: str, style: int) -> str:
    """Words as a name in one of three styles.

    >>> [_write("invoice status history", style) for style in range(3)]
    ['invoice_status_history', 'inv_stat_hist', 'InvoiceStatusHistory']
    """
    parts = words.split()
    if style == 2:
        return "".join(part.capitalize() for part in parts)
    return "_".join(_SHORT.get(part, part) if style else part for part in parts)


def _read(name: str) -> str:
    """A name of any style as words; abbreviations are kept.

    >>> _read("InvoiceLine"), _read("inv_ln")
    ('invoice line', 'inv ln')
    """
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    return spaced.replace("_", " ").strip()


def _ask(names: tuple[str, ...], places: dict[str, _Place]) -> TargetQuestion:
    first = places[names[0]]
    text = f"How many {first.words} records are there in {first.area} at {first.site}"
    if len(names) > 1:
        text += f" for each {places[names[1]].words}"
    return TargetQuestion(f"{text}?", names)
