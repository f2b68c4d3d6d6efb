"""Definitions of dbt, Cube and WrenAI: what they mean in ours, and what is left out, with reasons.

The files are small ones in the form of the tools' own; none is a copy.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from retrieval.semantics.importing.importer import import_definitions
from retrieval.semantics.resolution import resolve_definitions
from retrieval.semantics.semantics_file import SECTIONS
from tests.fakes import SHOP

Importer = Callable[..., tuple[dict[str, Any], dict[str, str]]]
"""Takes the text or value of a file and its name; returns the sections, and reasons by name."""


@pytest.fixture
def bring_in(tmp_path: Path) -> Importer:
    def run(content: Any, name: str = "file.json") -> tuple[dict[str, Any], dict[str, str]]:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        file, left_out = import_definitions([path], SHOP)
        resolved, problems = resolve_definitions(file, SHOP)
        assert not problems
        found = file.semantics.model_dump(mode="json", exclude_defaults=True)
        assert len(resolved) == sum(len(found.get(key, ())) for key in SECTIONS)
        return found, {Path(each.what).name: each.reason for each in left_out}

    return run


def limit(where: str) -> dict[str, Any]:
    filters = {"where_filters": [{"where_sql_template": where}]}
    return {"filter": filters if where else None}


def metric(name: str, kind: str, where: str = "", **params: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("measure", "numerator", "denominator", "expr"))
    params = {**empty, "metrics": [], **params}
    return {"name": name, "type": kind, "type_params": params, **limit(where)}


def uses(name: str, where: str = "", **others: Any) -> dict[str, Any]:
    return {"name": name, "alias": None, **limit(where), **others}


OPEN = "{{ Dimension('order__status') }} = 'open'\n"
LARGE = "{{ Dimension('order__large') }}"
GERMAN = "{{ Dimension('customer__land') }} = 'DE'"
MODELS = yaml.safe_load("""\
- name: orders
  node_relation: {alias: orders, schema_name: sales, database: x}
  entities:
    - {name: order, type: primary, expr: id}
    - {name: customer, type: foreign, expr: customer_id}
  dimensions:
    - {name: status, type: categorical, expr: null}
    - {name: large, type: categorical, expr: total > 100}
    - {name: period, type: time, expr: placed_at, type_params: {time_granularity: day}}
  measures:
    - {name: order_count, agg: sum, expr: "1", description: null, non_additive_dimension: null}
    - {name: value, agg: sum, expr: total, label: Order Value (net)}
    - {name: typical, agg: median, expr: total}
    - {name: big, agg: sum_boolean, expr: total > 100 or total is null}
    - {name: stock, agg: sum, expr: total, non_additive_dimension: {name: placed_at}}
- name: people
  node_relation: {alias: customers, schema_name: sales}
  entities: [{name: customer, type: primary, expr: id}]
  dimensions: [{name: land, type: categorical, expr: country}]
  measures: [{name: buyers, agg: count_distinct, expr: id}]
- name: lines
  node_relation: {alias: order_lines, schema_name: sales}
  primary_entity: line
  dimensions: [{name: product, type: categorical, expr: product_id}]
  measures: [{name: sold, agg: sum, expr: quantity}]
""")
METRICS = [
    metric("orders", "simple", measure=uses("order_count")),
    metric("open_value", "simple", OPEN, measure=uses("value")),
    metric("large_open_value", "simple", LARGE, measure=uses("value", OPEN)),
    metric("german_value", "simple", GERMAN, measure=uses("value", OPEN)),
    metric("open_share", "ratio", numerator=uses("orders", OPEN), denominator=uses("orders")),
    metric("mean", "derived", expr="v / n", metrics=[
        uses("open_value", alias="v"), uses("orders", alias="n")]),
    metric("per_head", "ratio", numerator=uses("orders"), denominator=uses("heads")),
    metric("heads", "simple", measure=uses("buyers")),
    metric("growth", "derived", expr="orders - before", metrics=[
        uses("orders"), uses("orders", alias="before", offset_window={"count": 1})]),
    metric("so_far", "cumulative", measure=uses("value")),
    metric("filled", "simple", measure=uses("value", join_to_timespine=True)),
    metric("late", "simple", "{{ TimeDimension('order__placed_at', 'day') }} > now()",
           measure=uses("value")),
    metric("bought", "simple", "{{Dimension('line__product')}} = 1", measure=uses("sold")),
    metric("zero", "simple", measure=uses("value", fill_nulls_with=0)),
    metric("newest", "simple", metric_aggregation_params={
        "semantic_model": "orders", "agg": "max", "expr": "placed_at"}),
]  # fmt: skip


NODES = yaml.safe_load("""\
model.x.orders:
  {resource_type: model, name: orders, schema: sales, alias: orders,
   description: "What\\nwas `sold`",
   columns: {total: {description: Euros}, status: {description: ""}, id: {description: ""}}}
model.x.staged: {resource_type: model, name: staged, schema: sales, alias: staged, description: A}
test.x.accepted:
  {resource_type: test, attached_node: model.x.orders, column_name: status,
   test_metadata: {name: accepted_values, kwargs: {values: [open, 1]}}}
test.x.filled:
  {resource_type: test, attached_node: model.x.orders, column_name: status,
   test_metadata: {name: not_null}}
""")


def test_metrics_of_dbt_mean_the_same_in_ours(bring_in: Importer) -> None:
    manifest = {
        "nodes": NODES,
        "macros": {"x": {}},
        "semantic_models": MODELS,
        "metrics": {f"metric.x.{each['name']}": each for each in METRICS},
    }
    found, left_out = bring_in(manifest, "manifest.json")
    total = "sum(orders.total)"
    assert found["measures"] == {
        "orders": {"expression": "count(orders.id)"},
        "order count": {"expression": "count(orders.id)"},
        "open value": {"expression": total, "filter": "orders.status = 'open'"},
        "large open value": {
            "expression": total,
            "filter": "(orders.status = 'open') AND ((orders.total > 100))",
        },
        "open share": {
            "expression": "1.0 * count(orders.id) FILTER (WHERE orders.status = 'open')"
            " / nullif(count(orders.id), 0)"
        },
        "mean": {"expression": f"{total} FILTER (WHERE orders.status = 'open') / count(orders.id)"},
        "sold": {"expression": "sum(order_lines.quantity)"},
        "bought": {
            "expression": "sum(order_lines.quantity)",
            "filter": "order_lines.product_id = 1",
        },
        "newest": {"expression": "max(orders.placed_at)"},
        "heads": {"expression": "count(DISTINCT customers.id)"},
        "buyers": {"expression": "count(DISTINCT customers.id)"},
        "value": {"expression": total, "synonyms": ["Order Value net"]},
        "typical": {"expression": "percentile_cont(0.5) WITHIN GROUP (ORDER BY orders.total)"},
        "big": {
            "expression": "sum(CASE WHEN orders.total > 100 or orders.total is null"
            " THEN 1 ELSE 0 END)"
        },
    }
    assert found["dimensions"] == {
        "large": {"expression": "orders.total > 100"},
        "period": {"expression": "orders.placed_at"},
        "land": {"expression": "customers.country"},
        "product": {"expression": "order_lines.product_id"},
    }
    assert found["descriptions"] == {
        "orders": "What was 'sold'",
        "orders.total": "Euros",
        "orders.status": "one of 'open', '1'",
    }
    assert left_out == {
        "manifest.json": "no definitions are in macros",
        "model.x.staged": "there is no table 'sales.staged'; did you mean 'sales.customers'?",
        "orders.status": "it is a column, which is found by its own name",
        "orders.stock": "it has non_additive_dimension, which definitions do not have",
        "per_head": "its measures are of several tables; a join would repeat rows",
        "orders.growth": "it has offset_window, which definitions do not have",
        "so_far": "a cumulative metric needs a window or a join over time",
        "orders.filled": "it has join_to_timespine, which definitions do not have",
        "orders.late": "it has a template: {{ TimeDimension('order__placed_at', 'day') }} > now()",
        "orders.zero": "it has fill_nulls_with, which definitions do not have",
        "orders.german_value": "it refers to customer.land, which is not of orders",
    }


CUBES = """\
cubes:
  - name: buyers
    sql_table: sales.customers
    dimensions:
      - {name: id, sql: id, type: number, primary_key: true}
      - {name: land, sql: "{CUBE}.country", type: string, title: Country}
    measures:
      - {name: count, type: count}
  - name: orders
    sql: SELECT * FROM sales.Orders
    joins:
      - {name: buyers, sql: "{CUBE}.customer_id = {buyers.id}", relationship: many_to_one}
    dimensions:
      - {name: since, sql: placed_at, type: time}
      - {name: home, sql: "upper({buyers.land})", type: string}
      - {name: spot, type: geo, latitude: {sql: lat}, longitude: {sql: lon}}
    measures:
      - {name: count, type: count, description:}
      - name: value
        sql: total
        type: sum
        description: "What was `ordered`,\\nin euros"
        filters: [{sql: "{CUBE}.status <> 'cancelled'"}, {sql: "{orders}.total > 0"}]
      - {name: meanValue, sql: "{total} / NULLIF({CUBE.count}, 0)", type: number, format: currency}
      - {name: total, sql: total, type: sum, public: false}
      - {name: recent, sql: total, type: sum, rolling_window: {trailing: 1 month}}
      - {name: unlike, sql: id, type: count_distinct_approx}
      - {name: secret, sql: "{SECURITY_CONTEXT.total}", type: max}
      - {name: heads, sql: "{buyers.count} + 1", type: number}
      - {name: odd, sql: "sum(customers.id)", type: number}
      - {name: rank, sql: "rank() OVER (ORDER BY total)", type: number}
    segments:
      - {name: open, sql: "{CUBE}.status = 'open'", title: Not yet shipped}
  - name: lines
    sql_table: sales.order_lines
    access_policy: [{role: "*"}]
  - name: joined
    sql: SELECT * FROM sales.orders o JOIN sales.customers c ON c.id = o.customer_id
    measures: [{name: rows, type: count}]
  - name: items
    sql: SELECT * FROM "Order Items"
    measures: [{name: pieces, type: count}]
  - name: later
    extends: orders
    measures: [{name: last, sql: placed_at, type: max}]
views:
  - {name: overview, cubes: [{join_path: orders, includes: "*"}]}
"""


def test_cubes_mean_the_same_in_ours(bring_in: Importer) -> None:
    found, left_out = bring_in(CUBES, "cubes.yml")
    assert found["measures"] == {
        "buyers count": {"expression": "count(customers.id)"},
        "orders count": {"expression": "count(orders.id)"},
        "value": {
            "expression": "sum(orders.total)",
            "filter": "(orders.status <> 'cancelled') AND (orders.total > 0)",
            "description": "What was 'ordered', in euros",
        },
        "mean Value": {"expression": "sum(orders.total) / NULLIF(count(orders.id), 0)"},
    }
    assert found["dimensions"] == {
        "land": {"expression": "customers.country", "synonyms": ["Country"]},
        "since": {"expression": "orders.placed_at"},
    }
    assert found["filters"] == {
        "open": {"condition": "orders.status = 'open'", "synonyms": ["Not yet shipped"]}
    }
    rows = "SELECT * FROM sales.orders o JOIN sales.customers c ON c.id = o.customer_id"
    assert left_out == {
        "cubes.yml": "no definitions are in views",
        "buyers.id": "it is a column, which is found by its own name",
        "orders.home": "it refers to buyers.land, which is not of orders",
        "items": "there is no table 'Order Items'; did you mean 'sales.orders'?",
        "orders.spot": "it has latitude, longitude, which definitions do not have",
        "orders.total": "it is hidden there",
        "orders.recent": "it has rolling_window, which definitions do not have",
        "orders.unlike": "it is of type count_distinct_approx, which definitions do not have",
        "orders.secret": "it refers to SECURITY_CONTEXT.total, which is not of orders",
        "orders.heads": "it refers to buyers.count, which is not of orders",
        "orders.odd": "it refers to customers.id, which is not of orders",
        "orders.rank": "it may have no subquery and no window function",
        "joined": f"its rows are not simply those of a table: {rows}",
        "later": "it has extends, which definitions do not have",
        "lines": "it has access_policy, which definitions do not have",
    }


MDL = """\
catalog: wren
models:
  - name: sale
    tableReference: {schema: sales, table: orders}
    primaryKey: number
    properties: {description: What was sold}
    columns:
      - {name: number, type: INTEGER, expression: id}
      - {name: total, type: DECIMAL, properties: {description: Euros}}
      - {name: customer_id, type: INTEGER}
      - {name: buyer, type: client, relationship: sale_client}
      - {name: with_tax, isCalculated: true, expression: total * 1.2}
      - {name: land, isCalculated: true, expression: buyer.country}
      - {name: far, isCalculated: true, expression: buyer.sales.total}
  - name: client
    refSql: select * from sales.customers
    columns:
      - {name: id, type: INTEGER}
      - {name: country, type: VARCHAR}
      - {name: sales, type: sale, relationship: sale_client}
      - {name: spent, isCalculated: true, expression: sum(sales.total)}
    rowLevelAccessControls: [{name: own, condition: id = @id}]
relationships:
  - name: sale_client
    models: [sale, client]
    joinType: MANY_TO_ONE
    condition: sale.customer_id = client.id
cubes:
  - name: sales_figures
    baseObject: sale
    measures:
      - {name: turnover, expression: SUM(with_tax), type: DOUBLE}
      - {name: number_of_sales, expression: COUNT(*), type: BIGINT}
    dimensions: [{name: land, expression: land, type: VARCHAR}]
  - {name: odd, baseObject: all_sales, measures: [{name: sum, expression: SUM(total)}]}
views: [{name: all_sales, statement: select * from sale}]
"""


def test_an_mdl_means_the_same_in_ours(bring_in: Importer) -> None:
    found, left_out = bring_in(yaml.safe_load(MDL))
    assert found["measures"] == {
        "turnover": {"expression": "SUM((orders.total * 1.2))"},
        "number of sales": {"expression": "count(orders.id)"},
    }
    assert found["dimensions"] == {
        "number": {"expression": "orders.id"},
        "with tax": {"expression": "orders.total * 1.2"},
    }
    assert found["descriptions"] == {"orders": "What was sold", "orders.total": "Euros"}
    assert left_out["sale.land"] == "it refers to buyer.country, which is not of sale"
    assert left_out["sale.far"] == "it refers to buyer.sales.total, which is not of sale"
    assert left_out["all_sales"] == "its rows are not simply those of a table: all_sales"
    assert left_out["client"] == "it has rowLevelAccessControls, which definitions do not have"
    assert left_out["client.spent"] == "it refers to sales.total, which is not of client"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("orders.js", "cube('orders', {})", "no models in a programming language"),
        ("orders.yml", "cubes:\n  {% for a in b %}\n", "not valid YAML"),
        ("orders.yml", "cubes: [{sql_table: x}]", "it is not what dbt, Cube or WrenAI write"),
        ("manifest.json", "{", "Expecting property name"),
        ("manifest.json", '{"semantic_models": [{}], "metrics": []}', "it is not what dbt"),
        ("mdl.json", "[]", "it is not what dbt"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_out(
    bring_in: Importer, name: str, content: str, reason: str
) -> None:
    found, left_out = bring_in(content, name)
    assert found == {"version": 1}
    assert any(reason in text for text in left_out.values()), left_out
