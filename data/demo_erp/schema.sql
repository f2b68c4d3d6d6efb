-- The demo database: the ERP of a bicycle maker, one schema for each module.
--
-- Tables, keys, comments and indexes only: no rows, no roles, no grants. Names of tables are unique
-- over all schemas, so that they work unqualified with every schema in search_path. Modules come in
-- the order of their dependencies; the few foreign keys that point forward are added at the end.

CREATE SCHEMA hr;
CREATE SCHEMA finance;
CREATE SCHEMA inventory;
CREATE SCHEMA crm;
CREATE SCHEMA sales;
CREATE SCHEMA procurement;
CREATE SCHEMA manufacturing;
CREATE SCHEMA projects;
CREATE SCHEMA assets;
CREATE SCHEMA support;

-- hr --------------------------------------------------------------------------------------------
-- People, departments, regions. Departments and regions are what access rights hang on.

COMMENT ON SCHEMA hr IS 'People, departments, regions. Departments and regions are what access rights hang on.';

CREATE TABLE hr.regions (
    region_id integer PRIMARY KEY,
    code text NOT NULL UNIQUE,
    name text NOT NULL,
    parent_region_id integer REFERENCES hr.regions (region_id)
);
COMMENT ON TABLE hr.regions
    IS 'Regions the company sells and works in; a tree with one root (Global). Access rights may be limited to regions.';
COMMENT ON COLUMN hr.regions.region_id IS 'Key of the region';
COMMENT ON COLUMN hr.regions.code IS 'Short code, such as NOR or DACH';
COMMENT ON COLUMN hr.regions.name IS 'Name in words';
COMMENT ON COLUMN hr.regions.parent_region_id IS 'Region this one lies in; empty for the root';

CREATE TABLE hr.departments (
    department_id integer PRIMARY KEY,
    code text NOT NULL UNIQUE,
    name text NOT NULL,
    parent_department_id integer REFERENCES hr.departments (department_id),
    region_id integer NOT NULL REFERENCES hr.regions (region_id),
    closed_dt date
);
COMMENT ON TABLE hr.departments
    IS 'Departments, a tree. A department belongs to exactly one region. Access rights may be limited to departments.';
COMMENT ON COLUMN hr.departments.department_id IS 'Key of the department';
COMMENT ON COLUMN hr.departments.code IS 'Short code, such as FIN or MFG-ASM';
COMMENT ON COLUMN hr.departments.name IS 'Name in words';
COMMENT ON COLUMN hr.departments.parent_department_id
    IS 'Department this one reports to; empty at the top';
COMMENT ON COLUMN hr.departments.region_id IS 'Region the department sits in';
COMMENT ON COLUMN hr.departments.closed_dt
    IS 'Day the department was closed; empty while it exists';

CREATE TABLE hr.job_grades (
    grade_code text PRIMARY KEY,
    title text NOT NULL,
    min_salary numeric(14,2) NOT NULL,
    max_salary numeric(14,2) NOT NULL
);
COMMENT ON TABLE hr.job_grades IS 'Pay grades with their salary band.';
COMMENT ON COLUMN hr.job_grades.grade_code IS 'Grade, G1 (lowest) to G8 (board)';
COMMENT ON COLUMN hr.job_grades.title IS 'What the grade stands for';
COMMENT ON COLUMN hr.job_grades.min_salary IS 'Lower end of the yearly salary band, EUR';
COMMENT ON COLUMN hr.job_grades.max_salary IS 'Upper end of the yearly salary band, EUR';

CREATE TABLE hr.employees (
    employee_id integer PRIMARY KEY,
    emp_no text NOT NULL UNIQUE,
    first_name text NOT NULL,
    last_name text NOT NULL,
    email text NOT NULL UNIQUE,
    job_title text NOT NULL,
    grade_code text NOT NULL REFERENCES hr.job_grades (grade_code),
    department_id integer NOT NULL REFERENCES hr.departments (department_id),
    manager_id integer REFERENCES hr.employees (employee_id),
    hire_dt date NOT NULL,
    exit_dt date,
    salary numeric(14,2) NOT NULL,
    fte_pct integer NOT NULL,
    status text NOT NULL CHECK (status IN ('ACT', 'LOA', 'TRM')),
    CHECK (exit_dt IS NULL OR exit_dt >= hire_dt)
);
CREATE INDEX ON hr.employees (department_id);
CREATE INDEX ON hr.employees (manager_id);
COMMENT ON TABLE hr.employees IS 'Everybody who is or was employed since 2022. One row a person.';
COMMENT ON COLUMN hr.employees.employee_id IS 'Key of the employee';
COMMENT ON COLUMN hr.employees.emp_no IS 'Badge number, E and five digits';
COMMENT ON COLUMN hr.employees.first_name IS 'Given name';
COMMENT ON COLUMN hr.employees.last_name IS 'Family name';
COMMENT ON COLUMN hr.employees.email IS 'Work e-mail address';
COMMENT ON COLUMN hr.employees.job_title IS 'Job title in words';
COMMENT ON COLUMN hr.employees.grade_code IS 'Pay grade';
COMMENT ON COLUMN hr.employees.department_id
    IS 'Department the person works in now (or worked in last)';
COMMENT ON COLUMN hr.employees.manager_id IS 'Direct manager; empty for the chief executive only';
COMMENT ON COLUMN hr.employees.hire_dt IS 'First working day';
COMMENT ON COLUMN hr.employees.exit_dt IS 'Last working day; empty while employed';
COMMENT ON COLUMN hr.employees.salary IS 'Yearly gross salary at full time, EUR. Confidential';
COMMENT ON COLUMN hr.employees.fte_pct IS 'Share of full time worked, in percent: 100 is full time';
COMMENT ON COLUMN hr.employees.status
    IS 'Status code: ACT = active, LOA = on long leave of absence, TRM = left the company';

CREATE TABLE hr.department_heads (
    department_id integer NOT NULL REFERENCES hr.departments (department_id),
    valid_from date NOT NULL,
    valid_to date,
    employee_id integer NOT NULL REFERENCES hr.employees (employee_id),
    PRIMARY KEY (department_id, valid_from)
);
COMMENT ON TABLE hr.department_heads IS 'Who headed which department from when to when.';
COMMENT ON COLUMN hr.department_heads.department_id IS 'Department headed';
COMMENT ON COLUMN hr.department_heads.valid_from IS 'First day in office';
COMMENT ON COLUMN hr.department_heads.valid_to IS 'Last day in office; empty for the present head';
COMMENT ON COLUMN hr.department_heads.employee_id IS 'The head';

CREATE TABLE hr.absences (
    absence_id integer PRIMARY KEY,
    employee_id integer NOT NULL REFERENCES hr.employees (employee_id),
    kind text NOT NULL CHECK (kind IN ('VAC', 'SIC', 'PAR', 'UNP')),
    from_dt date NOT NULL,
    to_dt date NOT NULL,
    days numeric(5, 1) NOT NULL,
    status text NOT NULL CHECK (status IN ('REQ', 'APR', 'REJ')),
    approved_by integer REFERENCES hr.employees (employee_id),
    CHECK (to_dt >= from_dt)
);
CREATE INDEX ON hr.absences (employee_id);
COMMENT ON TABLE hr.absences IS 'Vacation, sickness and other absences, one row a spell.';
COMMENT ON COLUMN hr.absences.absence_id IS 'Key of the absence';
COMMENT ON COLUMN hr.absences.employee_id IS 'Who is absent';
COMMENT ON COLUMN hr.absences.kind
    IS 'Kind of absence: VAC = vacation, SIC = sick leave, PAR = parental leave, UNP = unpaid leave';
COMMENT ON COLUMN hr.absences.from_dt IS 'First day of absence';
COMMENT ON COLUMN hr.absences.to_dt IS 'Last day of absence, inclusive';
COMMENT ON COLUMN hr.absences.days IS 'Working days missed';
COMMENT ON COLUMN hr.absences.status IS 'Status code: REQ = requested, APR = approved, REJ = rejected';
COMMENT ON COLUMN hr.absences.approved_by
    IS 'Who decided; empty while requested and for sick leave';

CREATE TABLE hr.payslips (
    employee_id integer NOT NULL REFERENCES hr.employees (employee_id),
    pay_month date NOT NULL,
    gross_amt numeric(14,2) NOT NULL,
    bonus_amt numeric(14,2) NOT NULL,
    tax_amt numeric(14,2) NOT NULL,
    net_amt numeric(14,2) NOT NULL,
    PRIMARY KEY (employee_id, pay_month)
);
COMMENT ON TABLE hr.payslips IS 'Monthly pay of each employee.';
COMMENT ON COLUMN hr.payslips.employee_id IS 'Who is paid';
COMMENT ON COLUMN hr.payslips.pay_month IS 'Month paid for, as its first day';
COMMENT ON COLUMN hr.payslips.gross_amt IS 'Gross base pay of the month, EUR, without bonus';
COMMENT ON COLUMN hr.payslips.bonus_amt IS 'Bonus paid with this slip, EUR; mostly 0';
COMMENT ON COLUMN hr.payslips.tax_amt IS 'Income tax and social contributions withheld, EUR';
COMMENT ON COLUMN hr.payslips.net_amt IS 'Paid out: gross + bonus - tax, EUR';

CREATE TABLE hr.performance_reviews (
    employee_id integer NOT NULL REFERENCES hr.employees (employee_id),
    review_year integer NOT NULL,
    reviewer_id integer NOT NULL REFERENCES hr.employees (employee_id),
    rating integer,
    potential text CHECK (potential IN ('L', 'M', 'H')),
    PRIMARY KEY (employee_id, review_year),
    CHECK (rating BETWEEN 1 AND 5)
);
COMMENT ON TABLE hr.performance_reviews IS 'Yearly appraisal of an employee.';
COMMENT ON COLUMN hr.performance_reviews.employee_id IS 'Who is appraised';
COMMENT ON COLUMN hr.performance_reviews.review_year IS 'Calendar year appraised';
COMMENT ON COLUMN hr.performance_reviews.reviewer_id IS 'Who appraised';
COMMENT ON COLUMN hr.performance_reviews.rating
    IS '1 (poor) to 5 (outstanding); empty while the review is not finished';
COMMENT ON COLUMN hr.performance_reviews.potential
    IS 'Potential: L low, M medium, H high; empty if not assessed';

CREATE TABLE hr.public_holidays (
    region_id integer NOT NULL REFERENCES hr.regions (region_id),
    holiday_dt date NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (region_id, holiday_dt)
);
COMMENT ON TABLE hr.public_holidays IS 'Calendar of public holidays by region.';
COMMENT ON COLUMN hr.public_holidays.region_id IS 'Region where the day is off';
COMMENT ON COLUMN hr.public_holidays.holiday_dt IS 'The day';
COMMENT ON COLUMN hr.public_holidays.name IS 'Name of the holiday';


-- finance ---------------------------------------------------------------------------------------
-- Currencies, general ledger, receivables and payables

COMMENT ON SCHEMA finance IS 'Currencies, general ledger, receivables and payables';

CREATE TABLE finance.currencies (
    currency_code text PRIMARY KEY,
    name text NOT NULL,
    decimals integer NOT NULL
);
COMMENT ON TABLE finance.currencies
    IS 'Currencies in use. The company''s own is EUR: every amount is in EUR unless its comment says otherwise.';
COMMENT ON COLUMN finance.currencies.currency_code IS 'ISO 4217 code';
COMMENT ON COLUMN finance.currencies.name IS 'Name in words';
COMMENT ON COLUMN finance.currencies.decimals IS 'Digits after the decimal point';

CREATE TABLE finance.exchange_rates (
    currency_code text NOT NULL REFERENCES finance.currencies (currency_code),
    valid_from date NOT NULL,
    rate numeric(12, 6) NOT NULL,
    PRIMARY KEY (currency_code, valid_from)
);
COMMENT ON TABLE finance.exchange_rates IS 'Monthly exchange rates to EUR.';
COMMENT ON COLUMN finance.exchange_rates.currency_code IS 'Currency converted from';
COMMENT ON COLUMN finance.exchange_rates.valid_from IS 'First day of the month the rate holds for';
COMMENT ON COLUMN finance.exchange_rates.rate
    IS 'EUR for one unit of the currency: multiply by it to get EUR';

CREATE TABLE finance.payment_terms (
    term_code text PRIMARY KEY,
    description text NOT NULL,
    net_days integer NOT NULL,
    discount_pct numeric(4, 2) NOT NULL,
    discount_days integer NOT NULL
);
COMMENT ON TABLE finance.payment_terms IS 'Payment terms agreed with customers and suppliers.';
COMMENT ON COLUMN finance.payment_terms.term_code IS 'Code, such as N30 (30 days net)';
COMMENT ON COLUMN finance.payment_terms.description IS 'The term in words';
COMMENT ON COLUMN finance.payment_terms.net_days IS 'Days until due';
COMMENT ON COLUMN finance.payment_terms.discount_pct IS 'Discount for early payment, percent';
COMMENT ON COLUMN finance.payment_terms.discount_days
    IS 'Days within which the discount may be taken';

CREATE TABLE finance.gl_accounts (
    account_no text PRIMARY KEY,
    name text NOT NULL,
    parent_account_no text REFERENCES finance.gl_accounts (account_no),
    kind text NOT NULL CHECK (kind IN ('A', 'L', 'Q', 'R', 'X'))
);
COMMENT ON TABLE finance.gl_accounts IS 'Chart of accounts, a tree.';
COMMENT ON COLUMN finance.gl_accounts.account_no
    IS 'Account number; the first digit gives the class';
COMMENT ON COLUMN finance.gl_accounts.name IS 'Name of the account';
COMMENT ON COLUMN finance.gl_accounts.parent_account_no
    IS 'Account it is summed into; empty at the top';
COMMENT ON COLUMN finance.gl_accounts.kind
    IS 'Kind of account: A = asset, L = liability, Q = equity, R = revenue, X = expense';

CREATE TABLE finance.cost_centers (
    cost_center_id integer PRIMARY KEY,
    code text NOT NULL UNIQUE,
    name text NOT NULL,
    department_id integer NOT NULL REFERENCES hr.departments (department_id),
    valid_to date
);
COMMENT ON TABLE finance.cost_centers
    IS 'Cost centres that costs are posted to. Each belongs to a department.';
COMMENT ON COLUMN finance.cost_centers.cost_center_id IS 'Key of the cost centre';
COMMENT ON COLUMN finance.cost_centers.code IS 'Code, CC- and four digits';
COMMENT ON COLUMN finance.cost_centers.name IS 'Name in words';
COMMENT ON COLUMN finance.cost_centers.department_id IS 'Department that answers for it';
COMMENT ON COLUMN finance.cost_centers.valid_to IS 'Last day it may be posted to; empty while open';

CREATE TABLE finance.fiscal_periods (
    fiscal_year integer NOT NULL,
    period_no integer NOT NULL,
    start_dt date NOT NULL UNIQUE,
    end_dt date NOT NULL,
    status text NOT NULL CHECK (status IN ('O', 'C', 'L')),
    PRIMARY KEY (fiscal_year, period_no),
    CHECK (period_no BETWEEN 1 AND 12)
);
COMMENT ON TABLE finance.fiscal_periods
    IS 'Fiscal calendar. The fiscal year is NOT the calendar year: it runs July to June and is named after the year it ends in, so that period 1 of 2025 is July 2024.';
COMMENT ON COLUMN finance.fiscal_periods.fiscal_year
    IS 'Fiscal year, named after the calendar year in which it ends';
COMMENT ON COLUMN finance.fiscal_periods.period_no
    IS 'Month of the fiscal year: 1 is July, 12 is June';
COMMENT ON COLUMN finance.fiscal_periods.start_dt IS 'First day';
COMMENT ON COLUMN finance.fiscal_periods.end_dt IS 'Last day';
COMMENT ON COLUMN finance.fiscal_periods.status
    IS 'Status code: O = open for posting, C = closed, L = locked for good';

CREATE TABLE finance.budgets (
    fiscal_year integer NOT NULL,
    cost_center_id integer NOT NULL REFERENCES finance.cost_centers (cost_center_id),
    account_no text NOT NULL REFERENCES finance.gl_accounts (account_no),
    amt numeric(14,2) NOT NULL,
    PRIMARY KEY (fiscal_year, cost_center_id, account_no)
);
COMMENT ON TABLE finance.budgets IS 'Yearly cost budget for each cost centre and account.';
COMMENT ON COLUMN finance.budgets.fiscal_year IS 'Fiscal year (July to June, see fiscal_periods)';
COMMENT ON COLUMN finance.budgets.cost_center_id IS 'Cost centre';
COMMENT ON COLUMN finance.budgets.account_no IS 'Expense account';
COMMENT ON COLUMN finance.budgets.amt IS 'Budgeted cost for the whole fiscal year, EUR';

CREATE TABLE finance.journal_entries (
    journal_id integer PRIMARY KEY,
    fiscal_year integer NOT NULL,
    period_no integer NOT NULL,
    posted_dt date NOT NULL,
    source_code text NOT NULL CHECK (source_code IN ('AR', 'AP', 'PAY', 'DEP', 'MAN')),
    posted_by integer REFERENCES hr.employees (employee_id),
    reversed_journal_id integer REFERENCES finance.journal_entries (journal_id),
    memo text,
    FOREIGN KEY (fiscal_year, period_no) REFERENCES finance.fiscal_periods (fiscal_year, period_no)
);
CREATE INDEX ON finance.journal_entries (posted_dt);
COMMENT ON TABLE finance.journal_entries IS 'Heads of general-ledger postings.';
COMMENT ON COLUMN finance.journal_entries.journal_id IS 'Key of the posting';
COMMENT ON COLUMN finance.journal_entries.fiscal_year IS 'Fiscal year posted to (July to June)';
COMMENT ON COLUMN finance.journal_entries.period_no IS 'Fiscal period posted to: 1 is July';
COMMENT ON COLUMN finance.journal_entries.posted_dt IS 'Day of posting';
COMMENT ON COLUMN finance.journal_entries.source_code
    IS 'Where it came from: AR = receivables, AP = payables, PAY = payroll, DEP = depreciation, MAN = by hand';
COMMENT ON COLUMN finance.journal_entries.posted_by IS 'Who posted; empty for automatic postings';
COMMENT ON COLUMN finance.journal_entries.reversed_journal_id
    IS 'The earlier posting that this one reverses, if it is a reversal';
COMMENT ON COLUMN finance.journal_entries.memo IS 'Free text';

CREATE TABLE finance.journal_lines (
    journal_id integer NOT NULL REFERENCES finance.journal_entries (journal_id),
    line_no integer NOT NULL,
    account_no text NOT NULL REFERENCES finance.gl_accounts (account_no),
    cost_center_id integer REFERENCES finance.cost_centers (cost_center_id),
    debit_amt numeric(14,2) NOT NULL,
    credit_amt numeric(14,2) NOT NULL,
    PRIMARY KEY (journal_id, line_no)
);
COMMENT ON TABLE finance.journal_lines
    IS 'Lines of general-ledger postings. Debits equal credits within a posting.';
COMMENT ON COLUMN finance.journal_lines.journal_id IS 'Posting the line belongs to';
COMMENT ON COLUMN finance.journal_lines.line_no IS 'Number of the line, from 1';
COMMENT ON COLUMN finance.journal_lines.account_no IS 'Account posted to';
COMMENT ON COLUMN finance.journal_lines.cost_center_id IS 'Cost centre; only on expense lines';
COMMENT ON COLUMN finance.journal_lines.debit_amt IS 'Debit, EUR; 0 on a credit line';
COMMENT ON COLUMN finance.journal_lines.credit_amt IS 'Credit, EUR; 0 on a debit line';

CREATE TABLE finance.invoices (
    invoice_id integer PRIMARY KEY,
    invoice_no text NOT NULL UNIQUE,
    cust_no integer NOT NULL,
    order_id integer,
    dt date NOT NULL,
    due_dt date NOT NULL,
    term_code text NOT NULL REFERENCES finance.payment_terms (term_code),
    net_amt numeric(14,2) NOT NULL,
    tax_amt numeric(14,2) NOT NULL,
    amt numeric(14,2) NOT NULL,
    status text NOT NULL CHECK (status IN ('OPN', 'PRT', 'PD', 'VOI')),
    dunning_level integer NOT NULL,
    CHECK (dunning_level BETWEEN 0 AND 3)
);
CREATE INDEX ON finance.invoices (cust_no);
CREATE INDEX ON finance.invoices (order_id);
CREATE INDEX ON finance.invoices (dt);
COMMENT ON TABLE finance.invoices
    IS 'Invoices sent to customers. Most bill one sales order; service invoices have no order.';
COMMENT ON COLUMN finance.invoices.invoice_id IS 'Key of the invoice';
COMMENT ON COLUMN finance.invoices.invoice_no IS 'Number printed on the invoice';
COMMENT ON COLUMN finance.invoices.cust_no
    IS 'Customer billed: the same key as crm.customers.customer_id, under its old name';
COMMENT ON COLUMN finance.invoices.order_id IS 'Sales order billed; empty for service invoices';
COMMENT ON COLUMN finance.invoices.dt IS 'Invoice date';
COMMENT ON COLUMN finance.invoices.due_dt IS 'Day payment is due';
COMMENT ON COLUMN finance.invoices.term_code IS 'Payment terms that applied';
COMMENT ON COLUMN finance.invoices.net_amt
    IS 'Amount without tax, EUR; equals the order''s total where there is an order';
COMMENT ON COLUMN finance.invoices.tax_amt IS 'Value-added tax, EUR';
COMMENT ON COLUMN finance.invoices.amt IS 'Amount to be paid including tax, EUR';
COMMENT ON COLUMN finance.invoices.status
    IS 'Status code: OPN = open (nothing paid), PRT = partly paid, PD = paid in full, VOI = void (issued in error, nothing owed)';
COMMENT ON COLUMN finance.invoices.dunning_level IS 'Payment reminders sent so far: 0 to 3';

CREATE TABLE finance.customer_payments (
    payment_id integer PRIMARY KEY,
    invoice_id integer NOT NULL REFERENCES finance.invoices (invoice_id),
    received_dt date NOT NULL,
    amt numeric(14,2) NOT NULL,
    method text NOT NULL CHECK (method IN ('TRF', 'CRD', 'DD', 'CHQ'))
);
CREATE INDEX ON finance.customer_payments (invoice_id);
COMMENT ON TABLE finance.customer_payments
    IS 'Money received from customers, each for one invoice.';
COMMENT ON COLUMN finance.customer_payments.payment_id IS 'Key of the payment';
COMMENT ON COLUMN finance.customer_payments.invoice_id IS 'Invoice paid';
COMMENT ON COLUMN finance.customer_payments.received_dt IS 'Day the money arrived';
COMMENT ON COLUMN finance.customer_payments.amt IS 'Amount received, EUR';
COMMENT ON COLUMN finance.customer_payments.method
    IS 'How it was paid: TRF = bank transfer, CRD = card, DD = direct debit, CHQ = cheque';

CREATE TABLE finance.supplier_bills (
    bill_id integer PRIMARY KEY,
    bill_ref text NOT NULL,
    supplier_id integer NOT NULL,
    po_id integer,
    cost_center_id integer REFERENCES finance.cost_centers (cost_center_id),
    dt date NOT NULL,
    due_dt date NOT NULL,
    amt numeric(14,2) NOT NULL,
    paid_dt date,
    status text NOT NULL CHECK (status IN ('RCV', 'APP', 'PD', 'DSP'))
);
CREATE INDEX ON finance.supplier_bills (supplier_id);
COMMENT ON TABLE finance.supplier_bills IS 'Bills received from suppliers.';
COMMENT ON COLUMN finance.supplier_bills.bill_id IS 'Key of the bill';
COMMENT ON COLUMN finance.supplier_bills.bill_ref
    IS 'The supplier''s own bill number; not unique over suppliers';
COMMENT ON COLUMN finance.supplier_bills.supplier_id IS 'Supplier who billed';
COMMENT ON COLUMN finance.supplier_bills.po_id
    IS 'Purchase order billed; empty for bills without an order (rent, utilities)';
COMMENT ON COLUMN finance.supplier_bills.cost_center_id
    IS 'Cost centre charged; only on bills without a purchase order';
COMMENT ON COLUMN finance.supplier_bills.dt IS 'Date on the bill';
COMMENT ON COLUMN finance.supplier_bills.due_dt IS 'Day payment is due';
COMMENT ON COLUMN finance.supplier_bills.amt IS 'Amount, EUR, already converted';
COMMENT ON COLUMN finance.supplier_bills.paid_dt IS 'Day it was paid; empty while unpaid';
COMMENT ON COLUMN finance.supplier_bills.status
    IS 'Status code: RCV = received, APP = approved for payment, PD = paid, DSP = disputed';


-- inventory -------------------------------------------------------------------------------------
-- Products, warehouses and stock

COMMENT ON SCHEMA inventory IS 'Products, warehouses and stock';

CREATE TABLE inventory.product_categories (
    category_id integer PRIMARY KEY,
    code text NOT NULL UNIQUE,
    name text NOT NULL,
    parent_category_id integer REFERENCES inventory.product_categories (category_id)
);
COMMENT ON TABLE inventory.product_categories IS 'Product categories, a tree of two levels.';
COMMENT ON COLUMN inventory.product_categories.category_id IS 'Key of the category';
COMMENT ON COLUMN inventory.product_categories.code IS 'Short code';
COMMENT ON COLUMN inventory.product_categories.name IS 'Name in words';
COMMENT ON COLUMN inventory.product_categories.parent_category_id
    IS 'Category above; empty at the top';

CREATE TABLE inventory.products (
    product_id integer PRIMARY KEY,
    sku text NOT NULL UNIQUE,
    name text NOT NULL,
    category_id integer NOT NULL REFERENCES inventory.product_categories (category_id),
    kind text NOT NULL CHECK (kind IN ('FIN', 'SUB', 'RAW', 'MER', 'SRV')),
    uom text NOT NULL CHECK (uom IN ('EA', 'KG', 'M', 'H')),
    list_price numeric(14,2),
    std_cost numeric(14,2) NOT NULL,
    weight_kg numeric(8, 3),
    launch_dt date NOT NULL,
    discontinued_dt date,
    status text NOT NULL CHECK (status IN ('ACT', 'EOL', 'DEV')),
    successor_id integer REFERENCES inventory.products (product_id)
);
CREATE INDEX ON inventory.products (category_id);
COMMENT ON TABLE inventory.products IS 'Everything that is made, bought, stocked or sold.';
COMMENT ON COLUMN inventory.products.product_id IS 'Key of the product';
COMMENT ON COLUMN inventory.products.sku IS 'Article number';
COMMENT ON COLUMN inventory.products.name IS 'Name as printed in the catalogue';
COMMENT ON COLUMN inventory.products.category_id IS 'Category (second level)';
COMMENT ON COLUMN inventory.products.kind
    IS 'Kind of product: FIN = finished product of our own, SUB = subassembly, RAW = raw material or bought part, MER = merchandise (bought and resold), SRV = service';
COMMENT ON COLUMN inventory.products.uom
    IS 'Unit of measure: EA = each, KG = kilogram, M = metre, H = hour';
COMMENT ON COLUMN inventory.products.list_price
    IS 'List price without tax for one unit, EUR; empty for what is not sold';
COMMENT ON COLUMN inventory.products.std_cost IS 'Standard cost of one unit, EUR';
COMMENT ON COLUMN inventory.products.weight_kg
    IS 'Weight of one unit in kilograms; empty for services';
COMMENT ON COLUMN inventory.products.launch_dt IS 'Day it was first offered or used';
COMMENT ON COLUMN inventory.products.discontinued_dt
    IS 'Day it was taken off the list; empty while current';
COMMENT ON COLUMN inventory.products.status
    IS 'Status code: ACT = active, EOL = end of life, DEV = in development (not for sale yet)';
COMMENT ON COLUMN inventory.products.successor_id
    IS 'Product that replaces this one, if it is at its end of life';

CREATE TABLE inventory.warehouses (
    warehouse_id integer PRIMARY KEY,
    code text NOT NULL UNIQUE,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('CEN', 'REG', 'PLT', 'CON')),
    region_id integer NOT NULL REFERENCES hr.regions (region_id),
    department_id integer NOT NULL REFERENCES hr.departments (department_id),
    city text NOT NULL,
    manager_id integer REFERENCES hr.employees (employee_id)
);
COMMENT ON TABLE inventory.warehouses IS 'Warehouses.';
COMMENT ON COLUMN inventory.warehouses.warehouse_id IS 'Key of the warehouse';
COMMENT ON COLUMN inventory.warehouses.code IS 'Short code';
COMMENT ON COLUMN inventory.warehouses.name IS 'Name in words';
COMMENT ON COLUMN inventory.warehouses.kind
    IS 'Kind: CEN = central, REG = regional, PLT = at a plant, CON = consignment stock at a dealer';
COMMENT ON COLUMN inventory.warehouses.region_id IS 'Region it serves';
COMMENT ON COLUMN inventory.warehouses.department_id IS 'Department that runs it';
COMMENT ON COLUMN inventory.warehouses.city IS 'City';
COMMENT ON COLUMN inventory.warehouses.manager_id IS 'Warehouse manager; may be vacant';

CREATE TABLE inventory.bins (
    warehouse_id integer NOT NULL REFERENCES inventory.warehouses (warehouse_id),
    bin_code text NOT NULL,
    zone text NOT NULL CHECK (zone IN ('F', 'S', 'C', 'H')),
    capacity_units integer NOT NULL,
    PRIMARY KEY (warehouse_id, bin_code)
);
COMMENT ON TABLE inventory.bins
    IS 'Storage bins in a warehouse. A bin code is unique only within its warehouse.';
COMMENT ON COLUMN inventory.bins.warehouse_id IS 'Warehouse';
COMMENT ON COLUMN inventory.bins.bin_code IS 'Code of the bin: aisle, rack, level';
COMMENT ON COLUMN inventory.bins.zone
    IS 'Zone: F fast movers, S standard, C cold and battery room, H hazardous goods';
COMMENT ON COLUMN inventory.bins.capacity_units IS 'How many pallet places it holds';

CREATE TABLE inventory.stock_levels (
    warehouse_id integer NOT NULL REFERENCES inventory.warehouses (warehouse_id),
    product_id integer NOT NULL REFERENCES inventory.products (product_id),
    on_hand_qty integer NOT NULL,
    reserved_qty integer NOT NULL,
    reorder_point integer,
    last_counted_dt date,
    PRIMARY KEY (warehouse_id, product_id)
);
COMMENT ON TABLE inventory.stock_levels
    IS 'Present stock of a product in a warehouse. on_hand_qty is the sum of the movements.';
COMMENT ON COLUMN inventory.stock_levels.warehouse_id IS 'Warehouse';
COMMENT ON COLUMN inventory.stock_levels.product_id IS 'Product';
COMMENT ON COLUMN inventory.stock_levels.on_hand_qty IS 'Units on the shelf now';
COMMENT ON COLUMN inventory.stock_levels.reserved_qty IS 'Units of these promised to orders';
COMMENT ON COLUMN inventory.stock_levels.reorder_point
    IS 'Reorder when stock falls below; empty if not planned';
COMMENT ON COLUMN inventory.stock_levels.last_counted_dt
    IS 'Day of the last physical count; empty if never counted';

CREATE TABLE inventory.stock_movements (
    movement_id integer PRIMARY KEY,
    product_id integer NOT NULL,
    warehouse_id integer NOT NULL,
    bin_code text,
    mv_type text NOT NULL CHECK (mv_type IN ('OB', 'GR', 'GI', 'PR', 'RT', 'AD')),
    moved_at timestamp NOT NULL,
    qty integer NOT NULL,
    moved_by integer REFERENCES hr.employees (employee_id),
    ref_no text,
    FOREIGN KEY (warehouse_id, product_id) REFERENCES inventory.stock_levels (warehouse_id, product_id),
    FOREIGN KEY (warehouse_id, bin_code) REFERENCES inventory.bins (warehouse_id, bin_code)
);
CREATE INDEX ON inventory.stock_movements (product_id, moved_at);
COMMENT ON TABLE inventory.stock_movements IS 'Every movement in or out of stock.';
COMMENT ON COLUMN inventory.stock_movements.movement_id IS 'Key of the movement';
COMMENT ON COLUMN inventory.stock_movements.product_id IS 'Product moved';
COMMENT ON COLUMN inventory.stock_movements.warehouse_id IS 'Warehouse';
COMMENT ON COLUMN inventory.stock_movements.bin_code IS 'Bin; empty when staged on the floor';
COMMENT ON COLUMN inventory.stock_movements.mv_type
    IS 'Movement type: OB = opening balance, GR = goods receipt from a supplier, GI = goods issue to a customer or to production, PR = receipt from production, RT = return from a customer, AD = adjustment after a count';
COMMENT ON COLUMN inventory.stock_movements.moved_at IS 'When it was booked';
COMMENT ON COLUMN inventory.stock_movements.qty IS 'Units, signed: positive in, negative out';
COMMENT ON COLUMN inventory.stock_movements.moved_by
    IS 'Who booked it; empty for automatic bookings';
COMMENT ON COLUMN inventory.stock_movements.ref_no IS 'Number of the document behind it, free form';


-- crm -------------------------------------------------------------------------------------------
-- Customers, contacts, campaigns and opportunities

COMMENT ON SCHEMA crm IS 'Customers, contacts, campaigns and opportunities';

CREATE TABLE crm.countries (
    country_code text PRIMARY KEY,
    name text NOT NULL,
    region_id integer NOT NULL REFERENCES hr.regions (region_id),
    currency_code text NOT NULL REFERENCES finance.currencies (currency_code)
);
COMMENT ON TABLE crm.countries IS 'Countries, with the region that looks after them.';
COMMENT ON COLUMN crm.countries.country_code IS 'ISO 3166 two-letter code';
COMMENT ON COLUMN crm.countries.name IS 'Name in English';
COMMENT ON COLUMN crm.countries.region_id IS 'Region that looks after the country';
COMMENT ON COLUMN crm.countries.currency_code IS 'Currency used there';

CREATE TABLE crm.customer_segments (
    segment_code text PRIMARY KEY,
    name text NOT NULL,
    discount_pct numeric(4, 2) NOT NULL
);
COMMENT ON TABLE crm.customer_segments IS 'Kinds of customer by business.';
COMMENT ON COLUMN crm.customer_segments.segment_code IS 'Code, such as DEA';
COMMENT ON COLUMN crm.customer_segments.name IS 'Name of the segment';
COMMENT ON COLUMN crm.customer_segments.discount_pct IS 'Standard discount of the segment, percent';

CREATE TABLE crm.customers (
    customer_id integer PRIMARY KEY,
    legacy_no text UNIQUE,
    name text NOT NULL,
    parent_customer_id integer REFERENCES crm.customers (customer_id),
    segment_code text NOT NULL REFERENCES crm.customer_segments (segment_code),
    type text NOT NULL CHECK (type IN ('D', 'E', 'X')),
    region_id integer NOT NULL REFERENCES hr.regions (region_id),
    country_code text NOT NULL REFERENCES crm.countries (country_code),
    account_manager_id integer REFERENCES hr.employees (employee_id),
    term_code text NOT NULL REFERENCES finance.payment_terms (term_code),
    credit_limit numeric(14,2),
    status text NOT NULL CHECK (status IN ('PRO', 'ACT', 'BLK', 'INA')),
    created_dt date NOT NULL
);
CREATE INDEX ON crm.customers (region_id);
CREATE INDEX ON crm.customers (parent_customer_id);
COMMENT ON TABLE crm.customers
    IS 'Customers (companies). One row an account; chains have a parent account.';
COMMENT ON COLUMN crm.customers.customer_id IS 'Key of the customer';
COMMENT ON COLUMN crm.customers.legacy_no
    IS 'Customer number in the legacy system, K and five digits; empty for customers won after 2022';
COMMENT ON COLUMN crm.customers.name IS 'Company name';
COMMENT ON COLUMN crm.customers.parent_customer_id IS 'Parent account, for branches of a chain';
COMMENT ON COLUMN crm.customers.segment_code IS 'Segment: what kind of business it is';
COMMENT ON COLUMN crm.customers.type
    IS 'How value-added tax is treated: D domestic, E within the EU, X export. Not the kind of business: that is segment_code';
COMMENT ON COLUMN crm.customers.region_id IS 'Sales region that owns the account';
COMMENT ON COLUMN crm.customers.country_code IS 'Country of the head office';
COMMENT ON COLUMN crm.customers.account_manager_id
    IS 'Employee who looks after the account; may be vacant';
COMMENT ON COLUMN crm.customers.term_code IS 'Payment terms agreed';
COMMENT ON COLUMN crm.customers.credit_limit IS 'Credit limit, EUR; empty means no credit';
COMMENT ON COLUMN crm.customers.status
    IS 'Status code: PRO = prospect, ACT = active, BLK = blocked for credit reasons, INA = inactive';
COMMENT ON COLUMN crm.customers.created_dt IS 'Day the account was created';

CREATE TABLE crm.customer_addresses (
    address_id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES crm.customers (customer_id),
    kind text NOT NULL CHECK (kind IN ('HQ', 'BIL', 'SHP')),
    street text NOT NULL,
    city text NOT NULL,
    postcode text,
    country_code text NOT NULL REFERENCES crm.countries (country_code)
);
CREATE INDEX ON crm.customer_addresses (customer_id);
COMMENT ON TABLE crm.customer_addresses
    IS 'Addresses of customers; an order picks one to bill and one to ship to.';
COMMENT ON COLUMN crm.customer_addresses.address_id IS 'Key of the address';
COMMENT ON COLUMN crm.customer_addresses.customer_id IS 'Customer';
COMMENT ON COLUMN crm.customer_addresses.kind
    IS 'Kind: HQ = head office, BIL = billing address, SHP = delivery address';
COMMENT ON COLUMN crm.customer_addresses.street IS 'Street and number';
COMMENT ON COLUMN crm.customer_addresses.city IS 'City';
COMMENT ON COLUMN crm.customer_addresses.postcode IS 'Post code; empty where the country has none';
COMMENT ON COLUMN crm.customer_addresses.country_code IS 'Country';

CREATE TABLE crm.contacts (
    contact_id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES crm.customers (customer_id),
    first_name text NOT NULL,
    last_name text NOT NULL,
    email text,
    role_code text NOT NULL CHECK (role_code IN ('BUY', 'OWN', 'TEC', 'FIN')),
    opted_out boolean NOT NULL
);
CREATE INDEX ON crm.contacts (customer_id);
COMMENT ON TABLE crm.contacts IS 'People at customers.';
COMMENT ON COLUMN crm.contacts.contact_id IS 'Key of the contact';
COMMENT ON COLUMN crm.contacts.customer_id IS 'Company the person works for';
COMMENT ON COLUMN crm.contacts.first_name IS 'Given name';
COMMENT ON COLUMN crm.contacts.last_name IS 'Family name';
COMMENT ON COLUMN crm.contacts.email IS 'E-mail address, if known';
COMMENT ON COLUMN crm.contacts.role_code
    IS 'Role: BUY = purchasing, OWN = owner or director, TEC = workshop, FIN = accounts';
COMMENT ON COLUMN crm.contacts.opted_out
    IS 'True if the person asked not to be contacted for marketing';

CREATE TABLE crm.campaigns (
    campaign_id integer PRIMARY KEY,
    name text NOT NULL,
    channel text NOT NULL CHECK (channel IN ('EML', 'FAIR', 'WEB', 'PRT')),
    region_id integer REFERENCES hr.regions (region_id),
    owner_id integer NOT NULL REFERENCES hr.employees (employee_id),
    start_dt date NOT NULL,
    end_dt date,
    budget_amt numeric(14,2) NOT NULL
);
COMMENT ON TABLE crm.campaigns IS 'Marketing campaigns.';
COMMENT ON COLUMN crm.campaigns.campaign_id IS 'Key of the campaign';
COMMENT ON COLUMN crm.campaigns.name IS 'Name of the campaign';
COMMENT ON COLUMN crm.campaigns.channel
    IS 'Channel: EML = e-mail, FAIR = trade fair, WEB = online advertising, PRT = print';
COMMENT ON COLUMN crm.campaigns.region_id IS 'Region targeted; empty for worldwide';
COMMENT ON COLUMN crm.campaigns.owner_id IS 'Employee responsible';
COMMENT ON COLUMN crm.campaigns.start_dt IS 'First day';
COMMENT ON COLUMN crm.campaigns.end_dt IS 'Last day; empty while running';
COMMENT ON COLUMN crm.campaigns.budget_amt IS 'Budget, EUR';

CREATE TABLE crm.campaign_members (
    campaign_id integer NOT NULL REFERENCES crm.campaigns (campaign_id),
    contact_id integer NOT NULL REFERENCES crm.contacts (contact_id),
    response text NOT NULL CHECK (response IN ('N', 'O', 'C', 'M')),
    responded_dt date,
    PRIMARY KEY (campaign_id, contact_id)
);
COMMENT ON TABLE crm.campaign_members IS 'Contacts reached by a campaign and how they reacted.';
COMMENT ON COLUMN crm.campaign_members.campaign_id IS 'Campaign';
COMMENT ON COLUMN crm.campaign_members.contact_id IS 'Contact';
COMMENT ON COLUMN crm.campaign_members.response
    IS 'Reaction: N none, O opened or visited, C clicked or asked, M led to a meeting';
COMMENT ON COLUMN crm.campaign_members.responded_dt IS 'Day of the reaction; empty without one';

CREATE TABLE crm.opportunities (
    opportunity_id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES crm.customers (customer_id),
    owner_id integer REFERENCES hr.employees (employee_id),
    campaign_id integer REFERENCES crm.campaigns (campaign_id),
    title text NOT NULL,
    stage text NOT NULL CHECK (stage IN ('NEW', 'QUA', 'PRP', 'NEG', 'WON', 'LST')),
    amt numeric(14,2) NOT NULL,
    probability_pct integer NOT NULL,
    created_dt date NOT NULL,
    expected_close_dt date NOT NULL,
    closed_dt date,
    lost_reason text CHECK (lost_reason IN ('PRC', 'CMP', 'DLY', 'NOD'))
);
CREATE INDEX ON crm.opportunities (customer_id);
COMMENT ON TABLE crm.opportunities IS 'Sales opportunities.';
COMMENT ON COLUMN crm.opportunities.opportunity_id IS 'Key of the opportunity';
COMMENT ON COLUMN crm.opportunities.customer_id IS 'Customer or prospect';
COMMENT ON COLUMN crm.opportunities.owner_id IS 'Sales employee who pursues it; may be unassigned';
COMMENT ON COLUMN crm.opportunities.campaign_id IS 'Campaign it came from, if any';
COMMENT ON COLUMN crm.opportunities.title IS 'Short description';
COMMENT ON COLUMN crm.opportunities.stage
    IS 'Stage: NEW = new, QUA = qualified, PRP = proposal sent, NEG = in negotiation, WON = won, LST = lost';
COMMENT ON COLUMN crm.opportunities.amt IS 'Expected value, EUR';
COMMENT ON COLUMN crm.opportunities.probability_pct
    IS 'Chance of winning as judged by the owner, percent';
COMMENT ON COLUMN crm.opportunities.created_dt IS 'Day it was created';
COMMENT ON COLUMN crm.opportunities.expected_close_dt IS 'Day a decision is expected';
COMMENT ON COLUMN crm.opportunities.closed_dt IS 'Day it was won or lost; empty while open';
COMMENT ON COLUMN crm.opportunities.lost_reason
    IS 'Why it was lost: PRC = price, CMP = competitor, DLY = delivery time, NOD = no decision; empty unless lost';

CREATE TABLE crm.interactions (
    interaction_id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES crm.customers (customer_id),
    contact_id integer REFERENCES crm.contacts (contact_id),
    employee_id integer NOT NULL REFERENCES hr.employees (employee_id),
    kind text NOT NULL CHECK (kind IN ('CAL', 'VIS', 'EML', 'FAIR')),
    happened_at timestamp NOT NULL,
    duration_min integer,
    subject text NOT NULL
);
CREATE INDEX ON crm.interactions (customer_id);
COMMENT ON TABLE crm.interactions IS 'Calls, visits and e-mails with customers.';
COMMENT ON COLUMN crm.interactions.interaction_id IS 'Key of the interaction';
COMMENT ON COLUMN crm.interactions.customer_id IS 'Customer';
COMMENT ON COLUMN crm.interactions.contact_id IS 'Person spoken to, if noted';
COMMENT ON COLUMN crm.interactions.employee_id IS 'Our employee';
COMMENT ON COLUMN crm.interactions.kind
    IS 'Kind: CAL = phone call, VIS = visit, EML = e-mail, FAIR = talk at a trade fair';
COMMENT ON COLUMN crm.interactions.happened_at IS 'When';
COMMENT ON COLUMN crm.interactions.duration_min IS 'Length in minutes; empty for e-mails';
COMMENT ON COLUMN crm.interactions.subject IS 'Subject line';


-- sales -----------------------------------------------------------------------------------------
-- Orders, shipments, returns and targets

COMMENT ON SCHEMA sales IS 'Orders, shipments, returns and targets';

CREATE TABLE sales.carriers (
    carrier_code text PRIMARY KEY,
    name text NOT NULL,
    mode text NOT NULL CHECK (mode IN ('R', 'A', 'S', 'P'))
);
COMMENT ON TABLE sales.carriers IS 'Freight carriers.';
COMMENT ON COLUMN sales.carriers.carrier_code IS 'Code of the carrier';
COMMENT ON COLUMN sales.carriers.name IS 'Name';
COMMENT ON COLUMN sales.carriers.mode IS 'Mode of transport: R road, A air, S sea, P parcel';

CREATE TABLE sales.orders (
    order_id integer PRIMARY KEY,
    order_no text NOT NULL UNIQUE,
    customer_id integer NOT NULL REFERENCES crm.customers (customer_id),
    contact_id integer REFERENCES crm.contacts (contact_id),
    bill_to_address_id integer NOT NULL REFERENCES crm.customer_addresses (address_id),
    ship_to_address_id integer NOT NULL REFERENCES crm.customer_addresses (address_id),
    sales_rep_id integer REFERENCES hr.employees (employee_id),
    opportunity_id integer REFERENCES crm.opportunities (opportunity_id),
    channel text NOT NULL CHECK (channel IN ('WEB', 'REP', 'PHN', 'EDI')),
    order_dt date NOT NULL,
    requested_dt date,
    status text NOT NULL CHECK (status IN ('OPN', 'CNF', 'PSH', 'SHP', 'CLS', 'CXL')),
    amt numeric(14,2) NOT NULL
);
CREATE INDEX ON sales.orders (customer_id);
CREATE INDEX ON sales.orders (order_dt);
CREATE INDEX ON sales.orders (sales_rep_id);
COMMENT ON TABLE sales.orders
    IS 'Customer orders since January 2022: the live order table. For orders of the former system see sales.order_hdr.';
COMMENT ON COLUMN sales.orders.order_id IS 'Key of the order';
COMMENT ON COLUMN sales.orders.order_no IS 'Number shown to the customer, SO-year-number';
COMMENT ON COLUMN sales.orders.customer_id IS 'Customer who ordered';
COMMENT ON COLUMN sales.orders.contact_id IS 'Person who ordered, if known';
COMMENT ON COLUMN sales.orders.bill_to_address_id IS 'Address the invoice goes to';
COMMENT ON COLUMN sales.orders.ship_to_address_id IS 'Address the goods go to';
COMMENT ON COLUMN sales.orders.sales_rep_id IS 'Sales employee credited; empty for web-shop orders';
COMMENT ON COLUMN sales.orders.opportunity_id IS 'Opportunity that led to the order, if any';
COMMENT ON COLUMN sales.orders.channel
    IS 'Sales channel: WEB = web shop, REP = sales representative, PHN = phone, EDI = electronic data interchange';
COMMENT ON COLUMN sales.orders.order_dt IS 'Day of the order';
COMMENT ON COLUMN sales.orders.requested_dt IS 'Delivery day the customer asked for, if any';
COMMENT ON COLUMN sales.orders.status
    IS 'Status code: OPN = open, CNF = confirmed, PSH = partly shipped, SHP = shipped in full, CLS = closed (shipped and paid), CXL = cancelled';
COMMENT ON COLUMN sales.orders.amt
    IS 'Order total without tax, EUR: the sum of its lines. Cancelled orders keep their total';

CREATE TABLE sales.order_lines (
    order_id integer NOT NULL REFERENCES sales.orders (order_id),
    line_no integer NOT NULL,
    product_id integer NOT NULL REFERENCES inventory.products (product_id),
    qty integer NOT NULL,
    unit_price numeric(14,2) NOT NULL,
    discount_pct numeric(5, 2) NOT NULL,
    amt numeric(14,2) NOT NULL,
    PRIMARY KEY (order_id, line_no),
    CHECK (qty > 0)
);
CREATE INDEX ON sales.order_lines (product_id);
COMMENT ON TABLE sales.order_lines IS 'Lines of customer orders (sales.orders).';
COMMENT ON COLUMN sales.order_lines.order_id IS 'Order';
COMMENT ON COLUMN sales.order_lines.line_no IS 'Number of the line within the order, from 1';
COMMENT ON COLUMN sales.order_lines.product_id IS 'Product ordered';
COMMENT ON COLUMN sales.order_lines.qty IS 'Units ordered';
COMMENT ON COLUMN sales.order_lines.unit_price
    IS 'List price for one unit on that day, EUR, before discount';
COMMENT ON COLUMN sales.order_lines.discount_pct IS 'Discount on the line, percent';
COMMENT ON COLUMN sales.order_lines.amt IS 'Line total after discount, EUR';

CREATE TABLE sales.shipments (
    shipment_id integer PRIMARY KEY,
    order_id integer NOT NULL REFERENCES sales.orders (order_id),
    warehouse_id integer NOT NULL REFERENCES inventory.warehouses (warehouse_id),
    carrier_code text NOT NULL REFERENCES sales.carriers (carrier_code),
    shipped_dt date NOT NULL,
    delivered_dt date,
    freight_amt numeric(14,2) NOT NULL,
    status text NOT NULL CHECK (status IN ('TRN', 'DLV', 'LST'))
);
CREATE INDEX ON sales.shipments (order_id);
COMMENT ON TABLE sales.shipments
    IS 'Deliveries to customers. An order may be delivered in several.';
COMMENT ON COLUMN sales.shipments.shipment_id IS 'Key of the delivery';
COMMENT ON COLUMN sales.shipments.order_id IS 'Order delivered';
COMMENT ON COLUMN sales.shipments.warehouse_id IS 'Warehouse it left from';
COMMENT ON COLUMN sales.shipments.carrier_code IS 'Carrier';
COMMENT ON COLUMN sales.shipments.shipped_dt IS 'Day it left';
COMMENT ON COLUMN sales.shipments.delivered_dt IS 'Day it arrived; empty while under way or lost';
COMMENT ON COLUMN sales.shipments.freight_amt IS 'Freight cost, EUR';
COMMENT ON COLUMN sales.shipments.status IS 'Status code: TRN = in transit, DLV = delivered, LST = lost';

CREATE TABLE sales.shipment_lines (
    shipment_id integer NOT NULL REFERENCES sales.shipments (shipment_id),
    order_id integer NOT NULL,
    line_no integer NOT NULL,
    qty integer NOT NULL,
    PRIMARY KEY (shipment_id, order_id, line_no),
    FOREIGN KEY (order_id, line_no) REFERENCES sales.order_lines (order_id, line_no)
);
COMMENT ON TABLE sales.shipment_lines IS 'What a delivery holds, by order line.';
COMMENT ON COLUMN sales.shipment_lines.shipment_id IS 'Delivery';
COMMENT ON COLUMN sales.shipment_lines.order_id
    IS 'Order of the line; with line_no it names the order line';
COMMENT ON COLUMN sales.shipment_lines.line_no IS 'Line of the order';
COMMENT ON COLUMN sales.shipment_lines.qty IS 'Units delivered';

CREATE TABLE sales.return_reasons (
    reason_code text PRIMARY KEY,
    description text NOT NULL,
    our_fault boolean NOT NULL
);
COMMENT ON TABLE sales.return_reasons IS 'Reasons for returns.';
COMMENT ON COLUMN sales.return_reasons.reason_code IS 'Code';
COMMENT ON COLUMN sales.return_reasons.description IS 'The reason in words';
COMMENT ON COLUMN sales.return_reasons.our_fault IS 'True if we answer for it';

CREATE TABLE sales.returns (
    return_id integer PRIMARY KEY,
    order_id integer NOT NULL,
    line_no integer NOT NULL,
    reason_code text NOT NULL REFERENCES sales.return_reasons (reason_code),
    dt date NOT NULL,
    qty integer NOT NULL,
    refund_amt numeric(14,2),
    status text NOT NULL CHECK (status IN ('ANN', 'RCV', 'RFD', 'REJ')),
    FOREIGN KEY (order_id, line_no) REFERENCES sales.order_lines (order_id, line_no)
);
COMMENT ON TABLE sales.returns IS 'Goods sent back by customers, by order line.';
COMMENT ON COLUMN sales.returns.return_id IS 'Key of the return';
COMMENT ON COLUMN sales.returns.order_id IS 'Order; with line_no it names the order line';
COMMENT ON COLUMN sales.returns.line_no IS 'Line of the order';
COMMENT ON COLUMN sales.returns.reason_code IS 'Reason';
COMMENT ON COLUMN sales.returns.dt IS 'Day the return was announced';
COMMENT ON COLUMN sales.returns.qty IS 'Units sent back';
COMMENT ON COLUMN sales.returns.refund_amt
    IS 'Amount refunded, EUR; empty until decided, 0 if refused';
COMMENT ON COLUMN sales.returns.status
    IS 'Status code: ANN = announced, RCV = received, RFD = refunded, REJ = refused';

CREATE TABLE sales.sales_targets (
    employee_id integer NOT NULL REFERENCES hr.employees (employee_id),
    cal_year integer NOT NULL,
    quarter integer NOT NULL,
    target_amt numeric(14,2) NOT NULL,
    PRIMARY KEY (employee_id, cal_year, quarter),
    CHECK (quarter BETWEEN 1 AND 4)
);
COMMENT ON TABLE sales.sales_targets IS 'Quarterly sales target of each sales employee.';
COMMENT ON COLUMN sales.sales_targets.employee_id IS 'Sales employee';
COMMENT ON COLUMN sales.sales_targets.cal_year IS 'Calendar year (not the fiscal year)';
COMMENT ON COLUMN sales.sales_targets.quarter IS 'Calendar quarter, 1 to 4';
COMMENT ON COLUMN sales.sales_targets.target_amt IS 'Order value to be reached in the quarter, EUR';

CREATE TABLE sales.order_hdr (
    ord_no integer PRIMARY KEY,
    cust_no text REFERENCES crm.customers (legacy_no),
    dt date NOT NULL,
    amt numeric(14,2) NOT NULL,
    type text NOT NULL CHECK (type IN ('S', 'C', 'R')),
    stat text NOT NULL CHECK (stat IN ('1', '5', '9')),
    sls_init text,
    imp_dt date NOT NULL
);
CREATE INDEX ON sales.order_hdr (cust_no);
COMMENT ON TABLE sales.order_hdr
    IS 'Order headers imported from the legacy system, 2019 to 2022. Read-only history: live orders are in sales.orders, and no order is in both.';
COMMENT ON COLUMN sales.order_hdr.ord_no IS 'Order number of the legacy system';
COMMENT ON COLUMN sales.order_hdr.cust_no
    IS 'Customer number of the legacy system, found in crm.customers.legacy_no; empty where the customer could not be matched';
COMMENT ON COLUMN sales.order_hdr.dt IS 'Order date';
COMMENT ON COLUMN sales.order_hdr.amt
    IS 'Order total INCLUDING value-added tax, EUR (sales.orders.amt is without tax)';
COMMENT ON COLUMN sales.order_hdr.type
    IS 'Document type: S = standard order, C = credit note, R = repair order. Not the sales channel';
COMMENT ON COLUMN sales.order_hdr.stat
    IS 'Status of the legacy system: 1 = entered, 5 = delivered, 9 = cancelled';
COMMENT ON COLUMN sales.order_hdr.sls_init
    IS 'Initials of the salesperson; cannot be matched to employees';
COMMENT ON COLUMN sales.order_hdr.imp_dt IS 'Day of the import';


-- procurement -----------------------------------------------------------------------------------
-- Suppliers, requisitions and purchase orders

COMMENT ON SCHEMA procurement IS 'Suppliers, requisitions and purchase orders';

CREATE TABLE procurement.suppliers (
    supplier_id integer PRIMARY KEY,
    name text NOT NULL,
    parent_supplier_id integer REFERENCES procurement.suppliers (supplier_id),
    country_code text NOT NULL REFERENCES crm.countries (country_code),
    currency_code text NOT NULL REFERENCES finance.currencies (currency_code),
    term_code text NOT NULL REFERENCES finance.payment_terms (term_code),
    buyer_id integer REFERENCES hr.employees (employee_id),
    grade text CHECK (grade IN ('A', 'B', 'C', 'D')),
    since_dt date NOT NULL,
    blocked boolean NOT NULL
);
COMMENT ON TABLE procurement.suppliers IS 'Suppliers.';
COMMENT ON COLUMN procurement.suppliers.supplier_id IS 'Key of the supplier';
COMMENT ON COLUMN procurement.suppliers.name IS 'Company name';
COMMENT ON COLUMN procurement.suppliers.parent_supplier_id
    IS 'Group the supplier belongs to, if any';
COMMENT ON COLUMN procurement.suppliers.country_code IS 'Country';
COMMENT ON COLUMN procurement.suppliers.currency_code IS 'Currency the supplier bills in';
COMMENT ON COLUMN procurement.suppliers.term_code IS 'Payment terms agreed';
COMMENT ON COLUMN procurement.suppliers.buyer_id IS 'Purchaser who looks after the supplier';
COMMENT ON COLUMN procurement.suppliers.grade
    IS 'Supplier grade: A preferred, B approved, C on watch, D being phased out; empty if not graded';
COMMENT ON COLUMN procurement.suppliers.since_dt IS 'Supplier since';
COMMENT ON COLUMN procurement.suppliers.blocked IS 'True if nothing may be ordered';

CREATE TABLE procurement.supplier_contracts (
    contract_id integer PRIMARY KEY,
    supplier_id integer NOT NULL REFERENCES procurement.suppliers (supplier_id),
    signed_by integer NOT NULL REFERENCES hr.employees (employee_id),
    start_dt date NOT NULL,
    end_dt date,
    volume_amt numeric(14,2),
    rebate_pct numeric(4, 2) NOT NULL
);
COMMENT ON TABLE procurement.supplier_contracts IS 'Framework contracts with suppliers.';
COMMENT ON COLUMN procurement.supplier_contracts.contract_id IS 'Key of the contract';
COMMENT ON COLUMN procurement.supplier_contracts.supplier_id IS 'Supplier';
COMMENT ON COLUMN procurement.supplier_contracts.signed_by IS 'Employee who signed';
COMMENT ON COLUMN procurement.supplier_contracts.start_dt IS 'First day';
COMMENT ON COLUMN procurement.supplier_contracts.end_dt IS 'Last day; empty if open-ended';
COMMENT ON COLUMN procurement.supplier_contracts.volume_amt
    IS 'Volume promised over the whole term, EUR; empty if none was promised';
COMMENT ON COLUMN procurement.supplier_contracts.rebate_pct IS 'Rebate on the volume, percent';

CREATE TABLE procurement.supplier_products (
    supplier_id integer NOT NULL REFERENCES procurement.suppliers (supplier_id),
    product_id integer NOT NULL REFERENCES inventory.products (product_id),
    price numeric(14, 4) NOT NULL,
    lead_days integer NOT NULL,
    min_qty integer NOT NULL,
    preferred boolean NOT NULL,
    PRIMARY KEY (supplier_id, product_id)
);
COMMENT ON TABLE procurement.supplier_products IS 'What a supplier offers and at what price.';
COMMENT ON COLUMN procurement.supplier_products.supplier_id IS 'Supplier';
COMMENT ON COLUMN procurement.supplier_products.product_id IS 'Product or part';
COMMENT ON COLUMN procurement.supplier_products.price
    IS 'Price of one unit in the supplier''s currency';
COMMENT ON COLUMN procurement.supplier_products.lead_days IS 'Delivery time in days';
COMMENT ON COLUMN procurement.supplier_products.min_qty IS 'Smallest order quantity';
COMMENT ON COLUMN procurement.supplier_products.preferred
    IS 'True for the supplier to be asked first; one for each product';

CREATE TABLE procurement.purchase_requisitions (
    requisition_id integer PRIMARY KEY,
    requested_by integer NOT NULL REFERENCES hr.employees (employee_id),
    department_id integer NOT NULL REFERENCES hr.departments (department_id),
    dt date NOT NULL,
    purpose text NOT NULL,
    est_amt numeric(14,2) NOT NULL,
    status text NOT NULL CHECK (status IN ('DRF', 'SUB', 'APR', 'REJ', 'ORD')),
    decided_by integer REFERENCES hr.employees (employee_id)
);
COMMENT ON TABLE procurement.purchase_requisitions IS 'Internal requests to buy something.';
COMMENT ON COLUMN procurement.purchase_requisitions.requisition_id IS 'Key of the request';
COMMENT ON COLUMN procurement.purchase_requisitions.requested_by IS 'Who asks';
COMMENT ON COLUMN procurement.purchase_requisitions.department_id IS 'Department that needs it';
COMMENT ON COLUMN procurement.purchase_requisitions.dt IS 'Day of the request';
COMMENT ON COLUMN procurement.purchase_requisitions.purpose IS 'What for';
COMMENT ON COLUMN procurement.purchase_requisitions.est_amt IS 'Estimated cost, EUR';
COMMENT ON COLUMN procurement.purchase_requisitions.status
    IS 'Status code: DRF = draft, SUB = submitted, APR = approved, REJ = rejected, ORD = ordered';
COMMENT ON COLUMN procurement.purchase_requisitions.decided_by
    IS 'Who approved or rejected; empty before the decision';

CREATE TABLE procurement.purchase_orders (
    po_id integer PRIMARY KEY,
    po_no text NOT NULL UNIQUE,
    supplier_id integer NOT NULL REFERENCES procurement.suppliers (supplier_id),
    requisition_id integer REFERENCES procurement.purchase_requisitions (requisition_id),
    buyer_id integer NOT NULL REFERENCES hr.employees (employee_id),
    warehouse_id integer NOT NULL REFERENCES inventory.warehouses (warehouse_id),
    order_dt date NOT NULL,
    expected_dt date NOT NULL,
    status text NOT NULL CHECK (status IN ('OPN', 'PRC', 'RCV', 'CLS', 'CXL')),
    currency_code text NOT NULL REFERENCES finance.currencies (currency_code),
    amt numeric(14,2) NOT NULL
);
CREATE INDEX ON procurement.purchase_orders (supplier_id);
COMMENT ON TABLE procurement.purchase_orders IS 'Orders to suppliers.';
COMMENT ON COLUMN procurement.purchase_orders.po_id IS 'Key of the purchase order';
COMMENT ON COLUMN procurement.purchase_orders.po_no IS 'Number, PO-year-number';
COMMENT ON COLUMN procurement.purchase_orders.supplier_id IS 'Supplier';
COMMENT ON COLUMN procurement.purchase_orders.requisition_id
    IS 'Request behind it; empty for stock orders';
COMMENT ON COLUMN procurement.purchase_orders.buyer_id IS 'Purchaser';
COMMENT ON COLUMN procurement.purchase_orders.warehouse_id IS 'Warehouse to deliver to';
COMMENT ON COLUMN procurement.purchase_orders.order_dt IS 'Day of the order';
COMMENT ON COLUMN procurement.purchase_orders.expected_dt IS 'Delivery day promised';
COMMENT ON COLUMN procurement.purchase_orders.status
    IS 'Status code: OPN = open, PRC = partly received, RCV = received, CLS = closed (received and billed), CXL = cancelled';
COMMENT ON COLUMN procurement.purchase_orders.currency_code IS 'Currency of the order';
COMMENT ON COLUMN procurement.purchase_orders.amt
    IS 'Total in the currency of the order (currency_code), not in EUR: the sum of its lines';

CREATE TABLE procurement.purchase_order_lines (
    po_id integer NOT NULL REFERENCES procurement.purchase_orders (po_id),
    line_no integer NOT NULL,
    product_id integer NOT NULL REFERENCES inventory.products (product_id),
    qty integer NOT NULL,
    unit_price numeric(14, 4) NOT NULL,
    amt numeric(14,2) NOT NULL,
    PRIMARY KEY (po_id, line_no)
);
COMMENT ON TABLE procurement.purchase_order_lines IS 'Lines of purchase orders.';
COMMENT ON COLUMN procurement.purchase_order_lines.po_id IS 'Purchase order';
COMMENT ON COLUMN procurement.purchase_order_lines.line_no IS 'Number of the line, from 1';
COMMENT ON COLUMN procurement.purchase_order_lines.product_id IS 'Product or part ordered';
COMMENT ON COLUMN procurement.purchase_order_lines.qty IS 'Units ordered';
COMMENT ON COLUMN procurement.purchase_order_lines.unit_price
    IS 'Price of one unit in the currency of the order';
COMMENT ON COLUMN procurement.purchase_order_lines.amt IS 'Line total in the currency of the order';

CREATE TABLE procurement.goods_receipts (
    receipt_id integer PRIMARY KEY,
    po_id integer NOT NULL,
    line_no integer NOT NULL,
    received_dt date NOT NULL,
    qty_received integer NOT NULL,
    qty_rejected integer NOT NULL,
    received_by integer REFERENCES hr.employees (employee_id),
    FOREIGN KEY (po_id, line_no) REFERENCES procurement.purchase_order_lines (po_id, line_no)
);
COMMENT ON TABLE procurement.goods_receipts
    IS 'Deliveries received from suppliers, by purchase-order line.';
COMMENT ON COLUMN procurement.goods_receipts.receipt_id IS 'Key of the receipt';
COMMENT ON COLUMN procurement.goods_receipts.po_id
    IS 'Purchase order; with line_no it names the line';
COMMENT ON COLUMN procurement.goods_receipts.line_no IS 'Line of the purchase order';
COMMENT ON COLUMN procurement.goods_receipts.received_dt IS 'Day of receipt';
COMMENT ON COLUMN procurement.goods_receipts.qty_received IS 'Units received';
COMMENT ON COLUMN procurement.goods_receipts.qty_rejected
    IS 'Units of these rejected at incoming inspection';
COMMENT ON COLUMN procurement.goods_receipts.received_by IS 'Who received it';


-- manufacturing ---------------------------------------------------------------------------------
-- Bills of material, routings, work orders and quality

COMMENT ON SCHEMA manufacturing IS 'Bills of material, routings, work orders and quality';

CREATE TABLE manufacturing.work_centers (
    work_center_id integer PRIMARY KEY,
    code text NOT NULL UNIQUE,
    name text NOT NULL,
    department_id integer NOT NULL REFERENCES hr.departments (department_id),
    hours_week numeric(5, 1) NOT NULL,
    hourly_rate numeric(14,2) NOT NULL
);
COMMENT ON TABLE manufacturing.work_centers IS 'Machines and workplaces where operations are done.';
COMMENT ON COLUMN manufacturing.work_centers.work_center_id IS 'Key of the work centre';
COMMENT ON COLUMN manufacturing.work_centers.code IS 'Short code';
COMMENT ON COLUMN manufacturing.work_centers.name IS 'Name in words';
COMMENT ON COLUMN manufacturing.work_centers.department_id IS 'Department that runs it';
COMMENT ON COLUMN manufacturing.work_centers.hours_week IS 'Capacity in hours a week';
COMMENT ON COLUMN manufacturing.work_centers.hourly_rate IS 'Cost of one hour, EUR';

CREATE TABLE manufacturing.bom_items (
    parent_product_id integer NOT NULL REFERENCES inventory.products (product_id),
    component_id integer NOT NULL REFERENCES inventory.products (product_id),
    qty numeric(10, 3) NOT NULL,
    scrap_pct numeric(4, 2) NOT NULL,
    PRIMARY KEY (parent_product_id, component_id),
    CHECK (parent_product_id <> component_id)
);
COMMENT ON TABLE manufacturing.bom_items
    IS 'Bills of material: which components go into one unit of a product.';
COMMENT ON COLUMN manufacturing.bom_items.parent_product_id IS 'Product made';
COMMENT ON COLUMN manufacturing.bom_items.component_id
    IS 'Product used; may have a bill of material of its own';
COMMENT ON COLUMN manufacturing.bom_items.qty
    IS 'Quantity of the component for one unit of the parent';
COMMENT ON COLUMN manufacturing.bom_items.scrap_pct IS 'Expected waste, percent';

CREATE TABLE manufacturing.routing_steps (
    product_id integer NOT NULL REFERENCES inventory.products (product_id),
    step_no integer NOT NULL,
    work_center_id integer NOT NULL REFERENCES manufacturing.work_centers (work_center_id),
    description text NOT NULL,
    setup_min integer NOT NULL,
    run_min numeric(8, 2) NOT NULL,
    PRIMARY KEY (product_id, step_no)
);
COMMENT ON TABLE manufacturing.routing_steps IS 'Operations needed to make a product, in order.';
COMMENT ON COLUMN manufacturing.routing_steps.product_id IS 'Product made';
COMMENT ON COLUMN manufacturing.routing_steps.step_no IS 'Position: 10, 20, 30 and so on';
COMMENT ON COLUMN manufacturing.routing_steps.work_center_id IS 'Where it is done';
COMMENT ON COLUMN manufacturing.routing_steps.description IS 'What is done';
COMMENT ON COLUMN manufacturing.routing_steps.setup_min
    IS 'Set-up time for each work order, minutes';
COMMENT ON COLUMN manufacturing.routing_steps.run_min IS 'Working time for each unit, minutes';

CREATE TABLE manufacturing.work_orders (
    work_order_id integer PRIMARY KEY,
    product_id integer NOT NULL REFERENCES inventory.products (product_id),
    warehouse_id integer NOT NULL REFERENCES inventory.warehouses (warehouse_id),
    order_id integer REFERENCES sales.orders (order_id),
    planner_id integer REFERENCES hr.employees (employee_id),
    qty_planned integer NOT NULL,
    qty_good integer NOT NULL,
    qty_scrap integer NOT NULL,
    status text NOT NULL CHECK (status IN ('PLN', 'REL', 'RUN', 'FIN', 'CXL')),
    planned_start_dt date NOT NULL,
    planned_end_dt date NOT NULL,
    finished_dt date,
    UNIQUE (work_order_id, product_id)
);
CREATE INDEX ON manufacturing.work_orders (product_id);
COMMENT ON TABLE manufacturing.work_orders IS 'Orders to make a quantity of a product.';
COMMENT ON COLUMN manufacturing.work_orders.work_order_id IS 'Key of the work order';
COMMENT ON COLUMN manufacturing.work_orders.product_id IS 'Product to be made';
COMMENT ON COLUMN manufacturing.work_orders.warehouse_id IS 'Warehouse the output goes to';
COMMENT ON COLUMN manufacturing.work_orders.order_id
    IS 'Customer order it is made for; empty when made to stock';
COMMENT ON COLUMN manufacturing.work_orders.planner_id IS 'Production planner';
COMMENT ON COLUMN manufacturing.work_orders.qty_planned IS 'Units planned';
COMMENT ON COLUMN manufacturing.work_orders.qty_good IS 'Good units made so far';
COMMENT ON COLUMN manufacturing.work_orders.qty_scrap IS 'Units scrapped so far';
COMMENT ON COLUMN manufacturing.work_orders.status
    IS 'Status code: PLN = planned, REL = released, RUN = in production, FIN = finished, CXL = cancelled';
COMMENT ON COLUMN manufacturing.work_orders.planned_start_dt IS 'Planned start';
COMMENT ON COLUMN manufacturing.work_orders.planned_end_dt IS 'Planned end';
COMMENT ON COLUMN manufacturing.work_orders.finished_dt
    IS 'Day it was finished; empty unless finished';

CREATE TABLE manufacturing.work_order_operations (
    work_order_id integer NOT NULL,
    product_id integer NOT NULL,
    step_no integer NOT NULL,
    operator_id integer REFERENCES hr.employees (employee_id),
    status text NOT NULL CHECK (status IN ('W', 'R', 'D')),
    started_at timestamp,
    minutes_actual numeric(10, 1),
    PRIMARY KEY (work_order_id, step_no),
    FOREIGN KEY (work_order_id, product_id) REFERENCES manufacturing.work_orders (work_order_id, product_id),
    FOREIGN KEY (product_id, step_no) REFERENCES manufacturing.routing_steps (product_id, step_no)
);
COMMENT ON TABLE manufacturing.work_order_operations
    IS 'Operations done for a work order, one for each step of the product''s routing.';
COMMENT ON COLUMN manufacturing.work_order_operations.work_order_id IS 'Work order';
COMMENT ON COLUMN manufacturing.work_order_operations.product_id
    IS 'Product of the work order; with step_no it names the routing step';
COMMENT ON COLUMN manufacturing.work_order_operations.step_no IS 'Step of the routing';
COMMENT ON COLUMN manufacturing.work_order_operations.operator_id
    IS 'Who did it; empty before the start';
COMMENT ON COLUMN manufacturing.work_order_operations.status
    IS 'Status code: W = waiting, R = running, D = done';
COMMENT ON COLUMN manufacturing.work_order_operations.started_at IS 'Start; empty while waiting';
COMMENT ON COLUMN manufacturing.work_order_operations.minutes_actual
    IS 'Minutes worked; empty until done';

CREATE TABLE manufacturing.defect_codes (
    defect_code text PRIMARY KEY,
    description text NOT NULL,
    severity integer NOT NULL,
    CHECK (severity BETWEEN 1 AND 3)
);
COMMENT ON TABLE manufacturing.defect_codes IS 'Kinds of defect found in inspections.';
COMMENT ON COLUMN manufacturing.defect_codes.defect_code IS 'Code';
COMMENT ON COLUMN manufacturing.defect_codes.description IS 'The defect in words';
COMMENT ON COLUMN manufacturing.defect_codes.severity IS '1 cosmetic, 2 functional, 3 safety';

CREATE TABLE manufacturing.quality_inspections (
    inspection_id integer PRIMARY KEY,
    work_order_id integer NOT NULL REFERENCES manufacturing.work_orders (work_order_id),
    inspector_id integer NOT NULL REFERENCES hr.employees (employee_id),
    inspected_dt date NOT NULL,
    sample_qty integer NOT NULL,
    defect_qty integer NOT NULL,
    defect_code text REFERENCES manufacturing.defect_codes (defect_code),
    result text NOT NULL CHECK (result IN ('P', 'R', 'F'))
);
COMMENT ON TABLE manufacturing.quality_inspections IS 'Inspections of finished work orders.';
COMMENT ON COLUMN manufacturing.quality_inspections.inspection_id IS 'Key of the inspection';
COMMENT ON COLUMN manufacturing.quality_inspections.work_order_id IS 'Work order inspected';
COMMENT ON COLUMN manufacturing.quality_inspections.inspector_id IS 'Inspector';
COMMENT ON COLUMN manufacturing.quality_inspections.inspected_dt IS 'Day of the inspection';
COMMENT ON COLUMN manufacturing.quality_inspections.sample_qty IS 'Units inspected';
COMMENT ON COLUMN manufacturing.quality_inspections.defect_qty IS 'Units with a defect';
COMMENT ON COLUMN manufacturing.quality_inspections.defect_code
    IS 'Main defect found; empty if none';
COMMENT ON COLUMN manufacturing.quality_inspections.result
    IS 'Result: P passed, R to be reworked, F failed';


-- projects --------------------------------------------------------------------------------------
-- Internal and customer projects, tasks and time

COMMENT ON SCHEMA projects IS 'Internal and customer projects, tasks and time';

CREATE TABLE projects.projects (
    project_id integer PRIMARY KEY,
    code text NOT NULL UNIQUE,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('INT', 'CUS', 'RND')),
    department_id integer NOT NULL REFERENCES hr.departments (department_id),
    lead_id integer REFERENCES hr.employees (employee_id),
    customer_id integer REFERENCES crm.customers (customer_id),
    cost_center_id integer NOT NULL REFERENCES finance.cost_centers (cost_center_id),
    parent_project_id integer REFERENCES projects.projects (project_id),
    status text NOT NULL CHECK (status IN ('PRP', 'ACT', 'HLD', 'DON', 'CXL')),
    start_dt date NOT NULL,
    planned_end_dt date NOT NULL,
    actual_end_dt date,
    budget_amt numeric(14,2)
);
COMMENT ON TABLE projects.projects IS 'Projects, internal or for a customer.';
COMMENT ON COLUMN projects.projects.project_id IS 'Key of the project';
COMMENT ON COLUMN projects.projects.code IS 'Project code, P and four digits';
COMMENT ON COLUMN projects.projects.name IS 'Name';
COMMENT ON COLUMN projects.projects.kind
    IS 'Kind: INT = internal, CUS = for a customer, RND = research and development';
COMMENT ON COLUMN projects.projects.department_id IS 'Department that runs it';
COMMENT ON COLUMN projects.projects.lead_id IS 'Project lead; may be vacant';
COMMENT ON COLUMN projects.projects.customer_id IS 'Customer; only for customer projects';
COMMENT ON COLUMN projects.projects.cost_center_id IS 'Cost centre that bears the cost';
COMMENT ON COLUMN projects.projects.parent_project_id IS 'Programme it belongs to, if any';
COMMENT ON COLUMN projects.projects.status
    IS 'Status code: PRP = proposed, ACT = active, HLD = on hold, DON = done, CXL = cancelled';
COMMENT ON COLUMN projects.projects.start_dt IS 'Start';
COMMENT ON COLUMN projects.projects.planned_end_dt IS 'Planned end';
COMMENT ON COLUMN projects.projects.actual_end_dt IS 'Real end; empty unless done or cancelled';
COMMENT ON COLUMN projects.projects.budget_amt IS 'Budget, EUR; empty if none was set';

CREATE TABLE projects.project_tasks (
    project_id integer NOT NULL REFERENCES projects.projects (project_id),
    task_no integer NOT NULL,
    title text NOT NULL,
    parent_task_no integer,
    assignee_id integer REFERENCES hr.employees (employee_id),
    status text NOT NULL CHECK (status IN ('TOD', 'DOI', 'BLK', 'DON')),
    est_hours numeric(7, 1),
    due_dt date,
    PRIMARY KEY (project_id, task_no),
    FOREIGN KEY (project_id, parent_task_no) REFERENCES projects.project_tasks (project_id, task_no)
);
COMMENT ON TABLE projects.project_tasks
    IS 'Tasks of a project. Task numbers are unique only within their project.';
COMMENT ON COLUMN projects.project_tasks.project_id IS 'Project';
COMMENT ON COLUMN projects.project_tasks.task_no IS 'Number of the task within the project';
COMMENT ON COLUMN projects.project_tasks.title IS 'Title';
COMMENT ON COLUMN projects.project_tasks.parent_task_no
    IS 'Task above, in the same project; empty at the top';
COMMENT ON COLUMN projects.project_tasks.assignee_id IS 'Who is to do it, if decided';
COMMENT ON COLUMN projects.project_tasks.status
    IS 'Status code: TOD = to do, DOI = doing, BLK = blocked, DON = done';
COMMENT ON COLUMN projects.project_tasks.est_hours IS 'Estimated hours; empty if never estimated';
COMMENT ON COLUMN projects.project_tasks.due_dt IS 'Due day, if any';

CREATE TABLE projects.project_members (
    project_id integer NOT NULL REFERENCES projects.projects (project_id),
    employee_id integer NOT NULL REFERENCES hr.employees (employee_id),
    role_code text NOT NULL CHECK (role_code IN ('LEA', 'ENG', 'DES', 'CON', 'QA')),
    allocation_pct integer NOT NULL,
    left_dt date,
    PRIMARY KEY (project_id, employee_id)
);
COMMENT ON TABLE projects.project_members IS 'Who works on which project.';
COMMENT ON COLUMN projects.project_members.project_id IS 'Project';
COMMENT ON COLUMN projects.project_members.employee_id IS 'Member';
COMMENT ON COLUMN projects.project_members.role_code
    IS 'Role: LEA = lead, ENG = engineer, DES = designer, CON = consultant, QA = quality';
COMMENT ON COLUMN projects.project_members.allocation_pct
    IS 'Share of working time planned for the project, percent';
COMMENT ON COLUMN projects.project_members.left_dt IS 'Day the person left the project, if so';

CREATE TABLE projects.time_entries (
    entry_id integer PRIMARY KEY,
    project_id integer NOT NULL,
    task_no integer,
    employee_id integer NOT NULL,
    work_dt date NOT NULL,
    hours numeric(4, 2) NOT NULL,
    billable boolean NOT NULL,
    rate numeric(14,2),
    FOREIGN KEY (project_id, task_no) REFERENCES projects.project_tasks (project_id, task_no),
    FOREIGN KEY (project_id, employee_id) REFERENCES projects.project_members (project_id, employee_id)
);
CREATE INDEX ON projects.time_entries (project_id, work_dt);
CREATE INDEX ON projects.time_entries (employee_id);
COMMENT ON TABLE projects.time_entries
    IS 'Hours worked on projects, one row for each person, day and task.';
COMMENT ON COLUMN projects.time_entries.entry_id IS 'Key of the entry';
COMMENT ON COLUMN projects.time_entries.project_id IS 'Project; with task_no it names the task';
COMMENT ON COLUMN projects.time_entries.task_no
    IS 'Task; empty if booked on the project as a whole';
COMMENT ON COLUMN projects.time_entries.employee_id IS 'Who worked: a member of the project';
COMMENT ON COLUMN projects.time_entries.work_dt IS 'Day worked';
COMMENT ON COLUMN projects.time_entries.hours IS 'Hours worked';
COMMENT ON COLUMN projects.time_entries.billable IS 'True if charged to the customer';
COMMENT ON COLUMN projects.time_entries.rate IS 'Hourly rate charged, EUR; empty if not billable';

CREATE TABLE projects.milestones (
    project_id integer NOT NULL REFERENCES projects.projects (project_id),
    milestone_no integer NOT NULL,
    name text NOT NULL,
    due_dt date NOT NULL,
    reached_dt date,
    PRIMARY KEY (project_id, milestone_no)
);
COMMENT ON TABLE projects.milestones IS 'Milestones of a project.';
COMMENT ON COLUMN projects.milestones.project_id IS 'Project';
COMMENT ON COLUMN projects.milestones.milestone_no IS 'Number within the project, from 1';
COMMENT ON COLUMN projects.milestones.name IS 'Name';
COMMENT ON COLUMN projects.milestones.due_dt IS 'Planned day';
COMMENT ON COLUMN projects.milestones.reached_dt IS 'Day it was reached; empty if not yet';

CREATE TABLE projects.project_expenses (
    expense_id integer PRIMARY KEY,
    project_id integer NOT NULL REFERENCES projects.projects (project_id),
    employee_id integer NOT NULL REFERENCES hr.employees (employee_id),
    dt date NOT NULL,
    kind text NOT NULL CHECK (kind IN ('TRV', 'HTL', 'MAT', 'SUB', 'OTH')),
    amt numeric(14,2) NOT NULL,
    status text NOT NULL CHECK (status IN ('SUB', 'APR', 'PD', 'REJ'))
);
COMMENT ON TABLE projects.project_expenses IS 'Travel and other costs charged to a project.';
COMMENT ON COLUMN projects.project_expenses.expense_id IS 'Key of the expense';
COMMENT ON COLUMN projects.project_expenses.project_id IS 'Project';
COMMENT ON COLUMN projects.project_expenses.employee_id IS 'Who spent it';
COMMENT ON COLUMN projects.project_expenses.dt IS 'Day of the expense';
COMMENT ON COLUMN projects.project_expenses.kind
    IS 'Kind: TRV = travel, HTL = hotel, MAT = material, SUB = subcontractor, OTH = other';
COMMENT ON COLUMN projects.project_expenses.amt IS 'Amount, EUR';
COMMENT ON COLUMN projects.project_expenses.status
    IS 'Status code: SUB = submitted, APR = approved, PD = paid back, REJ = rejected';


-- assets ----------------------------------------------------------------------------------------
-- Sites, fixed assets, their depreciation and maintenance

COMMENT ON SCHEMA assets IS 'Sites, fixed assets, their depreciation and maintenance';

CREATE TABLE assets.sites (
    site_id integer PRIMARY KEY,
    code text NOT NULL UNIQUE,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('OFF', 'PLT', 'DEP', 'SHW')),
    city text NOT NULL,
    country_code text NOT NULL REFERENCES crm.countries (country_code),
    region_id integer NOT NULL REFERENCES hr.regions (region_id)
);
COMMENT ON TABLE assets.sites IS 'Offices, plants and depots of the company.';
COMMENT ON COLUMN assets.sites.site_id IS 'Key of the site';
COMMENT ON COLUMN assets.sites.code IS 'Short code';
COMMENT ON COLUMN assets.sites.name IS 'Name';
COMMENT ON COLUMN assets.sites.kind IS 'Kind: OFF = office, PLT = plant, DEP = depot, SHW = showroom';
COMMENT ON COLUMN assets.sites.city IS 'City';
COMMENT ON COLUMN assets.sites.country_code IS 'Country';
COMMENT ON COLUMN assets.sites.region_id IS 'Region';

CREATE TABLE assets.asset_classes (
    class_code text PRIMARY KEY,
    name text NOT NULL,
    life_months integer NOT NULL,
    account_no text NOT NULL REFERENCES finance.gl_accounts (account_no)
);
COMMENT ON TABLE assets.asset_classes IS 'Classes of fixed assets.';
COMMENT ON COLUMN assets.asset_classes.class_code IS 'Code of the class';
COMMENT ON COLUMN assets.asset_classes.name IS 'Name in words';
COMMENT ON COLUMN assets.asset_classes.life_months IS 'Useful life in months';
COMMENT ON COLUMN assets.asset_classes.account_no IS 'Asset account';

CREATE TABLE assets.fixed_assets (
    asset_id integer PRIMARY KEY,
    asset_no text NOT NULL UNIQUE,
    name text NOT NULL,
    class_code text NOT NULL REFERENCES assets.asset_classes (class_code),
    parent_asset_id integer REFERENCES assets.fixed_assets (asset_id),
    department_id integer NOT NULL REFERENCES hr.departments (department_id),
    site_id integer NOT NULL REFERENCES assets.sites (site_id),
    work_center_id integer REFERENCES manufacturing.work_centers (work_center_id),
    supplier_id integer REFERENCES procurement.suppliers (supplier_id),
    acquired_dt date NOT NULL,
    cost_amt numeric(14,2) NOT NULL,
    status text NOT NULL CHECK (status IN ('USE', 'STO', 'REP', 'DIS')),
    disposed_dt date
);
CREATE INDEX ON assets.fixed_assets (department_id);
COMMENT ON TABLE assets.fixed_assets IS 'Machines, vehicles, computers and other fixed assets.';
COMMENT ON COLUMN assets.fixed_assets.asset_id IS 'Key of the asset';
COMMENT ON COLUMN assets.fixed_assets.asset_no IS 'Inventory number on the label';
COMMENT ON COLUMN assets.fixed_assets.name IS 'Name';
COMMENT ON COLUMN assets.fixed_assets.class_code IS 'Class';
COMMENT ON COLUMN assets.fixed_assets.parent_asset_id IS 'Larger asset it is part of, if any';
COMMENT ON COLUMN assets.fixed_assets.department_id IS 'Department that owns it';
COMMENT ON COLUMN assets.fixed_assets.site_id IS 'Site where it stands';
COMMENT ON COLUMN assets.fixed_assets.work_center_id
    IS 'Work centre it belongs to; only for production machines';
COMMENT ON COLUMN assets.fixed_assets.supplier_id IS 'Supplier it was bought from, if known';
COMMENT ON COLUMN assets.fixed_assets.acquired_dt IS 'Day of purchase';
COMMENT ON COLUMN assets.fixed_assets.cost_amt IS 'Purchase price, EUR';
COMMENT ON COLUMN assets.fixed_assets.status
    IS 'Status code: USE = in use, STO = in store, REP = under repair, DIS = disposed of';
COMMENT ON COLUMN assets.fixed_assets.disposed_dt IS 'Day it was disposed of; empty otherwise';

CREATE TABLE assets.asset_assignments (
    asset_id integer NOT NULL REFERENCES assets.fixed_assets (asset_id),
    from_dt date NOT NULL,
    employee_id integer NOT NULL REFERENCES hr.employees (employee_id),
    to_dt date,
    PRIMARY KEY (asset_id, from_dt)
);
COMMENT ON TABLE assets.asset_assignments IS 'Which employee had which asset from when to when.';
COMMENT ON COLUMN assets.asset_assignments.asset_id IS 'Asset';
COMMENT ON COLUMN assets.asset_assignments.from_dt IS 'Day it was handed out';
COMMENT ON COLUMN assets.asset_assignments.employee_id IS 'Who has or had it';
COMMENT ON COLUMN assets.asset_assignments.to_dt IS 'Day it was handed back; empty while out';

CREATE TABLE assets.depreciation_entries (
    asset_id integer NOT NULL REFERENCES assets.fixed_assets (asset_id),
    quarter_start date NOT NULL,
    amt numeric(14,2) NOT NULL,
    book_value numeric(14,2) NOT NULL,
    PRIMARY KEY (asset_id, quarter_start)
);
COMMENT ON TABLE assets.depreciation_entries IS 'Quarterly straight-line depreciation of an asset.';
COMMENT ON COLUMN assets.depreciation_entries.asset_id IS 'Asset';
COMMENT ON COLUMN assets.depreciation_entries.quarter_start
    IS 'First day of the quarter depreciated';
COMMENT ON COLUMN assets.depreciation_entries.amt IS 'Depreciation of the quarter, EUR';
COMMENT ON COLUMN assets.depreciation_entries.book_value
    IS 'Value left at the end of the quarter, EUR';

CREATE TABLE assets.maintenance_orders (
    maintenance_id integer PRIMARY KEY,
    asset_id integer NOT NULL REFERENCES assets.fixed_assets (asset_id),
    kind text NOT NULL CHECK (kind IN ('PM', 'CM', 'SI')),
    technician_id integer REFERENCES hr.employees (employee_id),
    supplier_id integer REFERENCES procurement.suppliers (supplier_id),
    opened_dt date NOT NULL,
    closed_dt date,
    downtime_hours numeric(7, 1) NOT NULL,
    cost_amt numeric(14,2),
    status text NOT NULL CHECK (status IN ('OPN', 'WIP', 'CLS'))
);
COMMENT ON TABLE assets.maintenance_orders IS 'Inspections and repairs of assets.';
COMMENT ON COLUMN assets.maintenance_orders.maintenance_id IS 'Key of the maintenance order';
COMMENT ON COLUMN assets.maintenance_orders.asset_id IS 'Asset';
COMMENT ON COLUMN assets.maintenance_orders.kind
    IS 'Kind: PM = planned maintenance, CM = repair after a breakdown, SI = legal safety inspection';
COMMENT ON COLUMN assets.maintenance_orders.technician_id
    IS 'Technician; empty if not assigned or done by an outside firm';
COMMENT ON COLUMN assets.maintenance_orders.supplier_id IS 'Outside firm; empty if done in-house';
COMMENT ON COLUMN assets.maintenance_orders.opened_dt IS 'Day it was opened';
COMMENT ON COLUMN assets.maintenance_orders.closed_dt IS 'Day it was closed; empty while open';
COMMENT ON COLUMN assets.maintenance_orders.downtime_hours IS 'Hours the asset stood still';
COMMENT ON COLUMN assets.maintenance_orders.cost_amt IS 'Cost, EUR; empty until closed';
COMMENT ON COLUMN assets.maintenance_orders.status
    IS 'Status code: OPN = open, WIP = in work, CLS = closed';


-- support ---------------------------------------------------------------------------------------
-- Tickets, surveys, warranty

COMMENT ON SCHEMA support IS 'Tickets, surveys, warranty';

CREATE TABLE support.sla_levels (
    sla_code text PRIMARY KEY,
    name text NOT NULL,
    response_hours integer NOT NULL,
    resolution_hours integer NOT NULL
);
COMMENT ON TABLE support.sla_levels IS 'Service levels promised to customers.';
COMMENT ON COLUMN support.sla_levels.sla_code IS 'Code: GLD, SLV or STD';
COMMENT ON COLUMN support.sla_levels.name IS 'Name';
COMMENT ON COLUMN support.sla_levels.response_hours
    IS 'Hours within which the first answer is promised';
COMMENT ON COLUMN support.sla_levels.resolution_hours
    IS 'Hours within which a solution is promised';

CREATE TABLE support.ticket_categories (
    category_code text PRIMARY KEY,
    name text NOT NULL,
    parent_category_code text REFERENCES support.ticket_categories (category_code)
);
COMMENT ON TABLE support.ticket_categories IS 'What tickets are about; a tree.';
COMMENT ON COLUMN support.ticket_categories.category_code IS 'Code';
COMMENT ON COLUMN support.ticket_categories.name IS 'Name in words';
COMMENT ON COLUMN support.ticket_categories.parent_category_code
    IS 'Category above; empty at the top';

CREATE TABLE support.tickets (
    ticket_id integer PRIMARY KEY,
    ticket_no text NOT NULL UNIQUE,
    customer_id integer NOT NULL REFERENCES crm.customers (customer_id),
    contact_id integer REFERENCES crm.contacts (contact_id),
    order_id integer REFERENCES sales.orders (order_id),
    product_id integer REFERENCES inventory.products (product_id),
    category_code text NOT NULL REFERENCES support.ticket_categories (category_code),
    sla_code text NOT NULL REFERENCES support.sla_levels (sla_code),
    agent_id integer REFERENCES hr.employees (employee_id),
    priority integer NOT NULL,
    type text NOT NULL CHECK (type IN ('E', 'P', 'W', 'C')),
    status text NOT NULL CHECK (status IN ('NEW', 'WIP', 'WFC', 'SOL', 'CLS')),
    opened_at timestamp NOT NULL,
    first_response_at timestamp,
    closed_at timestamp,
    subject text NOT NULL,
    CHECK (priority BETWEEN 1 AND 4)
);
CREATE INDEX ON support.tickets (customer_id);
CREATE INDEX ON support.tickets (agent_id);
COMMENT ON TABLE support.tickets IS 'Support tickets from customers.';
COMMENT ON COLUMN support.tickets.ticket_id IS 'Key of the ticket';
COMMENT ON COLUMN support.tickets.ticket_no IS 'Number shown to the customer';
COMMENT ON COLUMN support.tickets.customer_id IS 'Customer';
COMMENT ON COLUMN support.tickets.contact_id IS 'Person who asked, if known';
COMMENT ON COLUMN support.tickets.order_id IS 'Order it is about, if any';
COMMENT ON COLUMN support.tickets.product_id IS 'Product it is about, if any';
COMMENT ON COLUMN support.tickets.category_code IS 'What it is about';
COMMENT ON COLUMN support.tickets.sla_code IS 'Service level that applies';
COMMENT ON COLUMN support.tickets.agent_id IS 'Support agent; empty if not assigned yet';
COMMENT ON COLUMN support.tickets.priority
    IS '1 critical, 2 high, 3 normal, 4 low: the smaller the more urgent';
COMMENT ON COLUMN support.tickets.type
    IS 'How the ticket came in: E e-mail, P phone, W web form, C chat. What it is about is category_code';
COMMENT ON COLUMN support.tickets.status
    IS 'Status code: NEW = new, WIP = in work, WFC = waiting for the customer, SOL = solved, CLS = closed';
COMMENT ON COLUMN support.tickets.opened_at IS 'When it came in';
COMMENT ON COLUMN support.tickets.first_response_at IS 'When first answered; empty if not yet';
COMMENT ON COLUMN support.tickets.closed_at IS 'When solved or closed; empty while open';
COMMENT ON COLUMN support.tickets.subject IS 'Subject line';

CREATE TABLE support.ticket_events (
    ticket_id integer NOT NULL REFERENCES support.tickets (ticket_id),
    event_no integer NOT NULL,
    kind text NOT NULL CHECK (kind IN ('OPN', 'ASG', 'RPL', 'CUS', 'ESC', 'SOL', 'RPN')),
    happened_at timestamp NOT NULL,
    actor_id integer REFERENCES hr.employees (employee_id),
    PRIMARY KEY (ticket_id, event_no)
);
COMMENT ON TABLE support.ticket_events IS 'History of a ticket.';
COMMENT ON COLUMN support.ticket_events.ticket_id IS 'Ticket';
COMMENT ON COLUMN support.ticket_events.event_no IS 'Number within the ticket, from 1';
COMMENT ON COLUMN support.ticket_events.kind
    IS 'Kind of event: OPN = opened, ASG = assigned, RPL = our reply, CUS = customer''s reply, ESC = escalated, SOL = solved, RPN = reopened';
COMMENT ON COLUMN support.ticket_events.happened_at IS 'When';
COMMENT ON COLUMN support.ticket_events.actor_id
    IS 'Our employee; empty if it was the customer or the system';

CREATE TABLE support.satisfaction_surveys (
    ticket_id integer PRIMARY KEY REFERENCES support.tickets (ticket_id),
    sent_dt date NOT NULL,
    answered_dt date,
    score integer,
    CHECK (score BETWEEN 1 AND 5)
);
COMMENT ON TABLE support.satisfaction_surveys
    IS 'Survey sent after a ticket was solved; at most one a ticket.';
COMMENT ON COLUMN support.satisfaction_surveys.ticket_id IS 'Ticket';
COMMENT ON COLUMN support.satisfaction_surveys.sent_dt IS 'Day it was sent';
COMMENT ON COLUMN support.satisfaction_surveys.answered_dt
    IS 'Day of the answer; empty if none came';
COMMENT ON COLUMN support.satisfaction_surveys.score
    IS '1 (very dissatisfied) to 5 (very satisfied); empty without an answer';

CREATE TABLE support.knowledge_articles (
    article_id integer PRIMARY KEY,
    title text NOT NULL,
    category_code text NOT NULL REFERENCES support.ticket_categories (category_code),
    author_id integer NOT NULL REFERENCES hr.employees (employee_id),
    status text NOT NULL CHECK (status IN ('DRF', 'PUB', 'ARC')),
    published_dt date,
    view_count integer NOT NULL
);
COMMENT ON TABLE support.knowledge_articles IS 'Articles of the knowledge base.';
COMMENT ON COLUMN support.knowledge_articles.article_id IS 'Key of the article';
COMMENT ON COLUMN support.knowledge_articles.title IS 'Title';
COMMENT ON COLUMN support.knowledge_articles.category_code IS 'What it is about';
COMMENT ON COLUMN support.knowledge_articles.author_id IS 'Author';
COMMENT ON COLUMN support.knowledge_articles.status
    IS 'Status code: DRF = draft, PUB = published, ARC = archived';
COMMENT ON COLUMN support.knowledge_articles.published_dt IS 'Day of publication; empty for drafts';
COMMENT ON COLUMN support.knowledge_articles.view_count IS 'How often it was read';

CREATE TABLE support.warranty_claims (
    claim_id integer PRIMARY KEY,
    ticket_id integer REFERENCES support.tickets (ticket_id),
    customer_id integer NOT NULL REFERENCES crm.customers (customer_id),
    product_id integer NOT NULL REFERENCES inventory.products (product_id),
    serial_no text NOT NULL,
    purchased_dt date NOT NULL,
    claimed_dt date NOT NULL,
    decision text CHECK (decision IN ('ACC', 'GDW', 'REJ')),
    cost_amt numeric(14,2)
);
COMMENT ON TABLE support.warranty_claims IS 'Warranty claims for products.';
COMMENT ON COLUMN support.warranty_claims.claim_id IS 'Key of the claim';
COMMENT ON COLUMN support.warranty_claims.ticket_id IS 'Ticket it came from, if any';
COMMENT ON COLUMN support.warranty_claims.customer_id IS 'Customer who claims';
COMMENT ON COLUMN support.warranty_claims.product_id IS 'Product';
COMMENT ON COLUMN support.warranty_claims.serial_no IS 'Serial number of the product';
COMMENT ON COLUMN support.warranty_claims.purchased_dt IS 'Day the product was bought';
COMMENT ON COLUMN support.warranty_claims.claimed_dt IS 'Day of the claim';
COMMENT ON COLUMN support.warranty_claims.decision
    IS 'Decision: ACC = accepted, GDW = paid as goodwill, REJ = rejected; empty while undecided';
COMMENT ON COLUMN support.warranty_claims.cost_amt IS 'Cost to us, EUR; empty while undecided';

-- Foreign keys that point forward, between modules ---------------------------------------------

ALTER TABLE finance.invoices
    ADD FOREIGN KEY (cust_no) REFERENCES crm.customers (customer_id);
ALTER TABLE finance.invoices
    ADD FOREIGN KEY (order_id) REFERENCES sales.orders (order_id);
ALTER TABLE finance.supplier_bills
    ADD FOREIGN KEY (supplier_id) REFERENCES procurement.suppliers (supplier_id);
ALTER TABLE finance.supplier_bills
    ADD FOREIGN KEY (po_id) REFERENCES procurement.purchase_orders (po_id);
