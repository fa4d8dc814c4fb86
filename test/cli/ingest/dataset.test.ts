import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { useCli } from '../../support/database-cli.ts'
import { createWorkspace } from '../../support/factories.ts'

const db = useDatabase()
const { cli, file } = useCli(db, 'cli-dataset')

const ORDERS = {
  name: 'orders',
  title: 'Orders',
  version: 1,
  platforms: { file: { title: 'File' } },
  fields: {
    order_id: { type: 'id', required: true, aliases: { any: ['Order'] } },
    amount: { type: 'money', min: 0, aliases: { any: ['Amount'] } },
  },
  rows: [
    {
      name: 'order',
      target: 'public.orders',
      key: ['workspace_id', 'order_id'],
      requires: ['order_id'],
      columns: { workspace_id: '$workspace', order_id: 'order_id', amount: 'amount' },
    },
  ],
}

beforeAll(async () => {
  await createWorkspace(db)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
})

it('a dataset of one’s own: what is missing is printed with the statements, then it takes files', async () => {
  const path = file('orders.json', JSON.stringify(ORDERS))
  expect(await cli('dataset', 'check', path)).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('The table public.orders does not exist'),
  })
  await db.owner(
    'create table public.orders (workspace_id uuid not null, order_id text not null, amount numeric)',
  )
  const refused = await cli('dataset', 'register', path)
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/\ncreate unique index on (public\.)?orders/),
  })
  expect((await cli('dataset', 'list')).stdout).toContain('No dataset yet')
  await db.owner('create unique index on public.orders (workspace_id, order_id) nulls not distinct')
  expect(await cli('dataset', 'check', path)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('can be used'),
  })
  const added = await cli('dataset', 'register', path, '--no-approval', '--json')
  expect(JSON.parse(added.stdout)).toMatchObject({
    dataset: 'orders',
    approval_required: false,
    undo_window: '30 days',
  })

  const shown = await cli('dataset', 'show', 'orders')
  expect(shown.stdout).toMatch(/order_id +id, required\n +any +Order\n/)
  expect(shown.stdout).toMatch(/order +public\.orders/)

  // The only platform there is, and no clients: neither is asked for.
  const orders = await cli('ingest', file('orders.csv', 'Order,Amount\nA-17,12.50\n'), '--dataset', 'orders')
  expect(orders.code).toBe(0)
  const key = JSON.stringify({ order_id: 'A-17' })
  const [{ workspace_id }] = (await db.owner<{ workspace_id: string }>(
    'select workspace_id from public.orders',
  )) as [{ workspace_id: string }]
  const whole = JSON.stringify({ workspace_id, order_id: 'A-17' })
  const origin = await cli('lineage', 'public.orders', '--key', whole)
  expect(origin.stdout).toContain('Written by line 2 of orders.csv')
  expect((await cli('lineage', 'public.orders', '--key', '[1]')).code).toBe(2)
  expect((await cli('lineage', 'public.orders', '--key', key, '--id', workspace_id)).code).toBe(2)
})

it('a header that means something is remembered, and forgotten', async () => {
  const ingest = () => cli('ingest', file('nr.csv', 'Nr.,Amount\nA-18,1\n'), '--dataset', 'orders')
  expect((await ingest()).code).toBe(2)
  const map = (...args: string[]) => cli('dataset', 'map', 'orders', '--platform', 'file', ...args)
  expect((await map('--set', 'Nr.=order_id', '--set', 'Comment=')).stdout).toMatch(/Nr\. +→ +order_id/)
  expect(JSON.parse((await map('--json')).stdout)).toMatchObject({
    headers: { 'Nr.': 'order_id', Comment: null },
    field_values: {},
  })
  expect((await ingest()).code).toBe(0)
  expect((await map('--set', 'Nr.=nonsense')).code).toBe(2)
  expect((await map('--forget', 'Nr.', '--forget', 'Comment')).stdout).toContain('Nothing is mapped')
})

it('a rule in TypeScript comes with its file, also when a line is corrected', async () => {
  const rule = `check: (line) => line.amount > 100 ? [{ line: 0, column: 'Amount', field: 'amount',
    value: String(line.amount), rule: 'amount.much', message: 'Too much.', suggestion: 'Ask.' }] : []`
  const path = file('orders.mjs', `export default { ...${JSON.stringify(ORDERS)}, version: 2, ${rule} }`)
  expect((await cli('dataset', 'register', path)).stdout).toMatch(
    /version 2[\s\S]*rule in TypeScript is known only/,
  )
  expect(await cli('dataset', 'export', 'orders')).toMatchObject({
    stdout: expect.stringMatching(/^\{[\s\S]*\}\n$/),
    stderr: 'It has a rule in TypeScript, which is not in the export.\n',
  })
  const much = await cli('ingest', file('much.csv', 'Order,Amount\nB-1,500\n'), '--dataset', path)
  expect(much).toMatchObject({ code: 5, stdout: expect.stringMatching(/✖ +2 +Amount +500 +Too much/) })
  const [, id] = /upload problems (\S+)/.exec(much.stdout)!
  const fix = ['upload', 'repair', id!, '--line', '2', '--set', 'Amount=400']
  expect(await cli(...fix)).toMatchObject({ code: 2, stderr: expect.stringContaining('--dataset') })
  expect((await cli(...fix, '--dataset', path)).stdout).toMatch(/Still wrong[\s\S]*Too much/)
})

it('a declaration that cannot be read says why', async () => {
  const cases: [RegExp, string][] = [
    [/is not JSON/, file('broken.json', '{"a":')],
    [/fields.order_id.type|rows/, file('poor.json', JSON.stringify({ ...ORDERS, rows: [] }))],
    [/There is no file/, './nowhere.json'],
    [/exports no dataset/, file('empty.mjs', 'export const a = 1')],
    [
      /not a regular expression/,
      file(
        'pattern.json',
        JSON.stringify({
          ...ORDERS,
          fields: { ...ORDERS.fields, amount: { type: 'text', pattern: '(', aliases: { any: ['Amount'] } } },
        }),
      ),
    ],
  ]
  for (const [words, path] of cases) {
    const { code, stderr } = await cli('dataset', 'check', path)
    expect({ path, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(words) })
  }
  expect((await cli('dataset', 'register', 'nonsense')).code).toBe(8)
  expect((await cli('dataset', 'show', 'nonsense')).code).toBe(8)
  const typed = await cli(
    'dataset',
    'check',
    file('typed.ts', `const x: number = 1\nexport default ${JSON.stringify(ORDERS)}`),
  )
  const strips = Boolean((process.features as { typescript?: unknown }).typescript)
  expect(typed).toMatchObject(
    strips ? { code: 0 } : { code: 2, stderr: expect.stringMatching(/22\.18.*\.mjs/s) },
  )
})
