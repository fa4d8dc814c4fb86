/** The lines of an upload: listed with their problems, and corrected by line, by column or by a file. */
import { Readable } from 'node:stream'
import { type ColumnEdit, findEdited } from '../ingest/column-edits.ts'
import { admitFile, type PipelineDeps } from '../ingest/pipeline.ts'
import { rawKeys } from '../ingest/readers/chunks.ts'
import { MAX_CELLS, repairUpload } from '../ingest/repair.ts'
import {
  LeftOutLine,
  ProblemKind,
  RepairOutcome,
  StagedRow,
  type Upload,
  VALIDATION_STATUSES,
} from '../ingest/shapes.ts'
import type { SpooledFile } from '../ingest/spool.ts'
import { exportProblems, listLeftOut, listProblemKinds, listRows } from '../ingest/staged-rows.ts'
import { requireUpload } from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { type Static, shape, Text, Type } from '../kernel/schema.ts'
import { acceptFiles, fileRoute, receiveFile, refuseTooLarge, spoolSink } from './receive-file.ts'
import { attachment, withRawJson } from './responses.ts'
import { listPage, page, type Routes, routes } from './routes.ts'
import { AfterLine, answerDetail, ofUpload, RowLimit, UploadDetail } from './upload-detail.ts'

const EXPORT_PAGE = 500

const INVALID = { status: 'invalid' } as const

/** Which lines of an upload are meant; see LineFilter. */
const lineFilter = {
  status: Type.Optional(Type.Enum([...VALIDATION_STATUSES])),
  problems: Type.Optional(Type.Boolean({ description: 'only lines with an error or a warning' })),
  rule: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'only lines with a problem by this rule' }),
  ),
  column: Type.Optional(
    Type.String({ minLength: 1, maxLength: 10_000, description: 'only lines with a problem in this column' }),
  ),
  contains: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'only lines with this text in a cell' }),
  ),
}

export function rowRoutes(api: Routes): void {
  api.get('/:id/rows', {
    operationId: 'listUploadRows',
    replica: true,
    summary: 'The lines of an upload with what is wrong with them, in the order of the file',
    query: {
      row_type: Type.Optional(
        Type.String({ maxLength: 63, description: 'default: the one with a row for each line' }),
      ),
      ...lineFilter,
      limit: RowLimit,
      after: AfterLine,
    },
    answer: page('rows', StagedRow),
    problems: [404],
    raw: true,
    handle: (request) =>
      listPage(request.query, 'rows', 'row_number', ({ row_type, ...filter }) =>
        request.transaction(async (client) => {
          const { upload_id, reading } = await requireUpload(client, request.params.id)
          const type = row_type ?? reading?.layout.leaf
          if (type === undefined) return []
          return listRows(withRawJson(client), upload_id, { ...filter, rowType: type })
        }),
      ),
  })

  api.get('/:id/problems', {
    operationId: 'listUploadProblemKinds',
    replica: true,
    summary: 'What is wrong in an upload, counted by rule and column',
    answer: Type.Object({ kinds: Type.Array(ProblemKind) }),
    problems: [404],
    handle: (request) =>
      request.transaction(async (client) => ({
        kinds: await listProblemKinds(client, await requireUpload(client, request.params.id)),
      })),
  })

  api.get('/:id/left-out', {
    operationId: 'listUploadLeftOut',
    summary: 'The lines that are left out, each with its reason and its figures, in the order of the file',
    query: {
      limit: RowLimit,
      after: AfterLine,
    },
    answer: page('lines', LeftOutLine),
    problems: [404],
    raw: true,
    handle: (request) =>
      listPage(request.query, 'lines', 'line', (page) =>
        ofUpload(request, (db, { upload_id }) => listLeftOut(db, upload_id, page)),
      ),
  })

  api.get('/:id/problems.csv', {
    operationId: 'downloadUploadProblems',
    summary: 'The wrong lines as a CSV, with what is wrong beside each: correct it and upload it again',
    query: {
      left_out: Type.Optional(
        Type.Boolean({
          description: 'the lines that are left out instead, with the reason beside each',
        }),
      ),
      ...lineFilter,
    },
    problems: [404],
    schema: {
      response: { 200: { description: 'the wrong lines', content: { 'text/csv': { schema: Text } } } },
    },
    handle: async (request, reply) => {
      const upload = await request.transaction((client) => requireUpload(client, request.params.id))
      const { upload_id, reading, file_name } = upload
      const { left_out, ...asked } = request.query
      const isFiltered = Object.values(asked).some((value) => value !== undefined)
      const filter = left_out ? { status: 'skipped' as const } : isFiltered ? asked : INVALID
      // Each page in a transaction of its own: none of them waits for whoever downloads.
      const page = async (after: number) =>
        reading
          ? request.transaction((client) =>
              listRows(client, upload_id, {
                ...filter,
                rowType: reading.layout.leaf,
                limit: EXPORT_PAGE,
                after,
              }),
            )
          : []
      const lines = exportProblems(page, reading ? rawKeys(reading.headers) : [])
      return reply
        .type('text/csv; charset=utf-8')
        .headers({
          'content-disposition': attachment(
            `${file_name.replace(/\.[^.]*$/, '')} ${request.query.left_out ? 'left out' : 'problems'}.csv`,
          ),
          'cache-control': 'private, no-store',
          'content-security-policy': "default-src 'none'; sandbox",
        })
        .send(Readable.from(lines) as never)
    },
  })
}

// Correcting lines. The caller's right is checked under their own role; the check of the lines is the back end's.

const Corrections = {
  rows: Type.Optional(
    Type.Array(
      shape(
        'LineCorrection',
        {
          line: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
          values: Type.Optional(
            Type.Record(
              Text,
              // As a list of types: in a union null would be taken for an empty string.
              Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100_000 }),
              {
                description:
                  'header → corrected text; the other cells stay. Without any the line is checked again as it stands',
              },
            ),
          ),
          expect: Type.Optional(
            Type.Record(Text, Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100_000 }), {
              description:
                'header → the text that the cell had when you saw it; where it has another one now, nothing is corrected, and the error names every such line',
            }),
          ),
          leave_out: Type.Optional(
            Type.Boolean({
              description: 'nothing is made of the line; corrected or checked again it is taken in again',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: MAX_CELLS },
    ),
  ),
  edits: Type.Optional(
    Type.Array(
      shape(
        'ColumnEdit',
        {
          column: Type.String({ minLength: 1, maxLength: 10_000, description: 'header' }),
          from: Type.Optional(
            Type.Unsafe<string | null>({
              type: ['string', 'null'],
              maxLength: 100_000,
              description: 'cells with exactly this text; null: empty cells; left out: all cells',
            }),
          ),
          to: Type.Unsafe<string | null>({
            type: ['string', 'null'],
            maxLength: 100_000,
            description: 'the text that they get; null: none',
          }),
          lines: Type.Optional(
            Type.Array(Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), {
              minItems: 2,
              maxItems: 2,
              description: 'only in lines from … to …, both included',
            }),
          ),
          match: Type.Optional(
            Type.Enum(['cell', 'part'], {
              description: 'part: `from` is replaced wherever it stands in a cell; default cell',
            }),
          ),
          where: Type.Optional(
            shape('LineFilter', lineFilter, {
              additionalProperties: false,
              description: 'only in lines that the list of lines shows with this filter',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 100, description: 'instead of rows: edits of columns, one after the other' },
    ),
  ),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'only say which cells of how many lines would change' }),
  ),
  unsaved: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[0-9]{1,10}$' }),
      Type.Record(Text, Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100_000 })),
      { description: 'of a dry run of edits: line → header → text that is not sent yet; the edits see it' },
    ),
  ),
  replan: Type.Optional(
    Type.Boolean({ description: 'plan again in the mode of the plan that was there; default true' }),
  ),
}

const RepairedUpload = shape('RepairedUpload', { ...UploadDetail.properties, repair: RepairOutcome })

export function repairRoutes(api: Routes, ingest: PipelineDeps): void {
  api.patch('/:id/rows', {
    operationId: 'repairUploadRows',
    summary: 'Correct lines, which are checked again by the same rules, or leave them out',
    description: `Up to ${MAX_CELLS.toLocaleString('en')} cells at once: by line (rows), or by column (edits). A plan is brought up to date; its review is closed. Whoever corrected a line cannot approve.`,
    body: Corrections,
    example: { rows: [{ line: 31447, values: { 'Ad ID': '120253000000000123' } }] },
    answer: RepairedUpload,
    raw: true,
    problems: [403, 404, 409, 413],
    preValidation: async (request) => requireText(request.body),
    handle: async (request) => {
      const { rows, edits, replan, dry_run: dryRun, unsaved } = request.body
      if ((rows === undefined) === (edits === undefined))
        throw new StagedoorError('request_invalid', { reason: 'The body has either rows or edits' })
      const corrections =
        rows?.map(({ leave_out: leaveOut, ...row }) => ({ ...row, leaveOut })) ??
        ((client: Client, upload: Upload) =>
          findEdited(
            client,
            upload,
            edits!.map(columnEdit),
            Object.entries(unsaved ?? {}).map(([line, values]) => ({ line: Number(line), values })),
          ))
      if (unsaved !== undefined && (!dryRun || edits === undefined))
        throw new StagedoorError('request_invalid', { reason: 'unsaved goes with a dry run of edits' })
      const caller = { transaction: request.transaction.bind(request) }
      const upload = request.params.id
      const repair = await repairUpload(ingest.pool, caller, { upload, corrections, replan, dryRun })
      return { ...(await answerDetail(request)), repair }
    },
  })
}

function columnEdit({ lines, ...edit }: Omit<ColumnEdit, 'lines'> & { lines?: number[] }): ColumnEdit {
  return { ...edit, lines: lines && [lines[0]!, lines[1]!] }
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

const correctionOptions = {
  dry_run: Type.Optional(Type.Boolean({ description: 'only say which cells would change' })),
  replan: Type.Optional(Type.Boolean({ description: 'default true' })),
  file_name: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
}

const CorrectionForm = shape(
  'CorrectionForm',
  {
    ...correctionOptions,
    file: Type.Optional(Type.String({ format: 'binary', description: 'the last field' })),
  },
  { description: 'file must be there and comes last.' },
)

const CorrectionOptions = Type.Object(correctionOptions, { additionalProperties: false })

/** A corrected file: it takes a body of its own, which the other routes must not inherit. */
export function correctionRoutes(ingest: PipelineDeps) {
  return routes('uploads', async (api) => {
    await acceptFiles(api.fastify)
    const { preValidation, body } = fileRoute(CorrectionForm)
    api.post('/:id/corrections', {
      operationId: 'uploadCorrections',
      summary: 'Correct lines by a file: the exported wrong lines after somebody corrected their cells',
      description:
        'The file has the column “Stagedoor: line” of the export and the columns that change, or it is the whole file, corrected. Only cells that differ are corrections.',
      query: correctionOptions,
      answer: RepairedUpload,
      raw: true,
      problems: [403, 404, 409, 413, 422],
      preValidation,
      schema: { body },
      handle: async (request, reply) => {
        // If anything goes wrong, the rest of the body is still on its way: the connection is of no further use.
        reply.header('connection', 'close')
        const caller = { transaction: request.transaction.bind(request) }
        const { file, file_name, options } = await receiveFile<Static<typeof CorrectionOptions>, SpooledFile>(
          request,
          spoolSink(ingest.home),
          {
            options: CorrectionOptions,
            admit: async () => {
              const { workspace_id } = await caller.transaction((client) =>
                requireUpload(withRawJson(client), request.params.id),
              )
              const { maxBytes: limit } = await admitFile(caller, workspace_id)
              refuseTooLarge(request, limit)
              return { limit }
            },
          },
        )
        reply.removeHeader('connection')
        try {
          const { readCorrections } = await import('../ingest/corrections.ts')
          const repair = await repairUpload(ingest.pool, caller, {
            upload: request.params.id,
            corrections: (client, upload) => readCorrections(client, upload, file.path, file_name),
            replan: options.replan,
            dryRun: options.dry_run,
          })
          return { ...(await answerDetail(request)), repair }
        } finally {
          await file.remove()
        }
      },
    })
  })
}
