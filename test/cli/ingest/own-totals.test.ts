import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { useCli } from '../../support/database-cli.ts'
import { createWorkspace } from '../../support/factories.ts'

const db = useDatabase()
const { cli, file } = useCli(db, 'cli-own-totals')

const SALES = {
  name: 'sales',
  fields: {
    day: { type: 'date', aliases: ['Day'] },
    channel: { type: 'text', aliases: ['Channel'] },
    orders: { type: 'integer', aliases: ['Orders'] },
    rate: { type: 'percent', aliases: ['Rate'] },
  },
  ownTotals: 'refuse',
  rows: [
    {
      name: 'sale',
      target: 'public.sales',
      key: ['workspace_id', 'day', 'channel'],
      columns: { workspace_id: '$workspace', day: 'day', channel: 'channel', orders: 'orders', rate: 'rate' },
    },
  ],
}

beforeAll(async () => {
  await createWorkspace(db)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  await db.owner(
    `create table public.sales (workspace_id uuid not null, day date not null, channel text not null, orders integer, rate numeric,
       unique (workspace_id, day, channel))`,
  )
  const added = await cli('dataset', 'register', file('sales.json', JSON.stringify(SALES)), '--no-approval')
  expect(added).toMatchObject({ code: 0 })
})

it('a plan that is refused for the file’s own totals says the line, the figures and what helps', async () => {
  const path = file(
    'sales.csv',
    'Day,Channel,Orders,Rate\n2026-11-01,Ads,1,5%\n2026-11-01,Shop,2,7%\nTotal: Ads,,3,6%\n',
  )
  const refused = await cli('ingest', path, '--dataset', 'sales')
  expect(refused.code).toBe(5)
  expect(refused.stderr.replace(/\s+/g, ' ')).toContain(
    "the file's own totals disagree with its lines: line 4 “Total: Ads” says 3 for Orders, and lines with “ads” in Channel sum up to 1",
  )
  expect(refused.stderr).toContain('or the total itself')
  for (const verb of ['show', 'checks']) {
    const shown = (await cli('upload', verb, 'last')).stdout.replace(/\s+/g, ' ')
    expect(shown).toContain('1 line of the file sums up others: 1 disagrees with the lines.')
    expect(shown).toContain(
      'line 4 “Total: Ads”: Orders is 3, and lines with “ads” in Channel (1) sum up to 1: +2.',
    )
    expect(shown).toContain('Compared: Orders. Not compared: Rate (a percentage is not a sum).')
  }
  const json = JSON.parse((await cli('upload', 'show', 'last', '--json')).stdout)
  expect(json.own_totals).toMatchObject({ lines: 1, disagree: 1 })
  expect(await cli('upload', 'repair', 'last', '--line', '4', '--set', 'Orders=1')).toMatchObject({ code: 0 })
  expect(await cli('upload', 'plan', 'last', '--again')).toMatchObject({ code: 0 })
  expect((await cli('upload', 'show', 'last')).stdout).toContain('1 agrees')
})

it('options are remembered with --remember-options, shown with the change, and forgotten', async () => {
  const text = (channel: string) => `Day,Channel,Orders,Rate\n03/04/2026,${channel},1,5%\n`
  const first = await cli(
    'ingest',
    file('a.csv', text('A')),
    '--dataset',
    'sales',
    '--dates',
    'dmy',
    '--remember-options',
  )
  expect(first).toMatchObject({ code: 0 })
  expect(await cli('ingest', file('b.csv', text('B')), '--dataset', 'sales')).toMatchObject({ code: 0 })
  expect((await cli('upload', 'show', 'last')).stdout).toMatch(
    /dates: day first: 31\/12\/2026 \(remembered from #\d+\)/,
  )
  expect((await cli('dataset', 'map', 'sales')).stdout).toMatch(/Day, Channel, Orders, Rate: dates dmy/)
  expect(await cli('dataset', 'map', 'sales', '--forget-options')).toMatchObject({ code: 0 })
  expect((await cli('dataset', 'map', 'sales')).stdout).not.toContain('dates dmy')
  expect(await cli('ingest', file('c.csv', text('C')), '--dataset', 'sales')).toMatchObject({ code: 5 })
})
