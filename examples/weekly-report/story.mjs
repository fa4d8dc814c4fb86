/**
 * One week at Northwind, told by the people of a workspace: every step is a call that a user could make, over HTTP with the token of
 * whoever acts, or with the library where a program acts. `run.mjs` runs it as an example, and `stagedoor start` as its demo.
 *
 * A step is written down when it is done (public.weekly_report_step), and does not run again, whatever somebody does to its result. A
 * step that was interrupted runs again: each of its calls finds what it made before.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const DATASET = 'ads'
const CONSUMER = 'weekly_report'
const PLAYBOOK = 'weekly-report'
const JOB_KIND = 'weekly_report_file'
/** The units of the commentary are below this address. */
const ADDRESS = 'week-44'
/** The line of google-week-44.csv that the commentary cites. */
const CITED_LINE = 56
/** The line of google-week-45.csv whose cost has lost its decimal point. */
const ODD_LINE = 51
/** A step of a busy machine; longer than that, something is wrong. */
const MAX_WAIT_MS = 180_000
const POLL_MS = 250

/** In this order: what is waiting for somebody comes last, so it is the newest. */
const STEPS = [
  { step: 'playbook', says: 'a playbook and its consumer are registered', run: registerPlaybook },
  { step: 'week 43', says: 'Google Ads, week 43, is uploaded, approved and promoted', run: promoteWeek43 },
  {
    step: 'consumer',
    says: 'the reviewer has checked the consumer; promotions start the playbook now',
    run: activateConsumer,
  },
  { step: 'week 44', says: 'week 44 is promoted; the playbook compares each campaign', run: promoteWeek44 },
  {
    step: 'job',
    says: 'a job wants to write a report into a folder that does not exist',
    run: enqueueReport,
  },
  {
    step: 'commentary',
    says: 'the agent has staged a commentary; it is approved and cut into units',
    run: cutCommentary,
  },
  {
    step: 'conflict',
    says: 'a correction waits, and production has changed since it was planned',
    run: makeConflict,
  },
  {
    step: 'correction',
    says: 'the commentary is corrected; the unit in force is out of date',
    run: correctCommentary,
  },
  { step: 'dead letter', says: 'the job has failed for the last time', run: awaitDeadLetter },
  { step: 'week 45', says: 'week 45 waits for approval, with a conversation', run: discussWeek45 },
  { step: 'draft', says: 'the agent’s commentary on week 45 waits for a decision', run: stageDraft },
  {
    step: 'proposal',
    says: 'the agent has proposed late conversions over MCP, with a reason',
    run: proposeConversions,
  },
  { step: 'tiktok', says: 'an export of TikTok waits with three invalid lines', run: uploadTiktok },
]

/**
 * Loads what is missing of the story, and returns where to look: what it is, and its path in the console.
 * `stagedoor` is the library, `owner` a connection of pg as workflow_admin, `tokens` those of operator, reviewer and agent.
 */
export async function loadStory({ url, tokens, stagedoor, owner, say = () => {}, signal }) {
  const story = {
    stagedoor,
    signal,
    operator: caller(url, tokens.operator, signal),
    reviewer: caller(url, tokens.reviewer, signal),
    agent: caller(url, tokens.agent, signal),
    tool: toolCaller(url, tokens.agent, signal),
  }
  await alone(owner, async () => {
    await requirePrepared(story)
    await owner.query(await file('report.sql', 'utf8'))
    const { rows } = await owner.query('select step, made from public.weekly_report_step')
    story.made = Object.fromEntries(rows.map(({ step, made }) => [step, made]))
    for (const [at, { step, says, run }] of STEPS.entries()) {
      signal?.throwIfAborted()
      if (story.made[step]) continue
      story.made[step] = (await run(story)) ?? {}
      await owner.query('insert into public.weekly_report_step (step, made) values ($1, $2)', [
        step,
        JSON.stringify(story.made[step]),
      ])
      say(`${at + 1}/${STEPS.length}  ${says}`)
    }
  })
  return placesOf(story.made)
}

/** Whether the story was begun on this database, and whether all of it is there. */
export async function storyState(owner) {
  const { rows: found } = await owner.query(
    `select to_regclass('public.weekly_report_step') is not null as begun`,
  )
  if (!found[0].begun) return 'absent'
  const { rows } = await owner.query(
    'select count(*)::int as steps from public.weekly_report_step where step = any ($1)',
    [STEPS.map(({ step }) => step)],
  )
  return rows[0].steps === STEPS.length ? 'complete' : 'begun'
}

function placesOf(made) {
  return [
    ['three invalid lines to repair', `/changes/${made.tiktok.change}`],
    ['a plan to review, with a conversation', `/changes/${made['week 45'].change}`],
    ['a plan in conflict with production', `/changes/${made.conflict.change}`],
    ['an agent’s proposal to review', `/changes/${made.proposal.change}`],
    ['an agent’s commentary to decide on', `/changes/${made.draft.change}`],
    ['the promotion that started a playbook', `/changes/${made['week 44'].change}`],
    ['the playbook, fanned out over six campaigns', `/executions/${made['week 44'].execution}`],
    ['units cut from the commentary', `/units?under=${ADDRESS}`],
    ['a unit whose document has changed', `/units/${made.correction.unit}`],
    ['a search that finds it', '/search?q=spend+of+coats+in+Germany'],
    ['the line of the file behind it', made.commentary.row],
    ['a dead letter, with what to do', '/dead-letters'],
  ].map(([what, path]) => ({ what, path }))
}

/** Two processes would make everything twice. The lock ends with the connection. */
async function alone(owner, work) {
  const lock = `hashtext('stagedoor: weekly report')`
  const { rows } = await owner.query(`select pg_try_advisory_lock(${lock}) as taken`)
  if (!rows[0].taken) throw new Error('Another process is loading the story. Wait until it has finished.')
  try {
    return await work()
  } finally {
    await owner.query(`select pg_advisory_unlock(${lock})`).catch(() => {})
  }
}

async function requirePrepared(story) {
  const closed = (await story.stagedoor.gates.list()).filter(
    ({ gate, open }) =>
      !open && ['iu_core.staging_writes_enabled', 'queue.consumer_dispatch.enabled'].includes(gate),
  )
  if (closed.length > 0)
    throw new Error(
      `Open these gates first: ${closed.map(({ gate }) => `stagedoor gate open ${gate}`).join(', ')}`,
    )
  const { workspaces } = await story.operator('GET', '/me')
  if (workspaces.length !== 1) throw new Error('The operator must be a member of exactly one workspace.')
  story.workspace = workspaces[0].id
  const { clients } = await story.operator('GET', `/datasets/${DATASET}/clients`).catch((error) => {
    if (error.status !== 404) throw error
    throw new Error('The dataset ads is not registered: stagedoor dataset register ads')
  })
  if (clients.length === 0) throw new Error('There is no client: stagedoor client create Northwind')
  story.client = (clients.find(({ name }) => name === 'Northwind') ?? clients[0]).id
}

// The steps, in their order.

async function registerPlaybook({ stagedoor, workspace }) {
  await stagedoor.playbooks.register(await file('playbook.yaml', 'utf8'), { openToMembers: true })
  await stagedoor.jobs.setKind(JOB_KIND, {
    description: 'writes the weekly report into a folder',
    max_attempts: 3,
    backoff: '00:00:01',
  })
  await stagedoor.consumers.register({
    consumer_id: CONSUMER,
    event_domain: 'staging',
    event_type: 'ingestion_complete',
    workspace_id: workspace,
    job_kind: 'playbook_start',
    payload_ref_template: `playbook:${PLAYBOOK}`,
    idempotency_key_template: '{event_id}',
    notes: 'compares each campaign with the week before, after every promotion',
  })
  await stagedoor.consumers.dryRun(CONSUMER)
}

async function promoteWeek43(story) {
  const upload = await uploadFile(story, 'google-week-43.csv', {
    title: 'Google Ads, week 43',
    description: 'The weekly export of Northwind’s account, 19 to 25 October.',
    labels: ['google', 'week 43'],
  })
  return promote(story, upload)
}

/** In dry run the promotion above has left evidence: the reviewer looks at it, and agrees. */
async function activateConsumer({ stagedoor, reviewer, signal }) {
  await until(
    'the evidence of the consumer',
    signal,
    async () => (await stagedoor.consumers.evidence(CONSUMER)).length > 0,
  )
  const { state } = await reviewer('GET', `/consumers/${CONSUMER}`)
  if (state === 'dry_run') await reviewer('POST', `/consumers/${CONSUMER}/review`, { evidence: 1 })
  if (state !== 'active') await stagedoor.consumers.activate(CONSUMER)
}

async function promoteWeek44(story) {
  const upload = await uploadFile(story, 'google-week-44.csv', {
    title: 'Google Ads, week 44',
    description:
      'The weekly export, 26 October to 1 November. Coats are up: the first cold front was on Thursday.',
    labels: ['google', 'week 44'],
  })
  const promoted = await promote(story, upload)
  const execution = await until('the playbook', story.signal, async () => {
    const { executions } = await story.operator('GET', `/uploads/${promoted.upload}/downstream`)
    return executions.find(
      ({ playbook, status }) => playbook === PLAYBOOK && !['PENDING', 'RUNNING'].includes(status),
    )
  })
  if (execution.status !== 'COMPLETED')
    throw new Error(`The playbook is ${execution.status}: ${execution.error}`)
  return { ...promoted, execution: execution.execution_id }
}

async function enqueueReport({ stagedoor, workspace, made }) {
  const job = await stagedoor.jobs.enqueue({
    job_kind: JOB_KIND,
    idempotency_key: 'week 44',
    workspace_id: workspace,
    source_ref: `execution:${made['week 44'].execution}`,
    payload: { week: 44 },
  })
  return { job }
}

async function cutCommentary(story) {
  const row = await rowOfLine(story, made(story, 'week 44').upload)
  const cut = await stageAndCut(story, 'commentary-week-44.md', row, 'Google Ads, week 44: commentary')
  const summary = await unitAt(story, `${ADDRESS}/summary`)
  if (summary.lifecycle_status === 'draft')
    await story.reviewer('POST', `/units/${summary.unit_id}/enact`, {
      expected_version: summary.version_no,
      apr_ref: `change #${cut.change}`,
    })
  await inSearch(story)
  return { ...cut, row, unit: summary.unit_id }
}

/** The correction is planned, then another one of the same rows is promoted: the plan would overwrite it. */
async function makeConflict(story) {
  const final = await uploadFile(story, 'google-week-44-final.csv', {
    title: 'Google Ads, week 44: final conversions',
    description: 'Conversions that Google attributed later. Please promote it before the monthly report.',
    labels: ['google', 'week 44', 'correction'],
  })
  const waiting = await submit(story, final)
  const credit = await uploadFile(story, 'google-week-44-credit.csv', {
    title: 'Google Ads, week 44: credit for invalid clicks',
    description: 'Google has credited 164.27 EUR for invalid clicks on coats, Thursday to Saturday.',
    labels: ['google', 'week 44', 'correction'],
  })
  const promoted = await promote(story, credit)
  return { upload: waiting.upload_id, change: waiting.change, moved_by: promoted.change }
}

/** The summary is in force, so the cut leaves it as it is, and adds a draft that is to supersede it. */
async function correctCommentary(story) {
  const { row, unit } = made(story, 'commentary')
  const cut = await stageAndCut(
    story,
    'commentary-week-44-corrected.md',
    row,
    'Google Ads, week 44: corrected commentary',
  )
  await story.stagedoor.units.check({ workspace_id: story.workspace })
  await inSearch(story)
  return { ...cut, unit }
}

async function awaitDeadLetter({ operator, signal, made: { job } }) {
  await until('the last attempt of the job', signal, async () => {
    const { status } = await operator('GET', `/jobs/${job.job}`)
    return status === 'dead'
  })
}

async function discussWeek45(story) {
  const { operator, reviewer } = story
  const upload = await uploadFile(story, 'google-week-45.csv', {
    title: 'Google Ads, week 45',
    description:
      'The weekly export, 2 to 8 November. **Boots are back in stock**, so their spend is higher again. The report goes out today; the agent’s commentary is staged beside it.',
    labels: ['google', 'week 45'],
  })
  const { change } = await submit(story, upload)
  const me = async (person) => (await person('GET', '/me')).actor
  await operator('PUT', `/changes/${change}/reviewers`, { reviewers: [await me(reviewer)], groups: [] })
  const { comments } = await operator('GET', `/changes/${change}/comments`)
  const on = { row_type: 'daily_metric', line: ODD_LINE }
  const conversation = [
    [
      reviewer,
      {
        body: 'The totals row of the export says 4,847.36 EUR, and the lines add up to 6,872.90 EUR. Where does the difference come from?',
      },
    ],
    [
      reviewer,
      {
        ...on,
        body: 'Boots – AT: a hundred times the spend of the day before, with as many clicks. I think it is this line.',
      },
    ],
    [
      operator,
      {
        ...on,
        column: 'spend',
        body: 'You are right, @Reviewer: 20.46 lost its decimal point when somebody opened the file in a spreadsheet. I will correct the line and submit the new plan.',
      },
    ],
    [reviewer, { body: 'Thank you, @Operator. The other lines are fine with me.' }],
  ]
  for (const [person, comment] of conversation)
    if (!comments.some(({ body }) => body === comment.body))
      await person('POST', `/changes/${change}/comments`, comment)
  return { upload: upload.upload_id, change }
}

async function stageDraft({ agent, operator, workspace, made }) {
  const { value } = await operator('GET', `/executions/${made['week 44'].execution}/result`)
  const staged = await agent(
    'POST',
    '/staging',
    {
      workspace_id: workspace,
      staging_kind: 'review_package',
      payload_type: 'review_bundle',
      purpose: 'Commentary on Google Ads, week 45',
      source_kind: 'agent',
      source_ref: 'commentary-week-45.md',
      parts: [
        {
          part_name: 'commentary.md',
          payload_kind: 'text',
          payload_text: await file('commentary-week-45.md', 'utf8'),
        },
        { part_name: 'figures of the week before', payload_kind: 'json', payload_json: value.total },
        {
          part_name: 'checklist',
          payload_kind: 'json',
          payload_json: [
            { id: 'figures', text: 'The figures agree with what was promoted' },
            { id: 'tone', text: 'It can go to the client' },
          ],
        },
      ],
    },
    { 'idempotency-key': 'weekly report: commentary on week 45' },
  )
  const { change } = await operator('GET', `/staging/${staged.staging_record_id}`)
  await agent('PATCH', `/changes/${change}`, {
    description:
      'A draft for the client, written from the figures of the plan that waits for approval. Boots – AT look wrong to me: see the last paragraph.',
    labels: ['commentary', 'week 45'],
  })
  return { record: staged.staging_record_id, change }
}

/** As Claude or any other client of MCP does: two rows of week 43 with conversions that Google attributed later. */
async function proposeConversions({ tool, reviewer, client }) {
  const row = (ad, impressions, clicks, cost, conversions, value) => ({
    Day: '2026-10-19',
    Campaign: 'Brand – DE',
    'Campaign ID': '22010000001',
    'Ad group': 'Brand, exact match',
    'Ad group ID': '164000000001',
    'Ad ID': ad,
    'Currency code': 'EUR',
    'Impr.': impressions,
    Clicks: clicks,
    Cost: cost,
    Conversions: conversions,
    'Conv. value': value,
  })
  const proposed = await tool('propose_rows', {
    dataset: DATASET,
    platform: 'google',
    client,
    key: 'late-conversions-week-43',
    rows: [
      row('693000001001', 2895, 237, 71.63, 21, 1930.24),
      row('693000001002', 1938, 155, 46.95, 13, 1278.39),
    ],
  })
  const { change } = await tool('submit', {
    change: proposed.upload,
    digest: proposed.digest,
    title: 'Google Ads, week 43: conversions that came late',
    explanation:
      'Google attributed three more conversions to *Brand – DE* on 19 October, after the export of that week. I compared the account with production: only these two rows differ. Spend and clicks stay as they are.',
    reviewers: [(await reviewer('GET', '/me')).actor],
  })
  return { upload: proposed.upload, change }
}

async function uploadTiktok(story) {
  const upload = await uploadFile(story, 'tiktok-week-45.csv', {
    platform: 'tiktok',
    title: 'TikTok Ads, week 45',
    description: 'The weekly export, 2 to 8 November. It was opened in a spreadsheet before it was sent.',
    labels: ['tiktok', 'week 45'],
  })
  return { upload: upload.upload_id, change: upload.change }
}

// Uploads.

/** Uploads the file as the operator, waits until it is checked and planned, and says why it is there. */
async function uploadFile({ operator, workspace, client, signal }, name, { platform = 'google', ...about }) {
  const form = new FormData()
  for (const [field, value] of Object.entries({
    dataset: DATASET,
    platform,
    workspace_id: workspace,
    client_id: client,
  }))
    form.append(field, value)
  form.append('file', new Blob([await file(name)]), name)
  const { upload } = await operator('POST', '/uploads', form)
  const ready = await until(`the upload of ${name}`, signal, async () => {
    const found = await operator('GET', `/uploads/${upload.upload_id}`)
    if (found.status === 'failed') throw new Error(`${name} cannot be read: ${found.error?.message}`)
    return ['reading', 'staged'].includes(found.status) && found.plan_refusal === null ? undefined : found
  })
  await operator('PATCH', `/changes/${ready.change}`, about)
  return ready
}

async function submit({ operator }, { upload_id, plan_digest, plan_refusal, review_status }) {
  if (plan_digest === null) throw new Error(`The upload ${upload_id} has no plan: ${plan_refusal}`)
  if (review_status === 'not_submitted')
    await operator('POST', `/uploads/${upload_id}/submit`, { digest: plan_digest })
  return operator('GET', `/uploads/${upload_id}`)
}

/** Submitted by the operator, approved by the reviewer, promoted by the operator. */
async function promote(story, upload) {
  const { operator, reviewer } = story
  const { upload_id, change, plan_digest: digest, review_status, status } = await submit(story, upload)
  if (review_status === 'pending')
    await reviewer('POST', `/uploads/${upload_id}/approve`, { digest, ticked: ['changes'] })
  if (status === 'planned') await operator('POST', `/uploads/${upload_id}/promote`, { digest })
  return { upload: upload_id, change }
}

/** Where the console shows the production row that the cited line became. */
async function rowOfLine({ operator }, upload) {
  const { rows } = await operator('GET', `/uploads/${upload}/lineage?limit=1000`)
  const { target, target_id } = rows.find(
    ({ line, row_type }) => line === CITED_LINE && row_type === 'daily_metric',
  )
  return `/rows?${new URLSearchParams({ table: target, id: target_id })}`
}

// Units.

/** The agent stages the commentary, the reviewer approves exactly this text, the operator cuts it into units. */
async function stageAndCut({ agent, operator, reviewer, workspace }, name, row, title) {
  const text = (await file(name, 'utf8'))
    .replaceAll(`{{line ${CITED_LINE}}}`, `line ${CITED_LINE} of google-week-44.csv`)
    .replaceAll(`{{row ${CITED_LINE}}}`, row)
  const staged = await agent('POST', '/marks', {
    workspace_id: workspace,
    source_ref: 'weekly-report/commentary-week-44.md',
    address: ADDRESS,
    text,
  })
  const record = `/staging/${staged.staging_record_id}`
  const { change, lifecycle_status } = await reviewer('GET', record)
  await agent('PATCH', `/changes/${change}`, { title, labels: ['week 44', 'commentary'] })
  if (lifecycle_status === 'pending') await reviewer('POST', `${record}/approve`, { digest: staged.digest })
  if (lifecycle_status !== 'consumed')
    await operator('POST', `/marks/${staged.staging_record_id}/cut`, { digest: staged.digest })
  return { record: staged.staging_record_id, change }
}

async function unitAt({ operator }, address) {
  const { units } = await operator('GET', `/units?${new URLSearchParams({ address })}`)
  return units[0]
}

/** What was cut is in search two minutes later; here nobody waits. */
async function inSearch({ operator, workspace, signal }) {
  await operator('POST', '/search/flush', { workspace_id: workspace })
  await until('search', signal, async () => {
    const { units } = await operator('GET', `/units?${new URLSearchParams({ under: ADDRESS, limit: '100' })}`)
    return units.every(({ vector_state }) => vector_state !== 'pending')
  })
}

// Calls.

function made(story, step) {
  return story.made[step]
}

const file = (name, encoding) => readFile(new URL(name, import.meta.url), encoding)

/** Calls the API with the token of one person. A form is sent as it is, everything else as JSON. */
function caller(url, token, signal) {
  return async (method, path, body, headers = {}) => {
    const isForm = body instanceof FormData
    const reply = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const text = await reply.text()
    const answer = text === '' ? undefined : JSON.parse(text)
    if (reply.ok) return answer
    const { detail, hint } = answer ?? {}
    throw Object.assign(new Error(`${method} ${path}: ${[detail, hint].filter(Boolean).join(' ')}`), {
      status: reply.status,
    })
  }
}

/** Calls a tool of the MCP server with a token, in the way that every generation of clients knows. Gives the data of the answer. */
function toolCaller(url, token, signal) {
  return async (name, args) => {
    const reply = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
      ...(signal && { signal }),
    })
    const text = await reply.text()
    const [, event] = /^data: (.+)$/m.exec(text) ?? []
    const { result, error, detail } = JSON.parse(event ?? text)
    if (!result || result.isError)
      throw new Error(`${name}: ${result?.structuredContent?.data?.message ?? error?.message ?? detail}`)
    return result.structuredContent.data
  }
}

async function until(what, signal, look) {
  const end = Date.now() + MAX_WAIT_MS
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > end) throw new Error(`${what} did not come within ${MAX_WAIT_MS / 1000} s`)
    await sleep(POLL_MS, undefined, { signal })
  }
}
