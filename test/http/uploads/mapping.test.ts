/** Mappings over HTTP: a preview of a file, answers with an upload, what is remembered and who may change it. */
import { beforeAll, describe, expect, it } from 'vitest'
import { completeDataset, type DatasetDeclaration } from '../../../src/ingest/datasets/dataset.ts'
import { form, HEADER, type Person, useUploads, week } from './uploads-api.ts'

const uploads = useUploads()
const { call } = uploads

async function preview(
  text: string,
  as: Person = 'operator',
  fields: Record<string, string> = {},
  dataset = 'ads',
) {
  const { body, type } = form(text, { platform: 'meta', ...fields }, 'week.csv')
  const reply = await uploads.api.app.inject({
    method: 'POST',
    url: `/api/v1/datasets/${dataset}/mapping/preview`,
    headers: { authorization: `Bearer ${uploads.tokens[as]}`, 'content-type': type },
    payload: body,
  })
  return { status: reply.statusCode, body: JSON.parse(reply.body) }
}
const renamed = (campaign: string) =>
  week(campaign).replace(HEADER, HEADER.replace('Impressions', 'Imprssions').replace('Day', 'When'))
const column = (body: { columns: { header: string }[] }, header: string) =>
  body.columns.find((one) => one.header === header)

describe('a preview', () => {
  it('says which column is which field; nothing is opened, written or kept', async () => {
    const { status, body } = await preview(renamed('Preview'))
    expect(status).toBe(200)
    expect(body).toMatchObject({ dataset: 'ads', platform: 'meta', lines: 7, complete: false })
    expect(column(body, 'Campaign name')).toMatchObject({
      field: 'campaign_name',
      certainty: 'sure',
      by: 'name',
    })
    expect(column(body, 'Imprssions')).toMatchObject({ field: 'impressions', by: 'likeness' })
    expect(uploads.spooled().filter((name) => !name.startsWith('duckdb-'))).toEqual([])
    expect((await call('GET', '/uploads?limit=10', 'operator')).body.uploads).toEqual([])
  })

  it('takes the raw body, too, with the options in the query string', async () => {
    const reply = await uploads.api.app.inject({
      method: 'POST',
      url: '/api/v1/datasets/ads/mapping/preview?platform=meta',
      headers: { authorization: `Bearer ${uploads.tokens.agent}`, 'content-type': 'text/csv' },
      payload: week('Raw'),
    })
    expect(reply.statusCode).toBe(200)
    expect(JSON.parse(reply.body)).toMatchObject({ complete: true })
  })

  it.each<[string, Person, Record<string, string>, string, number]>([
    ['a viewer', 'viewer', {}, 'ads', 403],
    ['a token that only reads', 'reader', {}, 'ads', 403],
    ['an unknown dataset', 'operator', {}, 'nothing', 404],
    ['an unknown platform', 'operator', { platform: 'fax' }, 'ads', 404],
    ['a mapping that is no JSON', 'operator', { headers: 'x' }, 'ads', 400],
    ['a mapping of another form', 'operator', { headers: '{"a": 1}' }, 'ads', 400],
    ['values of another form', 'operator', { field_values: '{"a": "b"}' }, 'ads', 400],
    ['a field that there is not', 'operator', { headers: '{"Day": "nonsense"}' }, 'ads', 400],
    ['an option that there is not', 'operator', { nonsense: 'x' }, 'ads', 400],
  ])('is refused: %s', async (_what, as, fields, dataset, status) => {
    expect(await preview(week('Refused'), as, fields, dataset)).toMatchObject({ status })
  })

  it('of somebody else’s workspace is refused, and theirs does not use what this one remembers', async () => {
    await call('PATCH', '/datasets/ads/mapping', 'operator', { platform: 'meta', headers: { When: 'date' } })
    expect(column((await preview(renamed('Ours'))).body, 'When')).toMatchObject({ by: 'memory' })
    const theirs = await preview(renamed('Theirs'), 'stranger')
    expect(theirs.status).toBe(200)
    expect(column(theirs.body, 'When')).not.toMatchObject({ by: 'memory' })
    const { status } = await preview(renamed('Not theirs'), 'stranger', {
      workspace_id: uploads.ads.workspace,
    })
    expect(status).toBe(403)
    await call('DELETE', '/datasets/ads/mapping?platform=meta&header=When', 'operator')
  })

  it('of a file that cannot be read says why', async () => {
    const { status, body } = await preview('%PDF-1.7 nothing')
    expect([status, body.code]).toEqual([422, 'file_unreadable'])
  })
})

describe('what is remembered', () => {
  const mapping = (as: Person = 'operator') => call('GET', '/datasets/ads/mapping?platform=google', as)
  const change = (as: Person, body: object) =>
    call('PATCH', '/datasets/ads/mapping', as, { platform: 'google', ...body })

  it('is changed entry by entry, with its author, and forgotten entry by entry', async () => {
    await change('operator', { headers: { Kosten: 'spend' } })
    const { body } = await change('reviewer', {
      headers: { Rest: null },
      field_values: { ad_status: { an: 'active' } },
    })
    expect(body).toMatchObject({
      headers: { Kosten: 'spend', Rest: null },
      header_by: { Kosten: uploads.ads.operator.userId, Rest: uploads.ads.reviewer.userId },
      value_by: { ad_status: uploads.ads.reviewer.userId },
      updated_by: uploads.ads.reviewer.userId,
    })
    const forget = (query: string) =>
      call('DELETE', `/datasets/ads/mapping?platform=google&${query}`, 'operator')
    expect((await forget('header=Kosten')).body.headers).toEqual({ Rest: null })
    expect((await forget('field=ad_status&value=an')).body.field_values).toEqual({})
    const shape = 'a'.repeat(64)
    for (const query of [
      ...['', 'field=status', 'value=b', 'header=a&field=b', 'header=a&value=b', 'header=a&field=b&value=c'],
      ...['header=a&read_options=all', `field=b&value=c&read_options=${shape}`, 'field=b&read_options=all'],
      ...['read_options=some', 'header=Rest&author=somebody'],
    ])
      expect([query, (await forget(query)).status]).toEqual([query, 400])
    expect((await mapping()).body.headers).toEqual({ Rest: null })
  })

  it('of options of files is forgotten by shape or all at once, by whoever chose them or may operate', async () => {
    const spent = (name: string) =>
      `Campaign name;Day;Impressions;Amount spent (AUD)\n${name};03/04/2026;10;1,50\n`
    const remember = { remember_options: 'true', dates: 'dmy' }
    const optionsOf = async (as: Person) =>
      (await call('GET', '/datasets/ads/mapping?platform=meta', as)).body.read_options as {
        shape: string
        author: string
      }[]
    const forget = (query: string, as: Person) =>
      call('DELETE', `/datasets/ads/mapping?platform=meta&${query}`, as)
    for (const as of ['operator', 'agent'] as const)
      await uploads.upload(spent(`Options of ${as}`), as, remember)
    await uploads.upload(spent('Other columns').replace('Impressions', 'Link clicks'), 'operator', remember)

    const { operator, agent } = uploads.ads
    const own = (await optionsOf('operator')).filter(({ author }) => author === operator.userId)
    expect(own).toHaveLength(2)
    // An agent may not forget what others chose.
    expect(await forget(`read_options=all&author=${operator.userId}`, 'agent')).toMatchObject({ status: 403 })
    expect((await forget('read_options=all', 'viewer')).status).toBe(403)
    expect((await forget('read_options=all', 'reader')).status).toBe(403)
    const { status, body } = await forget(`read_options=${own[0]!.shape}`, 'operator')
    expect(status).toBe(200)
    const left = (who: string) =>
      body.read_options
        .filter((one: { author: string }) => one.author === who)
        .map((one: { shape: string }) => one.shape)
    expect(left(operator.userId)).toEqual([own[1]!.shape])
    expect(left(agent.userId)).toHaveLength(1)
    await forget('read_options=all', 'operator')
    expect((await optionsOf('operator')).map(({ author }) => author)).toEqual([agent.userId])
    await forget(`read_options=all&author=${agent.userId}`, 'operator')
    expect(await optionsOf('operator')).toEqual([])
  })

  it.each<[Person, number]>([
    ['agent', 403],
    ['viewer', 403],
    ['reader', 403],
  ])('cannot be changed by %s', async (as, status) => {
    expect((await change(as, { headers: { Mine: 'spend' } })).status).toBe(status)
    expect((await mapping()).body.headers).not.toHaveProperty('Mine')
  })

  it('of another workspace is neither seen nor changed', async () => {
    await change('operator', { headers: { Ours: 'spend' } })
    expect((await mapping('stranger')).body.headers).toEqual({})
    const body = { headers: { Theirs: 'spend' }, workspace_id: uploads.ads.workspace }
    expect((await change('stranger', body)).status).toBe(403)
  })
})

it('an upload takes the answers with it: read so, kept with it, and not remembered', async () => {
  const headers = JSON.stringify({ When: 'date', Imprssions: 'impressions' })
  const upload = await uploads.upload(renamed('Answers'), 'operator', { headers })
  expect(upload.status).toBe('planned')
  expect(upload.reading.map.fields.date).toMatchObject({ header: 'When' })
  expect((await call('GET', '/datasets/ads/mapping?platform=meta', 'operator')).body.headers).toEqual({})
  const refused = await uploads.send(renamed('Nonsense'), 'operator', { headers: '{"When": "nonsense"}' })
  expect(refused.status).toBe(400)
})

describe('the dataset of a file', () => {
  const columns = (...names: string[]) => ({
    fields: Object.fromEntries(
      names.map((name) => [name, { type: 'text' as const, required: name === 'sku' }]),
    ),
  })
  const declared = (name: string, fields: string[]): DatasetDeclaration => ({
    name,
    title: name,
    ...columns(...fields),
    rows: [
      {
        name: 'row',
        target: `public.match_${name}`,
        key: ['workspace_id', 'sku'],
        columns: { workspace_id: '$workspace', ...Object.fromEntries(fields.map((field) => [field, field])) },
      },
    ],
  })

  beforeAll(async () => {
    for (const [name, fields] of [
      ['parts', ['sku', 'label', 'weight']],
      ['prices', ['sku', 'price', 'tier']],
      ['tags', ['sku', 'price', 'tier']],
    ] as const) {
      await uploads.db.owner(
        `create table match_${name} (workspace_id uuid not null, ${fields.map((field) => `${field} text`).join(', ')},
           unique nulls not distinct (workspace_id, sku))`,
      )
      await uploads.ads.register(completeDataset(declared(name, [...fields])), {})
    }
  })

  async function match(text: string, as: Person = 'operator', fields: Record<string, string> = {}) {
    const { body, type } = form(text, fields, 'file.csv')
    const reply = await uploads.api.app.inject({
      method: 'POST',
      url: '/api/v1/datasets/match',
      headers: { authorization: `Bearer ${uploads.tokens[as]}`, 'content-type': type },
      payload: body,
    })
    return { status: reply.statusCode, body: JSON.parse(reply.body) }
  }

  it('is the one that knows its headers, with the platform; nothing is kept', async () => {
    const before = (await call('GET', '/uploads?limit=10', 'operator')).body.uploads
    const { status, body } = await match(week('Matched'))
    expect(status).toBe(200)
    expect(body).toMatchObject({ best: 'ads' })
    expect(body.matches[0]).toMatchObject({ dataset: 'ads', platforms: ['meta'], fit: 'sure' })
    const parts = (await match('sku,label,weight,Colour\na,Boots,2,red\n')).body
    expect(parts).toMatchObject({ best: 'parts', columns: 4 })
    expect(parts.matches[0]).toMatchObject({ dataset: 'parts', fit: 'sure', used: 3, missing: [] })
    expect(uploads.spooled().filter((name) => !name.startsWith('duckdb-'))).toEqual([])
    expect((await call('GET', '/uploads?limit=10', 'operator')).body.uploads).toEqual(before)
  })

  it('is proposed where headers are only alike, and by what the workspace remembers', async () => {
    expect((await match('sku,labell,weihgt\na,Boots,2\n')).body).toMatchObject({ best: 'parts' })
    const unknown = 'Nummer,label,weight\na,Boots,2\n'
    const before = (await match(unknown)).body
    expect(before.best).toBeNull()
    expect(before.matches[0]).toMatchObject({ dataset: 'parts', fit: 'no', used: 2, missing: ['sku'] })
    await call('PATCH', '/datasets/parts/mapping', 'operator', {
      platform: 'file',
      headers: { Nummer: 'sku' },
    })
    const after = (await match(unknown)).body
    expect(after.best).toBe('parts')
    expect(after.matches[0]).toMatchObject({ dataset: 'parts', fit: 'sure' })
    expect((await match(unknown, 'stranger')).body).toMatchObject({ best: null })
  })

  it('is nobody’s guess: none where several fit as well, none fits, or one column of many is known', async () => {
    const { body } = await match('sku,price,tier\na,2,b\n')
    expect(body).toMatchObject({ best: null })
    expect(body.matches.slice(0, 2)).toMatchObject([
      { fit: 'sure', used: 3 },
      { fit: 'sure', used: 3 },
    ])
    expect((await match('Street,Town\nSt James Square,London\n')).body).toMatchObject({ best: null })
    expect((await match('sku,a,b,c,d,e,f,g\n1,2,3,4,5,6,7,8\n')).body).toMatchObject({ best: null })
  })

  it.each<[string, Person, Record<string, string>, number]>([
    ['a viewer', 'viewer', {}, 403],
    ['a token that only reads', 'reader', {}, 403],
    ['an option that there is not', 'operator', { dataset: 'ads' }, 400],
  ])('is not said to %s', async (_what, as, fields, status) => {
    expect(await match(week('Refused'), as, fields)).toMatchObject({ status })
  })

  it('is not said of somebody else’s workspace', async () => {
    const { status } = await match(week('Theirs'), 'stranger', { workspace_id: uploads.ads.workspace })
    expect(status).toBe(403)
  })
})

it('a dataset shows its declaration to members, and whether its tables still fit to whoever operates', async () => {
  const detail = await call('GET', '/datasets/ads', 'viewer')
  expect(detail.body).toMatchObject({ dataset: 'ads', definition: { fields: { spend: { type: 'money' } } } })
  expect((await call('GET', '/datasets/nothing', 'viewer')).status).toBe(404)
  expect((await call('GET', '/datasets/nothing/check', 'operator')).status).toBe(404)
  expect((await call('GET', '/datasets/ads/check', 'operator')).body).toEqual({ problems: [] })
  expect((await call('GET', '/datasets/ads/check', 'viewer')).status).toBe(403)
})
