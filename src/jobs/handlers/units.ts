/** Handlers that keep what is known of information units true after something has changed around them. */
import type { JobHandlers } from '../handlers.ts'
import { answer, subjectOf } from './answer.ts'

export const unitHandlers: JobHandlers = {
  iu_recompose_pieces: (job, context) => answer(context, 'fn_unit_recompose', subjectOf(job)),
  iu_axis_refresh: (job, context) => answer(context, 'fn_unit_axis_refresh', subjectOf(job)),
  // Which run it was makes no difference: any may have made the units that edges wait for.
  kg_link_refresh: (job, context) => answer(context, 'fn_unit_link_refresh', job.workspace_id),
}
