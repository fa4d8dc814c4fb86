/** Which test files run on which server, see vitest.config.ts. test/setup/suites.test.ts finds names that match no file. */

/** What lives in the database is tested on the oldest and on the newest PostgreSQL that we support. */
export const SQL_SUITES: readonly string[] = [
  ...['access', 'gates', 'events', 'staging', 'kernel/postgres/doctor'].map(
    (room) => `test/${room}/**/*.test.ts`,
  ),
  'test/jobs/{enqueue,failures,history,limits,plans,races,access}.test.ts',
  'test/jobs/handlers/{alerts,followup,pairs,retention,reviewers,templates}.test.ts',
  'test/jobs/webhooks/targets.test.ts',
  'test/executions/{projection,waits}/**/*.test.ts',
  'test/executions/sql/**/*.test.ts',
  'test/units/{bad-input-null,create,checker,containers,cut,edges,editing,guards}.test.ts',
  'test/units/{cut-places,left-out,lifecycle,lifecycle-route,cut-preview,outbox,profile,topics,access}.test.ts',
  'test/search/{words,text,text-races,lexical,filters,hits,worker-projection,audit,legacy,staging-isolation}.test.ts',
  // Of ingest what is SQL; reading files is the same on every server.
  'test/ingest/{approval,cursor,datasets-registration,gates,kills,lineage,limits,modes}.test.ts',
  'test/ingest/{plan,replan,promotion,races,retention,reupload,snapshot,snapshot-own-tables,snapshot-property,undo,access}.test.ts',
  'test/ingest/{own-tables,own-tables-lookups,own-tables-changes}.test.ts',
  'test/ingest/{own-tables.property,own-tables-races}.test.ts',
  'test/ingest/{proposals,proposals-attacks,proposals.property}.test.ts',
  'test/app/processes.test.ts',
  // What differs between servers: who may make and grant roles. Following files is the same everywhere.
  ...['history', 'roles'].map((name) => `test/kernel/postgres/migrate/${name}.test.ts`),
]

/**
 * Of these the short run tries on the oldest server what differs there (roles, privileges, the catalogue that doctor reads)
 * and of each room the file that calls most of its functions: PostgreSQL looks into a function only when it is called.
 */
export const SQL_SUITES_SHORT: readonly string[] = [
  'test/kernel/postgres/migrate/roles.test.ts',
  'test/kernel/postgres/doctor/{login,manifest}.test.ts',
  'test/access/{catalogue,privileges,workspace-isolation}.test.ts',
  'test/app/processes.test.ts',
  'test/gates/gate.test.ts',
  'test/events/{commit-order,emit}.test.ts',
  'test/events/routes/{calls-and-ddl,rows}.test.ts',
  'test/events/consumers/dispatch.test.ts',
  'test/staging/{lifecycle,access-tables}.test.ts',
  'test/ingest/{lineage,promotion,snapshot,undo,own-tables,own-tables-lookups}.test.ts',
  'test/jobs/{enqueue,failures,plans,races}.test.ts',
  'test/ingest/{proposals,proposals-attacks,proposals.property}.test.ts',
  'test/executions/sql/{commands,flush}.test.ts',
  'test/executions/projection/project.test.ts',
  'test/executions/waits/approvals.test.ts',
  'test/units/{cut,editing,lifecycle}.test.ts',
  'test/search/{lexical,worker-projection}.test.ts',
]

/** What the short run must keep, on the newest server: for each state machine a property and races, for each kind of worker a kill. */
export const ALWAYS: readonly string[] = [
  'test/staging/{model,races}.test.ts',
  'test/ingest/{states,plan,kills,races}.test.ts',
  'test/events/commit-order-model.test.ts',
  'test/events/routes/races.test.ts',
  'test/events/consumers/{model,races}.test.ts',
  'test/jobs/{model,races}.test.ts',
  'test/executions/machine/property.test.ts',
  'test/executions/engine/property.test.ts',
  'test/executions/projection/fold-property.test.ts',
  'test/executions/waits/races.test.ts',
  'test/units/{model,races,recut}.test.ts',
  'test/search/{property,text-races,kill}.test.ts',
  'test/chaos/{jobs,frozen,poison,lost-tail}.test.ts',
  'test/chaos/executions/executions.test.ts',
]
