/** What is said about a file that comes in: as fields of a form, or in the address of a raw body. */
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { whoAmI } from '../../../access/members.ts'
import type { Queryable } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import type { IngestOptions } from '../../../ingest/ingest.ts'
import type { PlanRequest } from '../../../ingest/plan.ts'
import { encodingNamed } from '../../../ingest/readers/encoding.ts'
import { columnNames } from '../../../ingest/readers/header.ts'
import type { Format } from '../../../ingest/readers/reading.ts'
import { readJson } from '../../../staging/exact-json.ts'
import { invalidInput } from '../../invalid-input.ts'
import { RepeatedKeys } from './shapes.ts'

const optional = {
  workspace_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'may be left out by whoever has exactly one' }),
  ),
  client_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'whose data it is, where the dataset has clients' }),
  ),
  on_invalid: Type.Optional(
    Type.Enum(['refuse', 'skip'], {
      description: 'plan all lines or none, or the valid ones; default refuse',
    }),
  ),
  threshold: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'share of valid lines that skip asks for; default 0.9',
    }),
  ),
  repeated_keys: Type.Optional(RepeatedKeys),
  dry_run: Type.Optional(Type.Boolean({ description: 'read, check and plan, but never to be promoted' })),
  until: Type.Optional(Type.Enum(['staged', 'planned'], { description: 'default planned' })),
  encoding: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 40,
      examples: ['shift_jis', 'gbk', 'windows-1251'],
      description: 'of a file that is not UTF-8 or UTF-16; it is never guessed',
    }),
  ),
  delimiter: Type.Optional(Type.String({ minLength: 1, maxLength: 1, description: 'default: found out' })),
  columns: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: 'names of the columns of a file without a header: name,name,… or a JSON array',
    }),
  ),
  sheet: Type.Optional(
    Type.String({ maxLength: 200, description: 'of an xlsx; default the first with data' }),
  ),
  decimal: Type.Optional(Type.Enum(['dot', 'comma'], { description: 'default: found out' })),
  dates: Type.Optional(Type.Enum(['dmy', 'mdy'], { description: 'default: found out' })),
  without: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'fields that the dataset expects and the file has no column for, separated by commas',
    }),
  ),
  file_name: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  cursor_name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  cursor_value: Type.Optional(
    Type.String({
      maxLength: 10_000,
      description: 'JSON: where the next pull begins, kept with the promotion',
    }),
  ),
}
const Dataset = Type.String({ maxLength: 63, examples: ['ads'] })
const Platform = Type.String({ maxLength: 63, examples: ['meta'] })

/** In the address: a form brings its own. */
export const UploadQuery = Type.Object(
  { dataset: Type.Optional(Dataset), platform: Type.Optional(Platform), ...optional },
  { additionalProperties: false },
)
/** Optional here, because the form itself is read by the handler, and the address may say it, too. */
export const UploadForm = Type.Object(
  {
    dataset: Type.Optional(Dataset),
    platform: Type.Optional(Platform),
    ...optional,
    file: Type.Optional(Type.String({ format: 'binary', description: 'the last field' })),
  },
  { description: 'dataset, platform and file must be there; the file comes last.' },
)
const UploadOptions = Type.Object(
  { dataset: Dataset, platform: Platform, ...optional },
  { additionalProperties: false },
)
export type UploadOptions = Static<typeof UploadOptions>

/** Unset fields of a form are empty. */
export function readOptions(request: FastifyRequest, given: object, where: string): UploadOptions {
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
  const validate = request.compileValidationSchema(UploadOptions)
  if (!validate(options)) throw invalidInput((validate.errors ?? []) as never, where)
  return options as UploadOptions
}

/** Named, or the only one that the caller has. */
export async function workspaceOf(db: Queryable, given: string | undefined): Promise<string> {
  if (given !== undefined) return given
  const { workspaces } = await whoAmI(db)
  if (workspaces.length === 1) return workspaces[0]!.id
  const reason = `you are a member of ${workspaces.length} workspaces: name one as workspace_id`
  throw new StagedoorError('request_invalid', { reason })
}

export function howToRead(
  options: UploadOptions,
  format: Format | undefined,
): NonNullable<IngestOptions['how']> {
  const { delimiter, sheet, decimal, dates } = options
  const encoding = options.encoding === undefined ? undefined : encodingNamed(options.encoding)
  const columns = options.columns === undefined ? undefined : columnNames(options.columns)
  const without = options.without?.split(',').map((field) => field.trim())
  const how = { format, encoding, delimiter, columns, sheet, decimal, dates, without }
  return Object.fromEntries(Object.entries(how).filter(([, value]) => value !== undefined))
}

export function planOf(
  { until, on_invalid, threshold }: UploadOptions,
  plannedBy: string,
): PlanRequest | undefined {
  if (until === 'staged') return undefined
  return {
    gate_mode: on_invalid === 'skip' ? 'LENIENT' : 'STRICT',
    planned_by: plannedBy,
    ...(threshold !== undefined && { threshold }),
  }
}

export function cursorOf({ cursor_name, cursor_value }: UploadOptions): IngestOptions['cursor'] {
  if (cursor_name === undefined && cursor_value === undefined) return undefined
  if (cursor_name === undefined || cursor_value === undefined) {
    throw new StagedoorError('request_invalid', { reason: 'cursor_name and cursor_value go together' })
  }
  return { name: cursor_name, value: readExactly(cursor_value, 'cursor_value') }
}

/** JSON whose numbers JavaScript can hold; others would be rounded without a word. */
export function readExactly(text: string, what: string): unknown {
  const value = readJson(text, what, 'request_invalid')
  if (/\d{16}/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, ''))) {
    const reason = `${what} has a number of more than 15 digits: write it as a string`
    throw new StagedoorError('request_invalid', { reason })
  }
  return value
}
