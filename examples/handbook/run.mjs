// A handbook becomes units: marked, approved, cut; a slice edited, a conflict, an enacted piece locked; then the handbook of next
// year, cut again; then a question. Plain Node and the library. README.md says how to run it.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createStagedoor } from 'stagedoor'

const { API_URL = 'http://localhost:4680', DATABASE_URL, REVIEWER_TOKEN } = process.env
if (!DATABASE_URL || !REVIEWER_TOKEN) {
  throw new Error('Set DATABASE_URL, DATABASE_DIRECT_URL and REVIEWER_TOKEN; README.md says how.')
}

const stagedoor = await createStagedoor()
const { units, search } = stagedoor
const { workspaces } = await reviewer('GET', '/api/v1/me')
const workspace = process.env.WORKSPACE_ID ?? workspaces[0].id
// Addresses are for good: run twice, the story needs a branch of its own.
const branch = process.env.BRANCH ?? 'handbook'
const sourceRef = `${branch}.md`

try {
  await cutFrom('handbook.md')
  const [before, leave] = await edits()
  await inForce(leave)
  await cutFrom('handbook-2027.md')
  await afterwards(before, leave)
  await asked()
} finally {
  await stagedoor.close()
}

/** Mark → review → cut. A program stages; a person approves exactly that, with their own token. */
async function cutFrom(file) {
  const source = await readFile(fileURLToPath(new URL(file, import.meta.url)))
  const marked = await units.mark({ workspace, source, sourceRef, address: branch })
  const id = marked.staging_record_id
  const changes = marked.report.pieces.map(({ change }) => change)
  const count = (change) => changes.filter((one) => one === change).length
  say(
    'mark',
    `${file}: ${changes.length} pieces, ${count('new')} new, ${count('changed')} changed, ${count('same')} the same`,
  )
  await refused(() => units.cut(id, marked.digest))
  await reviewer('POST', `/api/v1/staging/${id}/approve`, { digest: marked.digest })
  say('approve', 'a reviewer approved exactly these pieces')
  const begun = performance.now()
  const cut = await units.cut(id, marked.digest)
  const ms = performance.now() - begun
  say(
    'cut',
    `in ${ms.toFixed(0)} ms: ${cut.created} created, ${cut.versioned} versioned, ${cut.successors} successors, ${cut.unchanged} unchanged`,
  )
  for (const { what, canonical_address } of cut.units.filter(({ what }) => what !== 'created')) {
    say('', `${what} ${canonical_address}`)
  }
}

/** A slice makes a version, the old one stays readable, and of two edits at once one gets an error that shows what the other did. */
async function edits() {
  const canonical_address = `${branch}/leave/carrying-days-over`
  const unit = await units.read({ workspace_id: workspace, canonical_address })
  const from = unit.version.body.indexOf('five days')
  const edited = await units.editSlice(unit.unit_id, {
    expected_version: unit.version_no,
    from,
    to: from + 'five days'.length,
    text: 'eight days',
    note: 'works council, 3 November',
  })
  say('edit', `${canonical_address} is at version ${edited.version_no}`)
  const then = await units.read(unit.unit_id, { asOf: unit.version.edited_at })
  say(
    'as of',
    `version ${then.version.version_no} still says “${then.version.body.match(/Up to \w+ days/)[0]}”`,
  )
  const conflict = await refused(() =>
    units.edit(unit.unit_id, { expected_version: unit.version_no, body: 'Days lapse.' }),
  )
  for (const line of conflict.details.diff.trimEnd().split('\n')) say('', line)
  return [
    unit,
    await units.read({ workspace_id: workspace, canonical_address: `${branch}/leave/annual-leave` }),
  ]
}

/** In force: from now on nobody changes this text, the owner of the tables included. */
async function inForce(leave) {
  await reviewer('POST', `/api/v1/units/${leave.unit_id}/enact`, {
    expected_version: leave.version_no,
    apr_ref: 'works council 2026-11',
  })
  say('enact', `${leave.canonical_address} is in force`)
  await refused(() => units.edit(leave.unit_id, { expected_version: leave.version_no, body: '27 days.' }))
}

async function afterwards(carried, leave) {
  const now = await units.read(leave.unit_id)
  const next = await units.read({
    workspace_id: workspace,
    canonical_address: `${leave.canonical_address}~2`,
  })
  say(
    'in force',
    `${now.version.body.match(/\d+ days/)[0]} (${now.canonical_address}, ${now.lifecycle_status})`,
  )
  say(
    'proposed',
    `${next.version.body.match(/\d+ days/)[0]} (${next.canonical_address}, ${next.lifecycle_status})`,
  )
  const { versions } = await units.history(carried.unit_id)
  say('history', `${carried.canonical_address} has ${versions.length} versions; the cut left the edit alone`)
}

/** What was edited is in search two minutes later. Here nobody waits: the outbox is drained at once, then a question is asked; then the unit is edited again. */
async function asked() {
  await search.flush({ workspace })
  await search.drain(workspace)
  const question = 'How many days may I carry over to the next year?'
  const ask = async () => {
    const { hits } = await search.find(workspace, question, { limit: 1, filters: { container: branch } })
    return hits[0]
  }
  const hit = await ask()
  say('search', `${hit.canonical_address}, version ${hit.version_no}, ${hit.freshness}`)
  const unit = await units.read(hit.unit_id)
  await units.edit(hit.unit_id, {
    expected_version: unit.version_no,
    body: `${unit.version.body.trimEnd()}\n\nAsk before you plan with them.\n`,
  })
  const { freshness, warnings } = await ask()
  say('search', `${freshness}: ${warnings[0]}`)
}

async function reviewer(method, path, body) {
  const reply = await fetch(API_URL + path, {
    method,
    headers: {
      authorization: `Bearer ${REVIEWER_TOKEN}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((error) => {
    const why = error.cause?.code ?? error.message
    throw new Error(`No API answers at ${API_URL} (${why}): \`npm start\` runs one, API_URL names another.`)
  })
  const answer = await reply.json()
  if (!reply.ok) throw new Error(`The reviewer is refused: ${answer.detail}`)
  return answer
}

async function refused(call) {
  const error = await call().then(
    () => new Error('this should have been refused'),
    (thrown) => thrown,
  )
  if (!error.code) throw error
  say('refused', `${error.code}: ${error.message}`)
  return error
}

function say(what, text) {
  console.log(`${what.padEnd(10)}${text}`)
}
