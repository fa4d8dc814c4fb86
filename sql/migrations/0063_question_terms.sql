-- The words of a question are looked up once for both of these, which return and take them: the routines of this release make them again.
drop function if exists iu_core.fn_search_lexical(uuid, text, integer, jsonb);
drop function if exists iu_core.fn_search_scores(uuid, text, uuid[]);
