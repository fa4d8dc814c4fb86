import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeManifest } from '../../../../src/kernel/postgres/doctor/doctor.ts'
import { SQL_FOLDER } from '../../../../src/kernel/postgres/migrate/files.ts'
import { useDatabase } from '../../../support/database.ts'

const db = useDatabase()
const shipped = () => readFileSync(join(SQL_FOLDER, 'manifest.json'), 'utf8')

it('describes a freshly migrated database; on an older server only the time-ordered uuid differs', async () => {
  const made = await makeManifest(await db.session())
  const lines = new Set(shipped().split('\n'))
  const differing = made.split('\n').filter((line) => !lines.has(line))
  expect(differing.map((line) => JSON.parse(line.replace(/,$/, '')).name)).toEqual(
    db.server.version >= 18 ? [] : ['iu_core.fn_time_uuid()'],
  )
  expect(made.split('\n')).toHaveLength(shipped().split('\n').length)
})

it('is the same whatever the settings of the login', async () => {
  const session = await db.session()
  const plain = await makeManifest(session)
  await session.query(
    "set search_path = iu_core, public; set quote_all_identifiers = on; set timezone = 'Asia/Ho_Chi_Minh'",
  )
  expect(await makeManifest(session)).toBe(plain)
})
