/** The functions that somebody outside may call, with the comment above each, in the order of their chapters. */

/** Title, then the chapters of sql/. */
const EVENTS_AND_JOBS = [
  [
    'Jobs',
    ...['queue', 'claims', 'outcomes', 'workers', 'kinds', 'schedules', 'history'].map(inRoom('jobs')),
  ],
  ['Routes', ...['routes', 'route-triggers', 'route-signals'].map(inRoom('events'))],
  ['Consumers and dispatch', 'events/consumers.sql', 'events/dispatch.sql'],
  ['System issues', 'events/issues.sql'],
  ['Webhooks, alerts, templates', 'jobs/webhooks.sql', 'jobs/alerts.sql', 'jobs/templates.sql'],
]

const HEAD = `# Events and jobs in SQL

What a psql or Python user calls, in the schema \`iu_core\`; the owner, \`workflow_admin\`, may call everything. How the functions belong
together: [routes](../guides/routes.md), [consumers](../guides/consumers.md), [jobs](../guides/jobs.md),
[webhooks and alerts](../guides/webhooks-and-alerts.md). Bad arguments raise one of our SQLSTATEs ([errors](errors.md)), never NULL.
`

const EXECUTIONS = [['Playbooks and executions', 'executions/']]

const EXECUTION_HEAD = `# Executions in SQL

What a psql or Python user calls, in the schema \`noetl\`; the owner, \`workflow_admin\`, may call everything. Those for \`dot_executor\` alone
are what an engine calls. How they belong together: [playbooks](../guides/playbooks.md), [executions](../guides/executions.md). Bad arguments
raise one of our SQLSTATEs ([errors](errors.md)), never NULL.
`

const UNITS = [['Units, edges, topics, documents', 'units/']]

const UNIT_HEAD = `# Information units in SQL

What a psql or Python user calls, in the schema \`iu_core\`. A login that the README makes may become the roles that are named here, but
is none of them by itself: say \`set role\` first, or the schema is refused.

\`\`\`sql
set role service_role;
select unit_id, unit_version_id, content_hash
  from iu_core.fn_unit_create('<workspace id>', 'handbook/leave', E'# Leave\\n\\n28 days.', p_actor => 'anna@example.com');
select * from iu_core.fn_unit_edit('<unit id>', 1, E'# Leave\\n\\n30 days.', p_note => 'agreed on Monday');
select iu_core.fn_unit_enact('<unit id>', 2, 'APR-7', p_actor => 'rita@example.com');
\`\`\`

\`authenticated\`, \`stagedoor_reviewer\` and \`stagedoor_agent\` are people's and agents' roles: the API acts under them, and their membership of
the workspace counts. \`service_role\` acts for whom it names. Bad arguments raise one of our SQLSTATEs ([errors](errors.md)), never NULL.
How the functions belong together: [units](../guides/units.md).
`

/** `routines` as `readSqlFiles` reads them. */
export function unitsSqlReference(routines) {
  return reference(routines, UNIT_HEAD, UNITS)
}

export function sqlReference(routines) {
  return reference(routines, HEAD, EVENTS_AND_JOBS)
}

export function executionsSqlReference(routines) {
  return reference(routines, EXECUTION_HEAD, EXECUTIONS)
}

function reference(routines, head, sections) {
  const parts = sections.map(([title, ...chapters]) => {
    const own = chapters.flatMap((chapter) => routines.filter(({ file }) => file.startsWith(chapter)))
    return [`## ${title}\n`, ...own.map(({ sql }) => entry(sql)).filter(Boolean)].join('\n')
  })
  return [head, ...parts].join('\n')
}

function inRoom(room) {
  return (chapter) => `${room}/${chapter}.sql`
}

/** Undefined for what only our own functions call. */
function entry(sql) {
  const declared =
    /create or replace (?:function|procedure) (?:iu_core|noetl)\.(\w+)\s*\((.*?)\)\s*(?:returns (.*?))?\s*language/s.exec(
      sql,
    )
  const granted = /grant execute on (?:function|procedure) .*?\bto\s+([^;]+);/s.exec(sql)
  const about = sql.slice(0, sql.indexOf('create or replace')).replaceAll(/^-- ?/gm, '').trim()
  if (!declared || !granted) return undefined
  const [, name, parameters, returned] = declared
  const signature = `${name}(${oneLine(parameters)})${returned ? ` returns ${oneLine(returned)}` : ''}`
  const roles = oneLine(granted[1])
    .split(/, ?/)
    .map((role) => `\`${role}\``)
    .join(', ')
  return `### ${name}\n\n\`\`\`sql\n${signature}\n\`\`\`\n\n${about}\n\nFor ${roles}.\n`
}

const oneLine = (text) => text.replaceAll(/\s+/g, ' ').trim()
