import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { answer, openQuestions } from '../../../src/cli/dataset-map.ts'
import type { Mapping } from '../../../src/ingest/datasets/mapping.ts'
import type { MappingPreview } from '../../../src/ingest/mapping-shapes.ts'
import { useDatabase } from '../../support/database.ts'
import { useCli } from '../../support/database-cli.ts'
import { createWorkspace } from '../../support/factories.ts'

const db = useDatabase()
const { home, cli, file: write } = useCli(db, 'cli-map')
const file = (name: string, ...lines: string[]) => write(name, lines)

const ORDERS = {
  name: 'orders',
  fields: {
    order_id: { type: 'id', required: true, aliases: ['Order'] },
    amount: { type: 'money', aliases: ['Amount'] },
    state: { type: 'enum', values: { open: ['offen'], paid: ['bezahlt'] } },
  },
  rows: [
    {
      name: 'order',
      target: 'public.orders',
      key: ['workspace_id', 'order_id'],
      columns: { workspace_id: '$workspace', order_id: 'order_id', amount: 'amount', state: 'state' },
    },
  ],
}

beforeAll(async () => {
  await createWorkspace(db)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  await db.owner(
    `create table public.orders (workspace_id uuid not null, order_id text not null, amount numeric, state text,
       unique (workspace_id, order_id))`,
  )
  const added = await cli('dataset', 'register', file('orders.json', JSON.stringify(ORDERS)), '--no-approval')
  expect(added).toMatchObject({ code: 0 })
})

const map = (...args: string[]) => cli('dataset', 'map', 'orders', ...args)
const strange = () => file('strange.csv', 'Xyz,Amunt,state,Remark', 'A-1,12.50,offen,x', 'A-2,9.00,payd,y')

describe('outside of a terminal', () => {
  it('shows header, field, certainty and examples, then what is open with the options that answer it', async () => {
    const { code, stdout } = await map(strange())
    expect(code).toBe(5)
    expect(stdout).toMatch(/their header +field +certainty +examples/)
    expect(stdout).toMatch(/Amunt +amount +\w+ +12\.50, 9\.00/)
    expect(stdout).toMatch(/no column is order id\n +--set "HEADER=order_id"/)
    expect(stdout).toContain('--set "Amunt=amount"')
    expect(stdout).toContain('--value "state:payd=paid"')
    expect(stdout).not.toContain('Remembered')
    expect(JSON.parse((await map('--json')).stdout)).toMatchObject({ headers: {}, field_values: {} })
  })

  it('with --no-remember prints the command that takes the answers along, and that command works', async () => {
    const answers = [
      '--set',
      'Xyz=order_id',
      '--set',
      'Amunt=amount',
      '--ignore',
      'Remark',
      '--value',
      'state:payd=paid',
    ]
    const { code, stdout } = await map(strange(), ...answers, '--no-remember')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /stagedoor ingest \S+ --dataset orders --platform file --set "Xyz=order_id" --set "Amunt=amount" --ignore "Remark" --value "state:payd=paid"/,
    )
    expect(JSON.parse((await map('--json')).stdout)).toMatchObject({ headers: {}, field_values: {} })
    expect(await cli('ingest', strange(), '--dataset', 'orders', ...answers)).toMatchObject({ code: 0 })
    expect(await db.owner('select order_id, amount::text, state from public.orders order by 1')).toEqual([
      { order_id: 'A-1', amount: '12.50', state: 'open' },
      { order_id: 'A-2', amount: '9.00', state: 'paid' },
    ])
  })

  it('remembers what the options and --yes say, so that the next file needs nothing', async () => {
    const yes = await map(strange(), '--set', 'Xyz=order_id', '--yes', '--json')
    expect(yes.code).toBe(0)
    expect(JSON.parse(yes.stdout)).toMatchObject({
      headers: { Xyz: 'order_id', Amunt: 'amount' },
      field_values: { state: { payd: 'paid' } },
      remembered: true,
      preview: { complete: true },
    })
    const next = file('next.csv', 'Xyz,Amunt,state', 'A-3,1.00,payd')
    expect((await map(next)).stdout).toContain('All columns and values are mapped')
    expect(await cli('ingest', next, '--dataset', 'orders')).toMatchObject({ code: 0 })
    expect(
      (await map('--forget', 'Xyz', '--forget', 'Amunt', '--forget-value', 'state:payd')).stdout,
    ).toContain('Nothing is mapped')
  })

  it('says what is wrong with an option', async () => {
    expect(await map(strange(), '--set', 'Xyz=nonsense')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/has no field nonsense; it has .*order_id/),
    })
    expect((await map('--yes')).code).toBe(2)
    expect((await map(join(home, 'absent.csv'))).code).toBe(2)
    expect(await cli('dataset', 'map', 'nothing', strange())).toMatchObject({
      code: 8,
      stderr: expect.stringContaining('registered: orders'),
    })
  })
})

describe('in a terminal', () => {
  const column = (header: string, field: string | null, certainty: string) =>
    ({ header, field, certainty, by: field && 'likeness', examples: ['1', '2'], reasons: [] }) as never
  const fields = ['sku', 'price', 'stock'].map((field) => ({ field, title: field, missing: field === 'sku' }))
  const first = {
    columns: [
      column('Prise', 'price', 'likely'),
      column('Lager', 'stock', 'uncertain'),
      column('Nr', null, 'none'),
    ],
    fields,
    values: [],
  } as never as MappingPreview
  const values = [
    {
      field: 'state',
      title: 'State',
      severity: 'error',
      choices: ['open', 'paid'],
      more: 0,
      unknown: [
        { value: 'opn', lines: 3, proposal: 'open' },
        { value: 'x', lines: 1, proposal: null },
        { value: 'none', lines: 1, proposal: null },
      ],
    },
  ] as never

  async function interview(answers: string[]) {
    const questions: string[] = []
    const said: string[] = []
    const found = await answer({
      given: { headers: {}, field_values: {} },
      preview: async ({ headers }: Mapping) =>
        Object.keys(headers).length > 0 ? { ...first, values } : first,
      yes: false,
      ask: async (question) => {
        questions.push(question)
        return answers[questions.length - 1] ?? ''
      },
      output: { line: (text = '') => said.push(text), heading: () => {}, dim: () => {} },
    })
    return { mapping: found.mapping, questions, said }
  }

  it('asks only about what is uncertain or missing, and takes Enter, a field, - and n', async () => {
    const { mapping, questions } = await interview(['', '-', 'nr', '', 'paid', '-'])
    expect(questions).toEqual([
      '“Prise” (1, 2) is [price]',
      '“Lager” (1, 2) is [stock]',
      'The column of sku (Enter: none)',
      'State: “opn” (3 lines) means [open]',
      'State: “x” (1 line) means (Enter: decide later)',
      'State: “none” (1 line) means (Enter: decide later)',
    ])
    expect(mapping).toEqual({
      headers: { Prise: 'price', Lager: null, Nr: 'sku' },
      field_values: { state: { opn: 'open', x: 'paid', none: null } },
    })
    expect((await interview(['n', 'SKU', 'Nr'])).mapping.headers).toEqual({ Lager: 'sku', Nr: 'sku' })
  })

  it('asks again after a field or a column that there is not, and says which there are', async () => {
    const { mapping, said, questions } = await interview(['colour', 'stock', 'n', 'Nowhere', ''])
    expect(mapping.headers).toEqual({ Prise: 'stock' })
    expect(said.join('\n')).toMatch(/no field colour; there are sku, price, stock/)
    expect(said.join('\n')).toMatch(/No free column is called Nowhere; there are “Nr”/)
    expect(questions.slice(0, 2)).toEqual(['“Prise” (1, 2) is [price]', '“Prise” (1, 2) is [price]'])
  })

  it('quotes in an option what a shell would read otherwise', () => {
    const open = openQuestions({ ...first, columns: [column('a "b" $c`', 'price', 'likely')], fields: [] })
    expect(open[0]!.flag).toContain('--set "a \\"b\\" \\$c\\`=price"')
  })
})
