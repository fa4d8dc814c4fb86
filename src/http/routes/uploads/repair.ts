/** Correcting lines. The caller's right is asked under their own role; the check itself is the back end's. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { inTransaction } from '../../../db/transaction.ts'
import { StagedoorError } from '../../../errors.ts'
import { requireDataset } from '../../../ingest/datasets/registry.ts'
import type { IngestContext } from '../../../ingest/ingest.ts'
import { planUpload } from '../../../ingest/plan.ts'
import { repairLines } from '../../../ingest/repair.ts'
import { requireUpload, type Upload } from '../../../ingest/uploads.ts'
import { requireStaging } from '../../../staging/gate.ts'
import { problems } from '../../responses.ts'
import { answerDetail } from './detail.ts'
import { Detail, UploadId } from './shapes.ts'

const Corrections = Type.Object(
  {
    rows: Type.Array(
      Type.Object(
        {
          line: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
          values: Type.Optional(
            Type.Record(
              Type.String(),
              // As a list of types: in a union null would be taken for an empty string.
              Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100_000 }),
              {
                description:
                  'header → corrected text; the other cells stay. Without any the line is checked again as it stands',
              },
            ),
          ),
          leave_out: Type.Optional(
            Type.Boolean({
              description: 'nothing is made of the line; corrected or checked again it is taken in again',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 1000 },
    ),
    replan: Type.Optional(
      Type.Boolean({ description: 'plan again in the mode of the plan that was there; default true' }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ rows: [{ line: 31447, values: { 'Ad ID': '120253000000000123' } }] }],
  },
)

export function repairRoutes(ingest: IngestContext): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.patch(
      '/:id/rows',
      {
        preValidation: async (request) => requireText(request.body),
        schema: {
          operationId: 'repairUploadRows',
          summary: 'Correct lines, which are checked again by the same rules, or leave them out',
          description:
            'Any plan is gone with it, and a review that was open. Whoever corrects does not approve.',
          tags: ['uploads'],
          params: UploadId,
          body: Corrections,
          response: { 200: Detail, ...problems(400, 401, 403, 404, 409, 413) },
        },
      },
      async (request, reply) => {
        const { rows, replan = true } = request.body
        const { upload, dataset, actor } = await mayRepair(request, request.params.id)
        await inTransaction(ingest.pool, (client) => repairLines(client, upload, dataset, rows, actor), {
          role: 'service_role',
        })
        return answerDetail(request, reply, async (client, id) => {
          if (!replan || upload.gate_mode === null) return
          await planUpload(client, id, {
            gate_mode: upload.gate_mode,
            ...(upload.threshold !== null && { threshold: Number(upload.threshold) }),
          })
        })
      },
    )
  }
}

/** Before validation, which makes text of numbers: of 120253000000000123 another one. */
function requireText(body: unknown): void {
  const { rows } = (body ?? {}) as { rows?: unknown }
  for (const [index, row] of (Array.isArray(rows) ? rows : []).entries()) {
    for (const [header, value] of Object.entries(row?.values ?? {})) {
      if (value === null || typeof value === 'string') continue
      const reason = `body/rows/${index}/values/${header} must be text, as it would stand in the file, or null`
      throw new StagedoorError('request_invalid', { reason })
    }
  }
}

async function mayRepair(request: FastifyRequest, id: string) {
  return request.transaction(async (client) => {
    const upload: Upload = await requireUpload(client, id)
    await requireStaging(client, upload.workspace_id)
    const { rows } = await client.query<{ actor: string }>('select iu_core.fn_actor() as actor')
    return {
      upload,
      dataset: await requireDataset(client, upload.dataset, upload.platform),
      actor: rows[0]!.actor,
    }
  })
}
