"""Module inventory, first half: categories, products and warehouses. Stock is in ``stock``."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from data.demo_erp.rows.base import TODAY, TableRows, day_between, money
from data.demo_erp.rows.hr import Hr


class Category(NamedTuple):
    """A row of inventory.product_categories."""

    category_id: int
    code: str
    name: str
    parent_category_id: int | None


class Product(NamedTuple):
    """A row of inventory.products."""

    product_id: int
    sku: str
    name: str
    category_id: int
    kind: str
    uom: str
    list_price: Decimal | None
    std_cost: Decimal
    weight_kg: Decimal | None
    launch_dt: date
    discontinued_dt: date | None
    status: str
    successor_id: int | None

    def sold_on(self, day: date) -> bool:
        """Return whether the product is on the price list on ``day``."""
        current = self.discontinued_dt is None or day <= self.discontinued_dt
        on_list = self.list_price is not None and self.status != "DEV"
        return on_list and self.launch_dt <= day and current


class Warehouse(NamedTuple):
    """A row of inventory.warehouses."""

    warehouse_id: int
    code: str
    name: str
    kind: str
    region_id: int
    department_id: int
    city: str
    manager_id: int | None


@dataclass(frozen=True, slots=True)
class Products:
    """The tables and the records other modules refer to."""

    tables: tuple[TableRows, ...]
    categories: tuple[Category, ...]
    products: tuple[Product, ...]
    warehouses: tuple[Warehouse, ...]
    bins: tuple[tuple[int, str], ...]

    def of_kind(self, *kinds: str) -> list[Product]:
        """Return the products of these kinds."""
        return [p for p in self.products if p.kind in kinds]

    def category_code(self, product: Product) -> str:
        """Return the code of the product's category."""
        return self.categories[product.category_id - 1].code

    def ships_to(self, region_code: str) -> Warehouse:
        """Return the warehouse that serves a sales region."""
        code = {"WEU": "WUT", "SEU": "WUT", "NAM": "WPO", "LAM": "WPO"}.get(region_code, "WUL")
        return next(w for w in self.warehouses if w.code == code)


CATEGORIES = (
    Category(1, "BIK", "Bicycles", None),
    Category(2, "EBK", "E-bikes", None),
    Category(3, "PRT", "Parts", None),
    Category(4, "ACC", "Accessories", None),
    Category(5, "SRV", "Services", None),
    Category(6, "MAT", "Materials", None),
    Category(7, "CTY", "City bikes", 1),
    Category(8, "TRK", "Trekking bikes", 1),
    Category(9, "GRV", "Gravel bikes", 1),
    Category(10, "MTB", "Mountain bikes", 1),
    Category(11, "KID", "Children's bikes", 1),
    Category(12, "ECT", "E-city bikes", 2),
    Category(13, "ETR", "E-trekking bikes", 2),
    Category(14, "EMT", "E-mountain bikes", 2),
    Category(15, "ECG", "E-cargo bikes", 2),
    Category(16, "FRM", "Frames and forks", 3),
    Category(17, "WHL", "Wheels and tyres", 3),
    Category(18, "DRT", "Drivetrain and brakes", 3),
    Category(19, "BAT", "Motors and batteries", 3),
    Category(20, "LGT", "Lights", 4),
    Category(21, "LCK", "Locks", 4),
    Category(22, "HLM", "Helmets", 4),
    Category(23, "BAG", "Bags and baskets", 4),
    Category(24, "TOL", "Pumps and tools", 4),
    Category(25, "INS", "Inspection and training", 5),
    Category(26, "TUB", "Tubes and paint", 6),
    Category(27, "RCK", "Roof racks", 4),
)

# Category, model names, price of the basic trim, trims, weight.
BIKES: tuple[tuple[str, str, int, str, float], ...] = (
    ("CTY", "Aldo Lotte Marken", 690, "3 7 8", 16.5),
    ("TRK", "Fjord Tauern Levada", 980, "100 300 500", 15.2),
    ("GRV", "Kies Strada", 1490, "R1 R2 R3", 10.4),
    ("MTB", "Grat Kamm", 1290, "29 29S 29X", 13.3),
    ("KID", "Pepe Minka", 329, "16 20 24", 8.9),
    ("ECT", "Aldo-E Lotte-E", 2290, "400 500 625", 23.8),
    ("ETR", "Fjord-E Tauern-E", 2890, "500 625 750", 25.1),
    ("EMT", "Grat-E Kamm-E", 3990, "625 750 900", 23.2),
    ("ECG", "Bjarka Lasto", 4790, "S L XL", 39.5),
)

# Category, kind, name, unit, cost, price (0: not sold), weight.
GOODS: tuple[tuple[str, str, str, str, float, float, float], ...] = (
    ("LGT", "MER", "Front light Glim 40", "EA", 11.2, 29.9, 0.12),
    ("LGT", "MER", "Front light Glim 80", "EA", 17.9, 49.9, 0.14),
    ("LGT", "MER", "Rear light Blink", "EA", 6.1, 17.9, 0.06),
    ("LGT", "MER", "Light set Duo", "EA", 15.4, 42.5, 0.19),
    ("LGT", "MER", "Hub dynamo lamp Lumo", "EA", 22.8, 59.0, 0.21),
    ("LCK", "MER", "Folding lock Falta", "EA", 31.0, 79.9, 1.1),
    ("LCK", "MER", "Chain lock Kette 110", "EA", 24.5, 64.9, 1.9),
    ("LCK", "MER", "U-lock Bugel", "EA", 19.9, 54.9, 1.3),
    ("LCK", "MER", "Frame lock Ring", "EA", 12.6, 34.9, 0.6),
    ("LCK", "MER", "Cable lock Schnur", "EA", 5.2, 14.9, 0.3),
    ("HLM", "MER", "Helmet Urbano M", "EA", 24.0, 69.9, 0.33),
    ("HLM", "MER", "Helmet Urbano L", "EA", 24.4, 69.9, 0.35),
    ("HLM", "MER", "Helmet Trail M", "EA", 36.0, 99.9, 0.36),
    ("HLM", "MER", "Helmet Trail L", "EA", 36.5, 99.9, 0.38),
    ("HLM", "MER", "Children's helmet Pepe", "EA", 14.8, 39.9, 0.27),
    ("BAG", "MER", "Pannier Regen 20", "EA", 28.0, 74.9, 0.9),
    ("BAG", "MER", "Pannier Regen 30", "EA", 33.0, 89.9, 1.1),
    ("BAG", "MER", "Handlebar bag Vorn", "EA", 17.0, 44.9, 0.4),
    ("BAG", "MER", "Saddle bag Klein", "EA", 8.4, 22.9, 0.2),
    ("BAG", "MER", "Basket Markt", "EA", 13.5, 36.9, 0.8),
    ("BAG", "MER", "Child trailer Duett", "EA", 214.0, 479.0, 14.5),
    ("TOL", "MER", "Floor pump Luft", "EA", 15.9, 44.9, 1.6),
    ("TOL", "MER", "Mini pump Luftle", "EA", 7.7, 21.9, 0.1),
    ("TOL", "MER", "Multi tool 12", "EA", 9.2, 26.9, 0.17),
    ("TOL", "MER", "Repair stand Halt", "EA", 62.0, 149.0, 5.8),
    ("TOL", "MER", "Chain oil 100 ml", "EA", 2.1, 7.9, 0.12),
    ("TOL", "MER", "Torque wrench Genau", "EA", 34.0, 89.0, 0.7),
    ("RCK", "MER", "Roof rack Dach 1", "EA", 48.0, 119.0, 3.4),
    ("RCK", "MER", "Roof rack Dach 2", "EA", 79.0, 189.0, 5.9),
    ("WHL", "RAW", "Rim 28 double wall", "EA", 18.4, 0, 0.6),
    ("WHL", "RAW", "Rim 29 tubeless", "EA", 31.5, 0, 0.55),
    ("WHL", "RAW", "Rim 20 double wall", "EA", 12.2, 0, 0.4),
    ("WHL", "RAW", "Spoke set 36", "EA", 5.8, 0, 0.2),
    ("WHL", "RAW", "Hub pair standard", "EA", 21.0, 49.0, 0.7),
    ("WHL", "RAW", "Hub pair thru-axle", "EA", 38.0, 89.0, 0.8),
    ("WHL", "RAW", "Tyre Touring 28", "EA", 9.8, 27.9, 0.7),
    ("WHL", "RAW", "Tyre Grip 29", "EA", 14.9, 44.9, 0.8),
    ("WHL", "RAW", "Tyre Kid 20", "EA", 6.0, 16.9, 0.4),
    ("WHL", "RAW", "Inner tube 28", "EA", 1.9, 6.9, 0.15),
    ("DRT", "RAW", "Hub gear 3-speed", "EA", 48.0, 119.0, 1.4),
    ("DRT", "RAW", "Hub gear 8-speed", "EA", 92.0, 219.0, 1.7),
    ("DRT", "RAW", "Derailleur set 10-speed", "EA", 64.0, 149.0, 0.9),
    ("DRT", "RAW", "Derailleur set 12-speed", "EA", 118.0, 279.0, 0.85),
    ("DRT", "RAW", "Chain 10-speed", "EA", 8.1, 24.9, 0.28),
    ("DRT", "RAW", "Chain 12-speed", "EA", 14.2, 42.9, 0.26),
    ("DRT", "RAW", "Belt drive set", "EA", 71.0, 169.0, 0.4),
    ("DRT", "RAW", "Disc brake pair D2", "EA", 42.0, 99.0, 0.6),
    ("DRT", "RAW", "Disc brake pair D4", "EA", 83.0, 189.0, 0.7),
    ("DRT", "RAW", "Brake pad set D", "EA", 3.6, 14.9, 0.05),
    ("DRT", "RAW", "Rim brake pair", "EA", 11.5, 29.9, 0.4),
    ("DRT", "RAW", "Crankset 170", "EA", 22.5, 59.9, 0.8),
    ("DRT", "RAW", "Pedal pair", "EA", 5.1, 17.9, 0.4),
    ("BAT", "RAW", "Hub motor M45", "EA", 168.0, 399.0, 3.1),
    ("BAT", "RAW", "Mid motor M65", "EA", 296.0, 649.0, 2.9),
    ("BAT", "RAW", "Mid motor M85", "EA", 388.0, 829.0, 2.9),
    ("BAT", "RAW", "Battery 400 Wh", "EA", 189.0, 459.0, 2.6),
    ("BAT", "RAW", "Battery 500 Wh", "EA", 231.0, 559.0, 2.9),
    ("BAT", "RAW", "Battery 625 Wh", "EA", 284.0, 679.0, 3.5),
    ("BAT", "RAW", "Battery 750 Wh", "EA", 341.0, 799.0, 4.2),
    ("BAT", "RAW", "Display unit View", "EA", 39.0, 109.0, 0.1),
    ("BAT", "RAW", "Charger 4 A", "EA", 27.0, 79.0, 0.7),
    ("FRM", "RAW", "Suspension fork 100", "EA", 74.0, 199.0, 2.2),
    ("FRM", "RAW", "Suspension fork 140", "EA", 139.0, 349.0, 2.1),
    ("FRM", "RAW", "Rigid fork carbon", "EA", 88.0, 229.0, 0.5),
    ("FRM", "RAW", "Rigid fork steel", "EA", 19.0, 59.0, 1.0),
    ("FRM", "RAW", "Saddle Comfort", "EA", 12.4, 39.9, 0.5),
    ("FRM", "RAW", "Saddle Sport", "EA", 15.8, 54.9, 0.3),
    ("FRM", "RAW", "Handlebar set", "EA", 17.2, 49.9, 0.6),
    ("TUB", "RAW", "Aluminium tube 6061", "M", 4.6, 0, 0.5),
    ("TUB", "RAW", "Aluminium tube 7005", "M", 6.9, 0, 0.45),
    ("TUB", "RAW", "Steel tube 25CrMo4", "M", 5.3, 0, 0.7),
    ("TUB", "RAW", "Powder paint black", "KG", 8.8, 0, 1.0),
    ("TUB", "RAW", "Powder paint moss", "KG", 10.4, 0, 1.0),
    ("TUB", "RAW", "Powder paint sand", "KG", 10.1, 0, 1.0),
    ("TUB", "RAW", "Clear coat", "KG", 7.2, 0, 1.0),
    ("TUB", "RAW", "Cardboard box bike", "EA", 3.9, 0, 2.1),
    ("INS", "SRV", "First inspection", "H", 38.0, 79.0, 0),
    ("INS", "SRV", "Dealer workshop training", "H", 52.0, 120.0, 0),
    ("INS", "SRV", "E-bike diagnostics", "H", 44.0, 95.0, 0),
    ("INS", "SRV", "Fleet maintenance visit", "H", 49.0, 110.0, 0),
)

WAREHOUSES: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("WUL", "Central Warehouse Ulm", "CEN", "DACH", "LOG", "Ulm"),
    ("WPL", "Plant Warehouse Ulm", "PLT", "DACH", "LOG", "Ulm"),
    ("WUT", "Regional Warehouse Utrecht", "REG", "WEU", "LOG-WEU", "Utrecht"),
    ("WPO", "Regional Warehouse Portland", "REG", "NAM", "LOG-NAM", "Portland"),
    ("WCF", "Consignment Freiburg", "CON", "DACH", "LOG", "Freiburg"),
    ("WCM", "Consignment Malmo", "CON", "NOR", "LOG", "Malmo"),
)


def build_products(rng: random.Random, hr: Hr) -> Products:
    """Return categories, products, warehouses and bins."""
    products = _bikes(rng) + _subassemblies(rng)
    products += _goods(rng, len(products))
    products = [
        p._replace(product_id=i, sku=f"{CATEGORIES[p.category_id - 1].code}-{1000 + i * 3}")
        for i, p in enumerate(products, 1)
    ]
    warehouses = tuple(
        Warehouse(
            i,
            code,
            name,
            kind,
            hr.region_id(region),
            hr.department(department).department_id,
            city,
            None if kind == "CON" else hr.staff(department)[0 if code != "WPL" else 1].employee_id,
        )
        for i, (code, name, kind, region, department, city) in enumerate(WAREHOUSES, 1)
    )
    bins = [
        (w.warehouse_id, f"{aisle}-{rack:02d}-{level}", rng.choice("FFSSSSCH"), rng.randint(2, 8))
        for w in warehouses
        for aisle in ("A" if w.kind == "CON" else "ABCD")
        for rack in range(1, 4)
        for level in range(1, 4)
    ]
    tables = (
        TableRows("inventory.product_categories", Category._fields, CATEGORIES),
        TableRows("inventory.products", Product._fields, _successors_first(products)),
        TableRows("inventory.warehouses", Warehouse._fields, warehouses),
        TableRows("inventory.bins", ("warehouse_id", "bin_code", "zone", "capacity_units"), bins),
    )
    return Products(
        tables, CATEGORIES, tuple(products), warehouses, tuple((b[0], b[1]) for b in bins)
    )


def _category_id(code: str) -> int:
    return next(c.category_id for c in CATEGORIES if c.code == code)


def _bikes(rng: random.Random) -> list[Product]:
    """Return the finished bikes: every trim, some in an older generation that was replaced."""
    bikes: list[Product] = []
    for code, models, base, trims, weight in BIKES:
        for model_index, model in enumerate(models.split()):
            for trim_index, trim in enumerate(trims.split()):
                price = base * (1 + 0.08 * model_index) * (1 + 0.27 * trim_index)
                price = round(price / 10) * 10 - 1
                launch = day_between(rng, date(2017, 2, 1), date(2021, 10, 1))
                status, ended = "ACT", None
                renewed = rng.random() < 0.3
                if renewed:
                    status, ended = "EOL", day_between(rng, date(2022, 10, 1), date(2024, 12, 1))
                name = f"{model} {trim}"
                bike = Product(
                    0,
                    "",
                    name,
                    _category_id(code),
                    "FIN",
                    "EA",
                    money(price),
                    money(price * rng.uniform(0.46, 0.58)),
                    Decimal(str(round(weight * (1 - 0.03 * trim_index), 1))),
                    launch,
                    ended,
                    status,
                    len(bikes) + 2 if renewed else None,
                )
                bikes.append(bike)
                if ended is not None:
                    newer = bike._replace(
                        name=f"{name} II",
                        list_price=money(price + 60),
                        std_cost=money(float(bike.std_cost) * 1.05),
                        launch_dt=ended - timedelta(days=45),
                        discontinued_dt=None,
                        status="ACT",
                        successor_id=None,
                    )
                    bikes.append(newer)
    for name, code, price in (("Kies Aero", "GRV", 2890), ("Lasto Solar", "ECG", 6490)):
        cost, weight_kg = money(price * 0.55), Decimal("12.0")
        launch = TODAY + timedelta(days=90)
        bikes.append(
            Product(
                0, "", name, _category_id(code), "FIN", "EA", money(price), cost, weight_kg,
                launch, None, "DEV", None,
            )
        )  # fmt: skip
    return bikes


def _subassemblies(rng: random.Random) -> list[Product]:
    parts: list[Product] = []
    for _, models, base, _, weight in BIKES:
        for model in models.split():
            for name, share, category in (
                (f"Raw frame {model}", 0.06, "FRM"),
                (f"Painted frame {model}", 0.09, "FRM"),
                (f"Wheelset {model}", 0.07, "WHL"),
            ):
                cost = money(base * share * rng.uniform(0.9, 1.1))
                price = money(float(cost) * 2.6) if name.startswith("Wheelset") else None
                kilos = Decimal(str(round(weight * 0.17, 1)))
                parts.append(
                    Product(
                        0, "", name, _category_id(category), "SUB", "EA", price, cost, kilos,
                        date(2018, 1, 15), None, "ACT", None,
                    )
                )  # fmt: skip
    return parts


def _goods(rng: random.Random, count: int) -> list[Product]:
    goods: list[Product] = []
    for code, kind, name, uom, cost, price, weight in GOODS:
        ended = date(2023, 9, 30) if name in ("Cable lock Schnur", "Roof rack Dach 1") else None
        goods.append(
            Product(
                0,
                "",
                name,
                _category_id(code),
                kind,
                uom,
                money(price) if price else None,
                money(cost),
                Decimal(str(weight)) if weight else None,
                day_between(rng, date(2017, 1, 10), date(2022, 9, 1)),
                ended,
                "EOL" if ended else "ACT",
                count + len(goods) + 2 if name == "Roof rack Dach 1" else None,
            )
        )
    return goods


def _successors_first(products: list[Product]) -> list[Product]:
    """Return the products in an order in which a successor stands before what it replaces."""
    return sorted(products, key=lambda p: (p.successor_id is not None, p.product_id))
