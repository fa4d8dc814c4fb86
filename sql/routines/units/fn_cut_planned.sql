-- The rows of a plan of fn_cut_plan. Internal.
create or replace function iu_core.fn_cut_planned(p_plan jsonb)
returns table ("position" integer, address text, parent text, kind text, title text, "from" integer, "to" integer, hash text, topics jsonb,
               what text, unit_id uuid, unit_address text, head_id uuid, version_no integer, unit_hash text, lifecycle_status text,
               is_alive boolean, keeps_body boolean, is_edited boolean, replaces_id uuid, held_position integer, held_parent text,
               is_known boolean, is_placed boolean, container_id uuid, number integer)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select * from jsonb_to_recordset(p_plan) as p (
    "position" integer, address text, parent text, kind text, title text, "from" integer, "to" integer, hash text, topics jsonb,
    what text, unit_id uuid, unit_address text, head_id uuid, version_no integer, unit_hash text, lifecycle_status text,
    is_alive boolean, keeps_body boolean, is_edited boolean, replaces_id uuid, held_position integer, held_parent text,
    is_known boolean, is_placed boolean, container_id uuid, number integer)
$$;
