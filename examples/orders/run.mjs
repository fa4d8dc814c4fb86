// A file of orders, in German notation, into tables of one's own: registered, checked, repaired, planned, approved,
// promoted, traced, undone. Plain Node and the library. README.md says how to run it.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { createStagedoor, parseDataset } from 'stagedoor'

const { API_URL = 'http://localhost:4680', DATABASE_DIRECT_URL, REVIEWER_TOKEN } = process.env
if (!DATABASE_DIRECT_URL || !REVIEWER_TOKEN) {
  throw new Error('Set DATABASE_URL, DATABASE_DIRECT_URL and REVIEWER_TOKEN; README.md says how.')
}

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const owner = new pg.Client({ connectionString: DATABASE_DIRECT_URL })
await owner.connect()
const stagedoor = await createStagedoor()
const { ingest } = stagedoor

try {
  await owner.query(await readFile(here('tables.sql'), 'utf8'))
  await register(parseDataset(JSON.parse(await readFile(here('dataset.json'), 'utf8'))))
  await story(await workspace())
} finally {
  await stagedoor.close()
  await owner.end()
}

/** Registration says what Stagedoor lacks on the tables; whoever owns them grants it. */
async function register(dataset) {
  for (const { problem, remedy } of await ingest.datasets.check(dataset)) {
    say('check', `${problem} → ${remedy}`)
    await owner.query(remedy)
  }
  await ingest.datasets.register(dataset)
  say('dataset', `${dataset.name} is registered; a second person approves`)
}

/** By default the first one. The login that migrates acts as the owner of Stagedoor's tables. */
async function workspace() {
  if (process.env.WORKSPACE_ID) return process.env.WORKSPACE_ID
  await owner.query('set role workflow_admin')
  const { rows } = await owner.query('select id from public.workspaces order by created_at limit 1')
  await owner.query('reset role')
  return rows[0].id
}

async function story(workspaceId) {
  const { upload, created } = await ingest.run(here('orders.csv'), {
    dataset: 'orders',
    platform: 'file',
    workspaceId,
    uploadedBy: 'ada@example.com',
    until: 'planned',
  })
  if (!created)
    throw new Error(`This file was already uploaded: upload ${upload.upload_id} is ${upload.status}`)
  const id = upload.upload_id
  say(
    'read',
    `${upload.line_count} lines, ${upload.invalid_count} wrong, ${upload.warning_count} with a warning`,
  )
  for (const row of await ingest.rows(id, { problems: true })) {
    for (const { line, column, value, message } of [...row.validation_errors, ...row.validation_warnings]) {
      say('problem', `line ${line}, ${column} “${value}”: ${message}`)
    }
  }
  say('plan', `refused: ${upload.plan_refusal}`)

  await ingest.repair(id, [{ line: 8, values: { Qty: '10' } }], 'ada@example.com')
  const plan = await ingest.plan(id)
  say('repair', `line 8 corrected; plan ${plan.digest.slice(0, 12)} ${JSON.stringify(plan.totals)}`)

  await ingest.submit(id, plan.digest, 'ada@example.com')
  await refused(() => ingest.promote(id, plan.digest))
  // A program that uploaded does not approve, in whoever's name it acts; a person does, with their own token.
  await refused(() =>
    ingest.approve(id, { digest: plan.digest, ticked: ['changes'], approvedBy: 'grace@example.com' }),
  )
  await approve(id, plan.digest)
  await ingest.promote(id, plan.digest, 'ada@example.com')
  say('promote', `${await count()} order lines are in shop.order_lines`)

  const { rows } = await owner.query(`select l.id from shop.order_lines l where l.sku = 'SOAP-50'`)
  const [entry] = await ingest.lineageOf(workspaceId, 'shop.order_lines', { id: rows[0].id })
  say('lineage', `line ${entry.line} of ${entry.file_name}, approved by ${entry.approved_by}`)

  const undo = await ingest.planUndo(id)
  const { undo_totals } = await ingest.undo(id, { digest: undo.digest, undoneBy: 'ada@example.com' })
  say('undo', `${JSON.stringify(undo_totals)}; ${await count()} order lines are left`)
}

async function approve(id, digest) {
  const reply = await fetch(`${API_URL}/api/v1/uploads/${id}/approve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${REVIEWER_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ digest, ticked: ['changes'] }),
  })
  if (!reply.ok) throw new Error(`The reviewer cannot approve: ${(await reply.json()).detail}`)
  say('approve', 'a reviewer approved exactly this plan')
}

async function count() {
  return (await owner.query('select count(*) from shop.order_lines')).rows[0].count
}

async function refused(call) {
  const error = await call().then(
    () => new Error('this should have been refused'),
    (thrown) => thrown,
  )
  if (!error.code) throw error
  say('refused', `${error.code}: ${error.message}`)
}

function say(what, text) {
  console.log(`${what.padEnd(9)}${text}`)
}
