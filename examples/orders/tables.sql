-- The tables that examples/orders writes to. Each natural key has its unique constraint: without one a repeated
-- upload would double rows, and registration refuses the dataset.
create schema if not exists shop;
-- Stagedoor must see into the schema; what it needs on the tables, registration says.
grant usage on schema shop to workflow_admin;

create table if not exists shop.customers (
  id uuid primary key,
  workspace_id uuid not null,
  external_id text not null,
  name text,
  email text,
  constraint customers_one_per_number unique (workspace_id, external_id)
);

create table if not exists shop.orders (
  id uuid primary key,
  workspace_id uuid not null,
  number text not null,
  customer_id uuid not null references shop.customers (id),
  placed_on date not null,
  status text,
  currency text,
  constraint orders_one_per_number unique (workspace_id, number)
);

create table if not exists shop.order_lines (
  id uuid primary key,
  order_id uuid not null references shop.orders (id),
  position bigint not null,
  sku text not null,
  quantity bigint not null constraint order_lines_quantity_positive check (quantity > 0),
  unit_price numeric not null,
  discount numeric,
  constraint order_lines_one_per_position unique (order_id, position)
);
