import { defineConfig } from 'vitest/config'

/** What lives in the database is tested on the oldest and on the newest PostgreSQL that we support. */
const SQL_SUITES = [
  ...['access', 'gates', 'events', 'runs', 'staging', 'routes', 'consumers', 'issues', 'db/doctor'].map(
    (room) => `test/${room}/**/*.test.ts`,
  ),
  'test/jobs/{enqueue,failures,history,limits,races,wall}.test.ts',
  'test/jobs/{handlers,webhooks}/{alerts,followup,pairs,retention,reviewers,targets,templates}.test.ts',
  'test/executions/{projection,waits}/**/*.test.ts',
  'test/executions/sql/**/*.test.ts',
  'test/units/{bad-input-null,birth,checker,containers,cut,edges,editing,guards}.test.ts',
  'test/units/{cut-places,left-out,lifecycle,lifecycle-route,outbox,outlook,profile,topics,wall}.test.ts',
  'test/search/{words,text,text-races,lexical,filters,hits,worker-projection,audit,legacy,staging-wall}.test.ts',
  // Of ingest what is SQL; reading files is the same on every server.
  'test/ingest/{approval,cursor,datasets-registration,gates,kills,lineage,limits}.test.ts',
  'test/ingest/{plan,promotion,races,retention,reupload,undo,wall}.test.ts',
  // What differs between servers: who may make and grant roles. Following files is the same everywhere.
  ...['history', 'roles'].map((name) => `test/db/migrate/${name}.test.ts`),
]

export default defineConfig({
  test: {
    globalSetup: 'test/support/servers.ts',
    // Where CI is set, colours are on even without a terminal; what tests compare is the text.
    env: { NO_COLOR: '1' },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: more files at once only make each other slow.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'pg18', include: ['test/**/*.test.ts'] } },
      // The long properties are proven on one of the two; on the other it is enough that nothing is different.
      { extends: true, test: { name: 'pg15', include: SQL_SUITES, env: { FEWER_CASES: '1' } } },
    ],
  },
})
