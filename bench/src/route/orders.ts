/** The tables that the route is measured on: what a shop's orders have, foreign key, checks and indexes included. */

export const CUSTOMERS = `
  create table customers (
    id bigint generated always as identity primary key,
    email text not null unique,
    name text not null
  );
  insert into customers (email, name) select 'customer' || n || '@example.com', 'Customer ' || n from generate_series(1, 5000) n`

export const ordersTable = (name: string): string => `
  create table ${name} (
    id bigint generated always as identity primary key,
    number text not null unique,
    customer_id bigint not null references customers (id),
    status text not null check (status in ('placed', 'paid', 'shipped', 'returned')),
    currency char(3) not null,
    subtotal numeric(12, 2) not null,
    tax numeric(12, 2) not null,
    total numeric(12, 2) not null check (total >= 0),
    shipping_address jsonb not null,
    notes text,
    placed_at timestamptz not null,
    updated_at timestamptz not null default now()
  );
  create index on ${name} (customer_id, placed_at desc);
  create index on ${name} (status, placed_at)`
