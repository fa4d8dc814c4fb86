/** Our work: three calls of the staging functions for each record, a transaction each. */
import type { Figures, Task } from '../benchmark.ts'
import { perSecond } from '../statistics.ts'
import { type ReadyRecord, readyRecord } from './records.ts'
import { inParallel, openSessions } from './sessions.ts'

const CREATE = {
  name: 'create',
  text: `select staging_record_id as id, content_hash as digest from iu_core.fn_iu_staging_create(
    'cut_preview', 'sql_result_snapshot', 'weekly export',
    p_parts => array[jsonb_build_object('part_name', 'manifest', 'payload_kind', 'json', 'payload_json', $1::jsonb)],
    p_source_kind => 'import', p_idempotency_key => $2)`,
}
const APPROVE = { name: 'approve', text: 'select iu_core.fn_iu_staging_approve($1, $2)' }
const CONSUME = { name: 'consume', text: 'select iu_core.fn_iu_staging_consume($1, $2)' }

export async function throughFunctions({ database, size }: Task): Promise<Figures> {
  const records = Array.from({ length: size }, (_, index) => readyRecord(index))
  const sets = await openSessions(database)
  let wrongDigests = 0
  const started = performance.now()
  await inParallel(records, sets, async (record: ReadyRecord, { owner, reviewer, run }) => {
    const { rows } = await owner.query({ ...CREATE, values: [record.payload, record.key] })
    const { id, digest } = rows[0]
    if (digest !== record.recordHash) wrongDigests++
    await reviewer.query({ ...APPROVE, values: [id, digest] })
    await owner.query({ ...CONSUME, values: [id, run] })
  })
  const elapsed = performance.now() - started
  return { records_per_s: perSecond(size, elapsed), ms: elapsed, wrong_digests: wrongDigests }
}
