/** The whole way in a process that does nothing else, so that its memory is that of one upload. */
import { inputOf, serve } from '../processes.ts'
import { type Export, ingestMeasured } from './pipeline.ts'

const input = inputOf<Export>()

serve({ ingest: () => ingestMeasured(input), stop: async () => {} })
