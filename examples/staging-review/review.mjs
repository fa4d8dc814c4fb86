// An agent stages three parts, a reviewer approves exactly what was seen, a job consumes it. Plain Node, HTTP only.
const { API_URL = 'http://localhost:4680', AGENT_TOKEN, REVIEWER_TOKEN, OPERATOR_TOKEN } = process.env

const agent = caller('agent', AGENT_TOKEN)
const reviewer = caller('reviewer', REVIEWER_TOKEN)
const job = caller('job', OPERATOR_TOKEN)

// The agent holds its work for review. The key makes it safe to send again.
const { workspaces } = await agent('GET', '/api/v1/me')
const staged = await agent(
  'POST',
  '/api/v1/staging',
  {
    workspace_id: workspaces[0].id,
    staging_kind: 'review_package',
    payload_type: 'review_bundle',
    purpose: 'Commentary on the ad report of week 27',
    source_kind: 'agent',
    parts: [
      { part_name: 'manifest', payload_kind: 'json', payload_json: { report: 'week 27', campaigns: 14 } },
      {
        part_name: 'commentary',
        payload_kind: 'text',
        payload_text: 'Spend rose by 12 %: two campaigns started on Monday.',
      },
      {
        part_name: 'checklist',
        payload_kind: 'json',
        payload_json: [
          { id: 'sums', text: 'The sums agree with the export' },
          { id: 'tone', text: 'Fit for the client' },
        ],
      },
    ],
  },
  { 'idempotency-key': process.env.IDEMPOTENCY_KEY ?? `week 27, ${new Date().toISOString()}` },
)
const record = `/api/v1/staging/${staged.staging_record_id}`
say('agent', `staged ${staged.staging_record_id}`)

// Whoever staged it does not approve it.
await refused(() => agent('POST', `${record}/approve`, { digest: staged.content_hash }))

// The reviewer finds it, reads every part, ticks the checklist, and approves the bytes that were read.
const { records } = await reviewer('GET', '/api/v1/staging?status=pending&kind=review_package')
say('reviewer', `${records.length} waiting, the newest: ${records[0].purpose}`)
const seen = await reviewer('GET', record)
for (const { part_index, part_name } of seen.part_digests) {
  say(
    'reviewer',
    `${part_name}: ${await reviewer('GET', `${record}/parts/${part_index}`, undefined, {}, 'text')}`,
  )
}
await refused(() => reviewer('POST', `${record}/approve`, { digest: seen.content_hash }))
for (const { item_id } of seen.checklist) await reviewer('POST', `${record}/tick`, { item_id })
const approved = await reviewer('POST', `${record}/approve`, { digest: seen.content_hash })
say('reviewer', `${approved.lifecycle_status} ${approved.content_hash}`)

// A job uses it, once, under a run.
const { run_id } = await job('POST', `${record}/consume`, {
  command: 'publish week 27',
  digest: seen.content_hash,
})
say('job', `consumed by run ${run_id}`)
await refused(() => job('POST', `${record}/consume`, {}))

const { events } = await reviewer('GET', `${record}/history`)
say('events', events.map((event) => event.event_type).join(' → '))

function caller(name, token) {
  if (!token)
    throw new Error(`Set ${name === 'job' ? 'OPERATOR' : name.toUpperCase()}_TOKEN; README.md says how.`)
  return async (method, path, body, headers = {}, as = 'json') => {
    const reply = await fetch(API_URL + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(unreachable)
    if (reply.ok) return reply[as]()
    const problem = await reply.json()
    throw Object.assign(new Error(`${problem.detail} ${problem.hint}`), { who: name, code: problem.code })
  }
}

function unreachable(error) {
  if (error.cause?.code !== 'ECONNREFUSED') throw error
  console.error(
    `Nothing answers at ${API_URL}. Run \`npm start\` in another terminal, or set API_URL to the address that it printed.`,
  )
  process.exit(1)
}

async function refused(call) {
  const error = await call().then(
    () => new Error('this should have been refused'),
    (thrown) => thrown,
  )
  if (!error.code) throw error
  say(error.who, `refused, ${error.code}: ${error.message}`)
}

function say(who, what) {
  console.log(`${who.padEnd(9)}${what}`)
}
