-- Inboxes tell what a review policy asks of a group or a role, and which plans are outdated, as soon as it is known.

-- Which rules of its policy an open change meets by what its plan writes. Rules that name columns or amounts read every row of the plan: once,
-- and not whenever somebody opens their inbox. What depends on the hour or on other uploads is left out: it is asked when the inbox is read. A
-- row of another digest or revision counts for nothing. Nobody's but the owner's.
create table iu_core.change_policy_rule (
  -- No foreign key: its check would wait for whoever has locked the change.
  change_id uuid not null constraint change_policy_rule_pkey primary key,
  digest text,
  policy_id uuid not null,
  revision integer not null,
  -- Places in `raise`, from 1.
  rules integer[] not null
);
alter table iu_core.change_policy_rule enable row level security;

-- Who compared a plan with its tables.
alter table iu_core.ingest_plan_mark add column marked_by text;
alter table iu_core.ingest_plan_mark alter column marked_by set default iu_core.fn_actor();

-- It returns more.
drop function if exists iu_core.fn_inbox(uuid, boolean, integer, text);
