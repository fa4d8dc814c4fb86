-- The inbox: what concerns a person, found in what is stored anyway. New are only who is mentioned in a description, and what of it somebody
-- has read.

insert into iu_core.event_vocabulary values
  ('change', 'undo_requested', 'somebody asked for the undo of a promotion'),
  ('change', 'undo_declined', 'a request to undo a promotion was declined or withdrawn');

-- User ids of the members that the description mentions.
alter table iu_core.change add column mentions text[] not null default '{}'
  constraint change_mentions_few check (cardinality(mentions) <= 50);

-- News that somebody has read, up to a time that fn_inbox_read takes from the history of the change: what is written on one change has one
-- order. What is to be done has no mark. Deleted when news of that time is no longer listed (fn_inbox_cleanup).
create table iu_core.change_inbox_read (
  actor text not null,
  -- No foreign key: its check would wait for whoever has locked the change.
  change_id uuid not null,
  matter text not null
    constraint change_inbox_read_is_news check (matter in ('mentioned', 'replied', 'approved', 'promoted', 'rejected', 'undone')),
  read_until timestamptz not null,
  constraint change_inbox_read_pkey primary key (actor, change_id, matter)
);
create index change_inbox_read_until on iu_core.change_inbox_read (read_until);
alter table iu_core.change_inbox_read enable row level security;
create policy change_inbox_read_own on iu_core.change_inbox_read for select
  to authenticated, stagedoor_reviewer using (actor = (select iu_core.fn_actor()));
create policy change_inbox_read_service on iu_core.change_inbox_read for select to service_role, dot_executor using (true);
grant select on iu_core.change_inbox_read to authenticated, stagedoor_reviewer, service_role, dot_executor;

-- What a person has open, where somebody mentions them, where they wrote, and which undo was asked for. Each index is as large as what it is about.
create index change_author_not_ended on iu_core.change (author, change_id) where status in ('draft', 'open', 'changes_requested', 'approved');
create index change_mentions on iu_core.change using gin (mentions) where mentions <> '{}';
create index change_comment_mentions on iu_core.change_comment using gin (mentions) where mentions <> '{}';
create index change_comment_author on iu_core.change_comment (author, comment_id);
create index change_history_undo on iu_core.change_history (change_id, seq) where what in ('undo_requested', 'undo_declined');
create index member_group_member_person on iu_core.member_group_member (member);

