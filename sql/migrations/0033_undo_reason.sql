-- Why a promotion was undone, in the words of whoever undid it.
alter table iu_core.ingest_promotion add column undo_reason text
  constraint ingest_promotion_undo_reason_of_undo check (
    undo_reason is null or (undone_at is not null and undo_reason ~ '\S' and length(undo_reason) <= 2000));
