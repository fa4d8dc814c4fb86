/** What was just promoted is found, with the file and line that it came from; an undo takes it out, or brings the old text back. */
import { beforeAll, expect, it } from 'vitest'
import { completeDataset, type Dataset } from '../../../src/ingest/datasets/dataset.ts'
import { asStagedoorError } from '../../../src/kernel/errors.ts'
import { search } from '../../../src/search/query.ts'
import { createVectorSearch } from '../../../src/search/vector-search.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, type Member } from '../../support/factories.ts'
import { useTrial } from '../../support/ingest-rows.ts'
import { NOTHING_CONFIGURED } from '../knowledge.ts'
import { useProjecting } from '../projection-workplace.ts'
import { activate, allowSearch, settleTables } from './table-life.ts'

const db = useDatabase()
const trial = useTrial(db)
const place = useProjecting(db)
let viewer: Member
let dataset: Dataset

async function find(text: string) {
  const vectorSearch = createVectorSearch({ pool: db.pool('stagedoor_worker'), config: NOTHING_CONFIGURED })
  try {
    const request = { workspaceId: trial.workspace, text }
    const { hits } = await search({ transaction: (work) => db.as(viewer, work), vectorSearch }, request)
    return hits.map(({ key, snippet, columns, freshness, lineage }) => ({
      key,
      snippet,
      columns,
      freshness,
      line: lineage?.line,
      upload: lineage?.upload_id,
    }))
  } finally {
    await vectorSearch.close()
  }
}

beforeAll(async () => {
  viewer = await createMember(db, trial.workspace, 'viewer')
  const owner = await db.session('postgres')
  await owner.query(`create table plants (code text primary key, about text, kind text); grant select on plants to authenticated;
    insert into plants values ('p1', 'a thorny shrub', 'shrub')`)
  await allowSearch(owner, 'plants')
  dataset = completeDataset({
    name: 'plants',
    fields: { code: { type: 'text' }, about: { type: 'text' }, kind: { type: 'text' } },
    rows: [
      {
        name: 'plant',
        target: 'public.plants',
        key: ['code'],
        columns: { code: 'code', about: 'about', kind: 'kind' },
      },
    ],
  })
  const options = { approvalRequired: false }
  const refused = await trial.register(dataset, options).catch(asStagedoorError)
  if (refused) {
    await owner.query((refused.details as { statements: string[] }).statements.join('\n'))
    await trial.register(dataset, options)
  }
  await activate(db, { source: 'plants', text: ['about'], filter: ['kind'], workspace_id: trial.workspace })
  await settleTables(place)
})

it('promoted and undone', async () => {
  expect(await find('thorny')).toEqual([
    {
      key: { code: 'p1' },
      snippet: 'a thorny shrub',
      columns: { kind: 'shrub' },
      freshness: 'current',
      line: undefined,
      upload: undefined,
    },
  ])
  const { upload_id } = await trial.promoted(
    [
      { code: 'p1', about: 'a smooth shrub', kind: 'shrub' },
      { code: 'p2', about: 'a tall fern', kind: 'fern' },
    ],
    { dataset },
  )
  await settleTables(place)
  expect(await find('thorny')).toEqual([])
  expect(await find('smooth')).toMatchObject([
    { key: { code: 'p1' }, line: 2, upload: upload_id, freshness: 'current' },
  ])
  expect(await find('fern')).toMatchObject([
    { key: { code: 'p2' }, line: 3, upload: upload_id, columns: { kind: 'fern' } },
  ])
  await trial.undo(upload_id)
  expect(await find('fern')).toEqual([])
  await settleTables(place)
  expect(await find('smooth fern')).toEqual([])
  expect(await find('thorny')).toMatchObject([{ key: { code: 'p1' }, line: undefined }])
})
