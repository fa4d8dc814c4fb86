-- An ordinary shop: an identity key, a unique number, a category, and nothing that belongs to Stagedoor.
create table public.categories (
  id bigint generated always as identity primary key,
  name text not null unique
);
insert into public.categories (name)
values ('Camping'), ('Küche'), ('Garten'), ('Werkzeug'), ('Beleuchtung'), ('Textilien'), ('Spielzeug'), ('Büro');

create table public.products (
  id bigint generated always as identity primary key,
  sku text not null unique,
  name text not null,
  price numeric(10, 2) not null,
  tags text[],
  meta jsonb,
  category_id bigint references public.categories,
  updated_at timestamptz not null default now()
);
insert into public.products (sku, name, price, tags, category_id)
select 'P-' || lpad(n::text, 4, '0'), (array['Lampe', 'Zelt', 'Messer', 'Schaufel', 'Decke', 'Ordner'])[1 + n % 6] || ' ' || n,
       (500 + n * 337 % 150000) / 100.0, array['shop', case when n % 2 = 0 then 'web' else 'store' end], 1 + n % 8
  from generate_series(1, 300) as n;

-- What Stagedoor needs to write these tables, and to look categories up. `stagedoor dataset check` prints it.
grant select, insert, update, delete on public.products to workflow_admin;
grant select on public.categories to workflow_admin;
