"""Orders to change data are told from questions about data."""

from __future__ import annotations

import pytest

from generation.conversation.commands import asks_to_change

ORDERS = """
drop table orders
DROP TABLE IF EXISTS customers CASCADE;
Please delete all orders
delete from employees where id = 3
Can you remove the customer with id 5?
truncate table payments
Truncate invoices
Update employees set salary = 0
Update the salary of all employees to 100000
Set the price of all products to 0
Change the status of order 17 to shipped.
Insert a new customer called Bob
INSERT INTO orders VALUES (1)
Add a new employee named Ann
Add a column email to customers
Create a table for invoices
CREATE INDEX ON orders (id)
ALTER TABLE orders ADD COLUMN x int
Rename the table orders to sales
Grant all privileges on database shop to bob
revoke select on orders from ann
How many orders are there? ; DROP TABLE orders; --
Show all customers and then delete them
Increase all prices by 10%
Erase everything
Could you please wipe the database?
I want to delete every record of 2020.
delete order 5
Delete rows where total = 0
drop the customers table
Overwrite the address of customer 3 with Berlin
"""

QUESTIONS = """
Updates by month
Drop in sales by region
What changed in 2023?
Which tables were dropped?
Remove duplicates and list the cities of customers
Add up all totals of 2024
Create a list of all customers
Update on open orders?
Set of all products with price over 10
Deleted orders by year
Give me the changes to orders in May
Increase in revenue by quarter
Delete requests per customer
How do I delete an order?
List orders with the status changed to shipped
Replace rate of parts by supplier
Show the raise of all employees
Set menus by restaurant
"""


@pytest.mark.parametrize("text", ORDERS.strip().splitlines())
def test_an_order_is_told(text: str) -> None:
    assert asks_to_change(text)


@pytest.mark.parametrize("text", QUESTIONS.strip().splitlines())
def test_a_question_is_left_alone(text: str) -> None:
    assert not asks_to_change(text)


@pytest.mark.parametrize("text", ["", "   ", "?", "would " * 800, "update all. " * 330])
def test_odd_texts_are_read_in_no_time(text: str) -> None:
    assert not asks_to_change(text)
