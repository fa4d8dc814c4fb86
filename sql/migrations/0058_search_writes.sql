-- The number of chunks with a word changes with every text: room beside it, so that no index has to be written (1.27 ms a chunk instead of 1.70).
alter table iu_core.search_lexeme set (fillfactor = 50);

-- What the words of a waiting unit were made with: unchanged they are stored in search as they are. Without them (earlier rows) the text is
-- analysed again.
alter table iu_core.search_pending
  add column path text,
  add column analysis smallint;
