-- Views over the demo ERP, for the oracle only: plain, nested, joined, aggregated, in a set operation.

CREATE VIEW hr.staff AS
SELECT employee_id, first_name, last_name, grade_code, department_id, salary, status
  FROM hr.employees;

CREATE VIEW hr.staff_bands AS
SELECT s.employee_id, s.last_name, s.salary, g.title, g.max_salary
  FROM hr.staff AS s
  JOIN hr.job_grades AS g USING (grade_code)
 WHERE s.status <> 'TRM';

CREATE VIEW hr.headcounts (department, head_count, mean_salary) AS
SELECT d.name, count(e.employee_id), round(avg(e.salary), 2)
  FROM hr.departments AS d
  LEFT JOIN hr.employees AS e ON e.department_id = d.department_id
 GROUP BY d.department_id, d.name;

CREATE VIEW hr.colleagues AS
SELECT a.employee_id, b.employee_id AS colleague_id, b.last_name
  FROM hr.employees AS a, hr.employees AS b
 WHERE a.department_id = b.department_id AND a.employee_id <> b.employee_id;

CREATE VIEW sales.customer_orders AS
SELECT c.customer_id, c.name, c.credit_limit, o.order_id, o.order_dt, o.amt
  FROM crm.customers AS c
  LEFT JOIN sales.orders AS o ON o.customer_id = c.customer_id AND o.status <> 'CXL';

CREATE VIEW sales.region_turnovers AS
SELECT c.region_id, count(*) AS orders, sum(o.amt) AS amt
  FROM sales.orders AS o
  JOIN crm.customers AS c ON c.customer_id = o.customer_id
 GROUP BY c.region_id;

CREATE VIEW sales.big_orders AS
SELECT t.customer_id, t.total, rank() OVER (ORDER BY t.total DESC, t.customer_id) AS place
  FROM (SELECT customer_id, sum(amt) AS total FROM sales.customer_orders GROUP BY customer_id) AS t;

CREATE VIEW support.open_work AS
SELECT 'ticket' AS kind, ticket_id AS id, subject AS text
  FROM support.tickets
 WHERE closed_at IS NULL
UNION ALL
SELECT 'maintenance', order_no, kind
  FROM (SELECT maintenance_id AS order_no, kind FROM assets.maintenance_orders) AS m;

CREATE MATERIALIZED VIEW support.ticket_counts AS
SELECT agent_id, count(*) AS tickets
  FROM support.tickets
 GROUP BY agent_id;
