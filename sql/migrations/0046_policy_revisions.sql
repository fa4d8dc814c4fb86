-- A policy is set on the revision that its author has read; the rules of a draft are judged by the same functions as those of a policy that is
-- set. The routines have other parameters since.
drop function if exists iu_core.fn_review_policy_set(uuid, text, text, jsonb, text);
drop function if exists iu_core.fn_review_policy_remove(uuid, text, text, text);
drop function if exists iu_core.fn_review_requirement_of(uuid, text, text, uuid, boolean);
drop function if exists iu_core.fn_review_rule_applies(jsonb, uuid);
