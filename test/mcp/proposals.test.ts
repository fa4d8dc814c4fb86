/** An agent proposes rows over MCP, corrects them and asks for a review; a person approves exactly that in the API of the console. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { rowsOf, useMcp } from './mcp-api.ts'

const mcp = useMcp()
const target = () => ({ dataset: 'ads', platform: 'meta' })

it('leads from a dataset to promoted rows, and only people decide', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const { data: list } = await agent.call('list_datasets')
  expect(list.datasets.map(({ dataset }: { dataset: string }) => dataset)).toContain('ads')
  const { data: ads } = await agent.call('describe_dataset', { dataset: 'ads' })
  expect(ads.clients).toEqual([{ id: mcp.ads.client, name: 'Northwind' }])
  expect(ads.fields.find(({ field }: { field: string }) => field === 'spend')).toMatchObject({
    type: 'money',
  })

  // A line that cannot be read, found by its number and corrected.
  const rows = rowsOf('Story')
  rows[1]!['Amount spent (AUD)'] = 'many'
  const proposed = await agent.call('propose_rows', { ...target(), key: 'story', rows })
  expect(proposed.text).toContain('3 lines, 1 of them invalid')
  expect(proposed.data).toMatchObject({ created: true, status: 'planned', lines: { total: 3, invalid: 1 } })
  expect(proposed.data.refusal).not.toBeNull()
  const [wrong] = proposed.data.problem_lines
  expect(wrong).toMatchObject({ status: 'invalid', problems: [{ severity: 'error', value: 'many' }] })
  const early = await agent.call('submit', {
    change: String(proposed.data.change),
    digest: proposed.data.digest ?? '0'.repeat(64),
    title: 'Story',
    explanation: 'Too early.',
  })
  expect(early.isError).toBe(true)

  const repaired = await agent.call('repair_rows', {
    upload: proposed.data.upload,
    lines: [{ line: wrong.line, values: { 'Amount spent (AUD)': '11' } }],
  })
  expect(repaired.data).toMatchObject({
    repair: { lines: 1, cells: 1 },
    lines: { total: 3, invalid: 0 },
    refusal: null,
  })

  const plan = await agent.call('get_plan', {
    upload: proposed.data.upload,
    row_type: 'daily_metric',
    limit: 2,
  })
  expect(plan.data.rows).toHaveLength(2)
  expect(plan.data.rows[0]).toMatchObject({ action: 'insert', before: null })
  expect(plan.data.next).not.toBeNull()
  const rest = await agent.call('get_plan', {
    upload: proposed.data.upload,
    row_type: 'daily_metric',
    after: plan.data.next,
  })
  expect(rest.data.rows).toHaveLength(1)
  expect(rest.data.next).toBeNull()

  const submitted = await agent.call('submit', {
    change: String(plan.data.change),
    digest: plan.data.digest,
    title: 'Story: three days',
    explanation: 'The export had one amount as a word.',
    reviewers: [mcp.ads.reviewer.userId],
  })
  expect(submitted.text).toContain(`/changes/${plan.data.change}`)
  expect(submitted.data).toMatchObject({ status: 'open', title: 'Story: three days' })
  const waiting = await agent.call('get_status', { id: proposed.data.upload, details: true })
  expect(waiting.data).toMatchObject({ kind: 'upload', status: 'planned', review_status: 'pending' })

  const before = await mcp.db.owner('select count(*)::int as rows from public.daily_metrics')
  expect(before).toEqual([{ rows: 0 }])
  const approved = await mcp.call('POST', `/uploads/${proposed.data.upload}/approve`, 'reviewer', {
    digest: plan.data.digest,
    ticked: ['changes'],
  })
  expect(approved.status).toBe(200)
  const promoted = await mcp.call('POST', `/uploads/${proposed.data.upload}/promote`, 'operator', {
    digest: plan.data.digest,
  })
  expect(promoted.status).toBe(200)
  const done = await agent.call('get_status', { id: `#${plan.data.change}` })
  expect(done.data).toMatchObject({ status: 'promoted', approvers: [{ reviewer: mcp.ads.reviewer.userId }] })

  const lineage = await agent.call('lineage', { upload: proposed.data.upload })
  expect(lineage.data.rows.map(({ line }: { line: number }) => line)).toContain(wrong.line)
  const campaign = lineage.data.rows.find(({ row_type }: { row_type: string }) => row_type === 'campaign')
  const ofRow = { table: campaign.target, id: campaign.target_id }
  // An agent sees its own uploads, and a row may have been written by those of others.
  const misnamed = await agent.call('lineage', { ...ofRow, key: undefined, id: '1' })
  expect(misnamed.data.message).toContain('id: 1 is not a uuid; name a row without one by its key')
  const refused = await agent.call('lineage', ofRow)
  expect(refused.structured.missing).toMatchObject({ role: 'stagedoor_agent' })
  // Nothing that an agent could stage would show it these.
  expect(refused.data.hint).toMatch(/docs\/guides\/agents\.md/)
  expect(refused.data.hint).not.toMatch(/stage/i)
  const origin = await (await mcp.connect(mcp.tokens.operator)).call('lineage', ofRow)
  expect(origin.data.rows[0]).toMatchObject({ upload_id: proposed.data.upload, line: campaign.line })
})

it('finds a proposal again by its key, and refuses other rows under the same key', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const rows = rowsOf('Keys')
  const calls = Array.from({ length: 4 }, () =>
    agent.call('propose_rows', { ...target(), key: 'keys', rows }),
  )
  const answers = await Promise.all(calls)
  expect(answers.map(({ isError }) => isError)).toEqual([false, false, false, false])
  expect(new Set(answers.map(({ data }) => data.upload)).size).toBe(1)
  expect(answers.filter(({ data }) => data.created)).toHaveLength(1)

  const other = await agent.call('propose_rows', { ...target(), key: 'keys', rows: rowsOf('Others') })
  expect(other.isError).toBe(true)
  expect(other.structured.error).toEqual({ code: 'proposal_key_used', retryable: false })
  expect(other.data.message).toContain(answers[0]!.data.upload)
  const digest = (given: object[]) =>
    createHash('sha256')
      .update(given.map((row) => `${JSON.stringify(row)}\n`).join(''))
      .digest('hex')
  expect(other.data.details).toMatchObject({ used_digest: digest(rows), digest: digest(rowsOf('Others')) })
  expect(other.data.hint).toMatch(/another `key`/)
  const csv = `Campaign name,Ad set name,Ad name,Day,Amount spent (AUD)\nKeys,Retarget,Video,2026-11-01,1.00\n`
  const asText = await agent.call('propose_rows', { ...target(), key: 'keys', csv })
  expect(asText.structured.error.code).toBe('proposal_key_used')
  const uploads = await mcp.db.owner(
    `select count(*)::int as uploads from iu_core.ingest_upload where file_name like 'keys.%'`,
  )
  expect(uploads).toEqual([{ uploads: 1 }])
})

it('takes a CSV, and keeps every digit of a number', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const csv =
    'Campaign name,Campaign ID,Ad set name,Ad name,Day,Amount spent (AUD),Impressions,Link clicks\nDigits,120253000000000123,Retarget,Video,2026-11-01,10.25,1000,10\n'
  const { data } = await agent.call('propose_rows', { ...target(), key: 'digits', csv })
  expect(data).toMatchObject({ status: 'planned', lines: { invalid: 0 } })
  const plan = await agent.call('get_plan', { upload: data.upload, row_type: 'campaign' })
  expect(JSON.stringify(plan.data.rows)).toContain('120253000000000123')

  const [row] = rowsOf('Digits', 1)
  const rounded = await agent.call('propose_rows', {
    ...target(),
    key: 'rounded',
    rows: [{ ...row, 'Campaign ID': Number('120253000000000123') }],
  })
  expect(rounded.structured.error.code).toBe('request_invalid')
  expect(rounded.data.message).toContain('send it as text')
})

it('lists the open issues of its workspace, and nothing of what they are about', async () => {
  const issue = async (code: string, workspace: string | null) => {
    const [opened] = await mcp.db.owner<{ id: string }>(
      `select iu_core.fn_system_issue_open($1, 'error', 'salaries of Ann', 'Ann earns 100', '{"salary": 100}', $2) as id`,
      [code, workspace],
    )
    return opened!.id
  }
  const [seen, resolved] = [
    await issue('seen', mcp.ads.workspace),
    await issue('resolved', mcp.ads.workspace),
  ]
  await issue('of_others', mcp.other.workspace)
  await issue('of_nobody', null)
  await mcp.db.owner(
    `update iu_core.system_issue set resolved_at = now(), resolved_by = 'test' where issue_id = $1`,
    [resolved],
  )
  const agent = await mcp.connect(mcp.tokens.agent)
  const listed = await agent.call('list_issues')
  expect(listed.data.rows).toEqual([
    {
      issue_id: seen,
      code: 'seen',
      severity: 'error',
      workspace_id: mcp.ads.workspace,
      occurrences: '1',
      opened_at: expect.any(String),
      last_seen_at: expect.any(String),
    },
  ])
  expect(`${listed.text} ${JSON.stringify(listed.structured)}`).not.toMatch(/Ann|salar/)
  // What it may not read otherwise either.
  await expect(
    mcp.db.as(mcp.ads.agent, (client) => client.query('select from iu_core.system_issue')),
  ).rejects.toMatchObject({ code: 'permission_denied' })
  const person = await (await mcp.connect(mcp.tokens.operator)).call('list_issues')
  expect(person.data.rows).toMatchObject([{ issue_id: seen, title: 'Ann earns 100' }])
})

it('names a property that there is not, and those that there are', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const part = await agent.call('stage_record', {
    purpose: 'x',
    key: 'x',
    parts: [
      { name: 'a', text: 'b' },
      { name: 'a', body: 'b' },
    ],
  })
  expect(part.text).toContain('parts/1 has no property "body"; it has name, text, json')
  const top = await agent.call('get_plan', { upload: 'x', row: 3 })
  expect(top.text).toContain('the input has no property "row"; it has upload, action, row_type, column')
  const wrong = await agent.call('get_plan', { upload: 'x', limit: 0 })
  expect(wrong.text).toContain('limit must be >= 1')
})

it('profiles text without storing anything', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const stored = mcp.stored()
  const { data } = await agent.call('profile_file', { text: 'id;price\n1;1,50\n2;2,25\n' })
  expect(data).toMatchObject({ lines: 2, delimiter: ';', decimal: 'comma' })
  expect(data.columns.map(({ header, type }: { header: string; type: string }) => [header, type])).toEqual([
    ['id', 'integer'],
    ['price', 'decimal'],
  ])
  expect(mcp.stored()).toEqual(stored)
})

it('says which right, gate or file is missing', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const playbook = await agent.call('start_playbook', { playbook: 'nightly', key: '1' })
  expect(playbook.structured).toMatchObject({
    error: { code: 'permission_denied' },
    missing: { right: 'operate', have: ['read', 'stage'] },
  })
  const viewer = await mcp.connect(mcp.tokens.viewer)
  const refused = await viewer.call('propose_rows', { ...target(), key: 'viewer', rows: rowsOf('Viewer') })
  expect(refused.structured).toMatchObject({
    error: { code: 'right_missing' },
    missing: { right: 'stage', have: ['read'] },
  })
  const stranger = await mcp.connect(mcp.tokens.stranger)
  const { data } = await agent.call('propose_rows', { ...target(), key: 'mine', rows: rowsOf('Mine') })
  expect((await stranger.call('get_plan', { upload: data.upload })).structured.error.code).toBe(
    'upload_not_found',
  )
  const file = await agent.call('profile_file', { file: '/etc/passwd' })
  expect(file.data.hint).toMatch(/`csv` or `rows` of propose_rows, `text` of profile_file.*can name a folder/)

  await mcp.db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', false)`)
  try {
    const closed = await agent.call('propose_rows', { ...target(), key: 'closed', rows: rowsOf('Closed') })
    expect(closed.structured).toMatchObject({
      error: { code: 'gate_closed' },
      missing: { gate: 'iu_core.staging_writes_enabled' },
    })
  } finally {
    await mcp.db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  }
})

it('asks the person by address where the client can open one, and answers whether it was opened', async () => {
  const opened: string[] = []
  const agent = await mcp.connect(mcp.tokens.agent, {
    opens: (url) => {
      opened.push(url)
      return 'accept'
    },
  })
  const { data } = await agent.call('propose_rows', { ...target(), key: 'asked', rows: rowsOf('Asked') })
  const submitted = await agent.call('submit', {
    change: data.upload,
    digest: data.digest,
    title: 'Asked',
    explanation: 'By address.',
  })
  expect(opened).toEqual([submitted.data.url])
  expect(submitted.data).toMatchObject({ opened_by_user: 'accept', status: 'open' })
})

it('stages a record that waits, and shows what was decided', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const request = {
    purpose: 'A commentary',
    key: 'week 45',
    parts: [{ name: 'text', text: 'Boots are back.' }],
    checklist: ['The figures agree'],
  }
  const staged = await agent.call('stage_record', request)
  expect(staged.data).toMatchObject({ created: true, status: 'pending' })
  expect((await agent.call('stage_record', request)).data).toMatchObject({
    record: staged.data.record,
    created: false,
  })
  await agent.call('submit', {
    change: staged.data.record,
    title: 'Commentary on week 45',
    explanation: 'A draft.',
  })
  await mcp.call('POST', `/staging/${staged.data.record}/reject`, 'reviewer', { reason: 'Too short.' })
  const { data } = await agent.call('get_status', { id: staged.data.record, details: true })
  expect(data).toMatchObject({ status: 'rejected', rejected_reason: 'Too short.' })
  expect(data.parts[0]).toMatchObject({ content: 'Boots are back.', is_whole: true })
})
