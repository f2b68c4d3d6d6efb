"""Module crm: countries, customers, contacts, campaigns, opportunities and interactions."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from data.demo_erp.rows.base import (
    START,
    TODAY,
    Row,
    TableRows,
    day_between,
    maybe,
    money,
    rows_of,
    working_hour,
)
from data.demo_erp.rows.hr import Hr
from data.demo_erp.rows.names import COUNTRIES, SHOP_FORMS, STREETS, person, plain


class Customer(NamedTuple):
    """A row of crm.customers."""

    customer_id: int
    legacy_no: str | None
    name: str
    parent_customer_id: int | None
    segment_code: str
    type: str
    region_id: int
    country_code: str
    account_manager_id: int | None
    term_code: str
    credit_limit: Decimal | None
    status: str
    created_dt: date


class Opportunity(NamedTuple):
    """A row of crm.opportunities."""

    opportunity_id: int
    customer_id: int
    owner_id: int | None
    campaign_id: int | None
    title: str
    stage: str
    amt: Decimal
    probability_pct: int
    created_dt: date
    expected_close_dt: date
    closed_dt: date | None
    lost_reason: str | None


@dataclass(frozen=True, slots=True)
class Crm:
    """The module's tables and the records other modules refer to.

    ``addresses`` and ``contacts`` hold keys by customer; the first address is the head office.
    ``weights`` say how much each customer buys, by position in ``customers``.
    """

    tables: tuple[TableRows, ...]
    customers: tuple[Customer, ...]
    weights: tuple[float, ...]
    addresses: dict[int, list[int]]
    contacts: dict[int, list[int]]
    opportunities: tuple[Opportunity, ...]


SEGMENTS = (
    ("DEA", "Specialist dealer", Decimal("18.00")),
    ("CHN", "Retail chain", Decimal("26.00")),
    ("ONL", "Online shop", Decimal("22.00")),
    ("FLT", "Fleet and rental operator", Decimal("15.00")),
    ("PUB", "Public sector", Decimal("8.00")),
    ("DST", "Distributor", Decimal("32.00")),
)

CHAINS = (
    ("Pedalwerk", "DE"),
    ("Nordtrail", "SE"),
    ("Velopolis", "FR"),
    ("Twee & Co", "NL"),
    ("Ridgeway Sports", "US"),
    ("Ciclomondo", "IT"),
    ("Rent-a-Rad", "AT"),
    ("Harbour Cycles", "GB"),
)

CAMPAIGNS: tuple[tuple[str, str, str | None, int, int, int], ...] = (
    ("Spring Start {y}", "EML", None, 3, 45, 18000),
    ("Eurovelo Fair {y}", "FAIR", "DACH", 9, 5, 96000),
    ("E-Cargo for Cities {y}", "WEB", "WEU", 5, 90, 42000),
    ("Winter Workshop {y}", "EML", None, 11, 60, 9500),
    ("Dealer Days North {y}", "FAIR", "NOR", 2, 4, 38000),
    ("Trail Season {y}", "WEB", "NAM", 4, 75, 51000),
    ("Catalogue {y}", "PRT", None, 1, 30, 64000),
)

SALES_STAFF = {
    "NOR": "SAL-NOR",
    "DACH": "SAL-DACH",
    "WEU": "SAL-WEU",
    "SEU": "SAL-SEU",
    "NAM": "SAL-NAM",
    "LAM": "SAL-LAM",
    "JPK": "SAL-JPK",
    "ANZ": "SAL-ANZ",
}


def build_crm(rng: random.Random, hr: Hr) -> Crm:
    """Return the module crm."""
    countries = [(c, n, hr.region_id(r), cur) for c, n, r, cur, _ in COUNTRIES]
    customers, weights = _customers(rng, hr)
    address_table, addresses = _addresses(rng, customers)
    contact_table, contacts = _contacts(rng, customers)
    campaign_tables, campaigns = _campaigns(rng, hr, customers, contacts)
    opportunities = _opportunities(rng, hr, customers, weights, campaigns)
    tables = (
        rows_of("crm.countries", "country_code name region_id currency_code", countries),
        rows_of("crm.customer_segments", "segment_code name discount_pct", SEGMENTS),
        TableRows("crm.customers", Customer._fields, customers),
        address_table,
        contact_table,
        *campaign_tables,
        TableRows("crm.opportunities", Opportunity._fields, opportunities),
        _interactions(rng, hr, customers, weights, contacts),
    )
    return Crm(tables, tuple(customers), tuple(weights), addresses, contacts, tuple(opportunities))


def region_codes(hr: Hr) -> dict[int, str]:
    """Return the code of each region by its key."""
    return {r.region_id: r.code for r in hr.regions}


def _customers(rng: random.Random, hr: Hr) -> tuple[list[Customer], list[float]]:
    by_code = {c[0]: c for c in COUNTRIES}
    plan: list[tuple[str, str, str, str | None]] = []  # name, country, segment, chain
    for chain, country in CHAINS:
        segment = "FLT" if chain == "Rent-a-Rad" else "CHN"
        plan.append((f"{chain} Group", country, segment, None))
        cities = by_code[country][4].split()
        plan += [(f"{chain} {city}", country, segment, f"{chain} Group") for city in cities]
    shares = {"DE": 60, "AT": 18, "CH": 18, "NL": 30, "FR": 34, "GB": 32, "US": 42, "SE": 18}
    codes = [c for c in SHOP_FORMS if c not in ("TW", "CN")]
    names = {p[0] for p in plan}
    while len(plan) < 430:
        code = rng.choices(codes, [shares.get(c, 9) for c in codes])[0]
        city = rng.choice(by_code[code][4].split())
        _, family = person(rng, by_code[code][2])
        name = rng.choice(SHOP_FORMS[code]).format(city=city, family=family)
        if name in names:
            continue
        names.add(name)
        segment = rng.choices(("DEA", "ONL", "FLT", "PUB", "DST"), (70, 11, 9, 5, 5))[0]
        if segment == "PUB":
            name = rng.choice(("City of {c}", "{c} University", "{c} Transport Authority"))
            name = name.format(c=city)
            if name in names:
                continue
            names.add(name)
        plan.append((name, code, segment, None))
    customers: list[Customer] = []
    weights: list[float] = []
    keys: dict[str, int] = {}
    for customer_id, (name, country, segment, chain_name) in enumerate(plan, 1):
        region = by_code[country][2]
        old = rng.random() < 0.72
        first, last = (date(2009, 1, 5), date(2021, 12, 10)) if old else (START, TODAY)
        created = day_between(rng, first, last)
        status = rng.choices(("ACT", "PRO", "BLK", "INA"), (86, 5 if not old else 1, 3, 6))[0]
        agents = hr.staff(SALES_STAFF[region], day=TODAY)
        size = rng.paretovariate(1.25) * {"DST": 4.0, "CHN": 2.6, "ONL": 2.0}.get(segment, 1.0)
        if status == "PRO":
            size = 0.0
        customers.append(
            Customer(
                customer_id,
                f"K{20000 + customer_id * 11}" if old and rng.random() < 0.93 else None,
                name,
                keys.get(chain_name) if chain_name else None,
                segment,
                "D"
                if country == "DE"
                else "E"
                if region in _EU and country not in _NOT_EU
                else "X",
                hr.region_id(region),
                country,
                maybe(rng, 0.94, rng.choice(agents).employee_id),
                rng.choices(("N30", "N14", "N60", "D10", "PRE"), (50, 18, 12, 16, 4))[0],
                None if rng.random() < 0.12 else money(rng.randint(2, 40) * 5000),
                status,
                created,
            )
        )
        keys[name] = customer_id
        weights.append(min(size, 40.0) if rng.random() > 0.05 else 0.0)
    return customers, weights


_EU = ("NOR", "DACH", "WEU", "SEU")
_NOT_EU = ("NO", "CH", "GB")


def _addresses(
    rng: random.Random, customers: Sequence[Customer]
) -> tuple[TableRows, dict[int, list[int]]]:
    cities = {c[0]: c[4].split() for c in COUNTRIES}
    rows: list[Row] = []
    keys: dict[int, list[int]] = defaultdict(list)
    for customer in customers:
        home = next(
            (c for c in cities[customer.country_code] if c in customer.name),
            rng.choice(cities[customer.country_code]),
        )
        kinds = ["HQ"]
        kinds += ["BIL"] * (rng.random() < 0.3)
        kinds += ["SHP"] * rng.choice((0, 0, 1, 1, 2))
        for kind in kinds:
            away = kind == "SHP" and rng.random() < 0.5
            city = rng.choice(cities[customer.country_code]) if away else home
            street = f"{rng.choice(STREETS)} {rng.randint(1, 180)}"
            postcode = None if customer.country_code == "IE" else f"{rng.randint(10000, 98999)}"
            rows.append(
                (
                    len(rows) + 1,
                    customer.customer_id,
                    kind,
                    street,
                    city,
                    postcode,
                    customer.country_code,
                )
            )
            keys[customer.customer_id].append(len(rows))
    columns = "address_id customer_id kind street city postcode country_code"
    return rows_of("crm.customer_addresses", columns, rows), dict(keys)


def _contacts(
    rng: random.Random, customers: Sequence[Customer]
) -> tuple[TableRows, dict[int, list[int]]]:
    regions = {c[0]: c[2] for c in COUNTRIES}
    rows: list[Row] = []
    keys: dict[int, list[int]] = {}
    for customer in customers:
        keys[customer.customer_id] = []
        for _ in range(rng.choice((0, 1, 1, 2, 2, 3))):
            first, last = person(rng, regions[customer.country_code])
            domain = plain(customer.name.split()[0]) or "shop"
            email = f"{plain(first)}.{plain(last)}@{domain}.example"
            role = rng.choices(("BUY", "OWN", "TEC", "FIN"), (45, 25, 20, 10))[0]
            rows.append(
                (
                    len(rows) + 1,
                    customer.customer_id,
                    first,
                    last,
                    maybe(rng, 0.9, email),
                    role,
                    rng.random() < 0.12,
                )
            )
            keys[customer.customer_id].append(len(rows))
    columns = "contact_id customer_id first_name last_name email role_code opted_out"
    return rows_of("crm.contacts", columns, rows), keys


def _campaigns(
    rng: random.Random,
    hr: Hr,
    customers: Sequence[Customer],
    contacts: dict[int, list[int]],
) -> tuple[list[TableRows], list[tuple[int, date]]]:
    rows: list[Row] = []
    members: list[Row] = []
    starts: list[tuple[int, date]] = []
    for year in range(2022, 2026):
        for name, channel, region, month, days, budget in CAMPAIGNS:
            begin = date(year, month, rng.randint(1, 20))
            if begin > TODAY:
                continue
            end = begin + timedelta(days=days)
            key = len(rows) + 1
            region_id = hr.region_id(region) if region else None
            owner = rng.choice(hr.staff("MKT", day=begin)).employee_id
            spent = money(budget * rng.uniform(0.85, 1.3))
            last = end if end <= TODAY else None
            rows.append((key, name.format(y=year), channel, region_id, owner, begin, last, spent))
            starts.append((key, begin))
            for customer in customers:
                if region_id not in (None, customer.region_id) or customer.created_dt > begin:
                    continue
                for contact_id in contacts[customer.customer_id]:
                    if rng.random() > (0.14 if region_id is None else 0.3):
                        continue
                    response = rng.choices("NOCM", (60, 25, 11, 4))[0]
                    upto = min(end, TODAY)
                    answered = None if response == "N" else day_between(rng, begin, upto)
                    members.append((key, contact_id, response, answered))
    columns = "campaign_id name channel region_id owner_id start_dt end_dt budget_amt"
    member_columns = "campaign_id contact_id response responded_dt"
    tables = [
        rows_of("crm.campaigns", columns, rows),
        rows_of("crm.campaign_members", member_columns, members),
    ]
    return tables, starts


def _opportunities(
    rng: random.Random,
    hr: Hr,
    customers: Sequence[Customer],
    weights: Sequence[float],
    campaigns: Sequence[tuple[int, date]],
) -> list[Opportunity]:
    codes = region_codes(hr)
    topics = "Spring order|Showroom refit|E-bike fleet|Rental fleet|Framework agreement|Test bikes"
    found: list[Opportunity] = []
    for customer in rng.choices(customers, [w + 0.4 for w in weights], k=1300):
        created = day_between(rng, max(START, customer.created_dt), TODAY)
        expected = created + timedelta(days=rng.randint(20, 160))
        staff = hr.staff(SALES_STAFF[codes[customer.region_id]], day=created)
        age = (TODAY - created).days
        stage = rng.choices(("WON", "LST", "NEW"), (38, 44, 6) if age > 150 else (14, 12, 60))[0]
        closed = None
        if stage in ("WON", "LST"):
            closed = day_between(rng, created + timedelta(5), min(TODAY, expected + timedelta(40)))
            closed = min(closed, TODAY)
        elif stage == "NEW":
            stage = rng.choice(("NEW", "QUA", "PRP", "NEG"))
        chance = {"NEW": 10, "QUA": 25, "PRP": 50, "NEG": 75, "WON": 100, "LST": 0}[stage]
        recent = [k for k, begin in campaigns if 0 <= (created - begin).days < 90]
        reason = rng.choices(("PRC", "CMP", "DLY", "NOD"), (40, 25, 15, 20))[0]
        found.append(
            Opportunity(
                len(found) + 1,
                customer.customer_id,
                maybe(rng, 0.95, rng.choice(staff).employee_id),
                rng.choice(recent) if recent and rng.random() < 0.45 else None,
                f"{rng.choice(topics.split('|'))} {created.year}",
                stage,
                money(rng.lognormvariate(9.3, 0.9)),
                chance,
                created,
                expected,
                closed,
                reason if stage == "LST" else None,
            )
        )
    return found


def _interactions(
    rng: random.Random,
    hr: Hr,
    customers: Sequence[Customer],
    weights: Sequence[float],
    contacts: dict[int, list[int]],
) -> TableRows:
    codes = region_codes(hr)
    subjects = "Price question|New models|Late delivery|Credit limit|Stock planning|Order follow-up"
    rows: list[Row] = []
    for customer in rng.choices(customers, [w + 0.8 for w in weights], k=4200):
        day = day_between(rng, max(START, customer.created_dt), TODAY)
        staff = hr.staff(SALES_STAFF[codes[customer.region_id]], day=day)
        kind = rng.choices(("CAL", "EML", "VIS", "FAIR"), (48, 34, 15, 3))[0]
        known = contacts[customer.customer_id]
        rows.append(
            (
                len(rows) + 1,
                customer.customer_id,
                rng.choice(known) if known and rng.random() < 0.8 else None,
                rng.choice(staff).employee_id,
                kind,
                working_hour(rng, day),
                None if kind == "EML" else rng.randint(1, 24) * 5,
                rng.choice(subjects.split("|")),
            )
        )
    columns = (
        "interaction_id customer_id contact_id employee_id kind happened_at duration_min subject"
    )
    return rows_of("crm.interactions", columns, rows)
