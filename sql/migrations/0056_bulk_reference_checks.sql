-- Promotion may check the foreign keys of many inserted rows at once. Closed on one's own database until an administrator opens the gate and
-- grants workflow_admin the right to set session_replication_role.
insert into iu_core.dot_config (key, value, description) values
  ('iu_core.bulk_reference_checks_enabled', 'false', 'promotion checks the foreign keys of many inserted rows at once');
