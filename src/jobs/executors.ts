/** Who may run jobs: the seed's list, as the database's domain executor_name has it. */
export const EXECUTORS = [
  'DOT',
  'Agent',
  'Hermes',
  'Codex',
  'PG_worker',
  'external_worker',
  'future_Kestra_adapter',
] as const
