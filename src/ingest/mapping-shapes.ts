/** What the columns and values of a file mean: remembered, previewed before the file is uploaded, and as an upload was read. */
import {
  Digest,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  TimestampOrNull,
  Type,
  Uuid,
  UuidOrNull,
} from '../kernel/schema.ts'

const CellOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 1000 })
/** What was said about the headers and values of files. */
export const datasetMapping = {
  headers: Type.Record(Text, CellOrNull, {
    description: 'header → field; null: the column is ignored',
    examples: [{ Kosten: 'spend', Notes: null }],
  }),
  field_values: Type.Record(Text, Type.Record(Text, CellOrNull), {
    description: 'field → value in the file → value to take',
  }),
}
const ReadOptionsMemory = shape('ReadOptionsMemory', {
  author: Type.String({ description: 'whose next files are read by it' }),
  shape: Type.String({ description: 'of the files: their format and headers, as sha-256' }),
  columns: Type.Array(Text, { description: 'the first headers' }),
  options: shape('RememberedReadOptions', {
    encoding: Type.Optional(Text),
    delimiter: Type.Optional(Text),
    header_line: Type.Optional(Type.Integer()),
    decimal: Type.Optional(Type.Enum(['dot', 'comma'])),
    dates: Type.Optional(Type.Enum(['dmy', 'mdy'])),
  }),
  upload_id: UuidOrNull,
  change: nullable(Type.Integer({ description: 'number of the change that they were chosen for' })),
  remembered_at: Timestamp,
})
export const DatasetMapping = shape('DatasetMapping', {
  ...datasetMapping,
  header_by: Type.Record(Text, Text, { description: 'header → who said last what it means' }),
  value_by: Type.Record(Text, Text, { description: 'field → who said last what values of it mean' }),
  updated_by: TextOrNull,
  updated_at: TimestampOrNull,
  read_options: Type.Array(ReadOptionsMemory, {
    description: 'how people had their files read, for their next ones of the same columns; newest first',
  }),
  fields: Type.Array(
    shape('DatasetField', {
      field: Text,
      title: Text,
      type: Text,
      required: Type.Boolean(),
    }),
  ),
})

const ReadBy = Type.Enum(['name', 'chosen', 'remembered', 'detected', 'open'], {
  description:
    'name: the dataset knows it; chosen: for this file; remembered: from an earlier file; detected: by the content of the file; open: the file shows both, so values that read two ways are invalid',
})
/** How a file was read: what people chose, what was remembered, what was found. */
export const FileReading = shape('FileReading', {
  upload_id: Uuid,
  columns: Type.Array(
    shape('ReadColumn', {
      header: Text,
      field: nullable(Type.String({ description: 'of the dataset; null: the column is not used' })),
      title: TextOrNull,
      ignored: Type.Boolean({ description: 'not used because a person has said so' }),
      how: nullable(ReadBy),
      by: nullable(Type.String({ description: 'who chose it, or said it for an earlier file' })),
    }),
  ),
  values: Type.Array(
    shape('MatchedValue', {
      field: Text,
      title: Text,
      value: Type.String({ description: 'as the file has it' }),
      meaning: nullable(Type.String({ description: 'what it was taken for; null: no value' })),
      lines: Type.Integer(),
      how: ReadBy,
      by: TextOrNull,
    }),
    { description: 'values of the file that somebody matched, at most 200' },
  ),
  more_values: Type.Integer({ description: 'that are not listed' }),
  options: Type.Array(
    shape('ReadOption', {
      option: Type.Enum([
        'format',
        'encoding',
        'delimiter',
        'header_line',
        'columns',
        'sheet',
        'decimal',
        'dates',
      ]),
      value: Text,
      how: ReadBy,
      change: Type.Optional(
        nullable(
          Type.Integer({ description: 'of what is remembered: number of the change that it was chosen for' }),
        ),
      ),
    }),
  ),
  defaults: Type.Array(shape('UsedDefault', { field: Text, title: Text, value: Text }), {
    description: 'fields without a column, whose declared default is taken',
  }),
  without: Type.Array(Text, { description: 'titles of fields that the file is said not to have' }),
})
export type FileReading = Row<typeof FileReading>

/** A mapping before the file is uploaded. */
const Certainty = Type.Enum(['sure', 'likely', 'uncertain', 'none'], {
  description: 'likely and uncertain: to be confirmed by a person; none: it is like no field',
})
const Reasons = Type.Array(Text, { description: 'for people' })

export const PreviewColumn = shape('PreviewColumn', {
  column: Type.Integer({ description: 'from 0' }),
  header: Text,
  examples: Type.Array(Text, { description: 'different values, the first of the file' }),
  filled: Type.Number({ description: 'share of the lines looked at that have a value' }),
  type: Type.String({
    description: 'what its values look like',
    examples: ['integer', 'date', 'text', 'empty'],
  }),
  field: nullable(Type.String({ description: 'of the dataset; null: the column is not used' })),
  ignored: Type.Boolean({ description: 'not used because a person has said so' }),
  certainty: Certainty,
  by: nullable(
    Type.Enum(['chosen', 'memory', 'name', 'likeness', 'content'], {
      description:
        'what it rests on. chosen: it came with this request; likeness and content: a proposal, which is used where it comes with the upload (`proposed`)',
    }),
  ),
  reasons: Reasons,
  alternatives: Type.Array(shape('FieldAlternative', { field: Text, title: Text }), {
    description: 'other fields that it may be, the best first',
  }),
  same_as: nullable(
    Type.Integer({ description: 'the first column with the same header: both are mapped together' }),
  ),
})
export type PreviewColumn = Row<typeof PreviewColumn>

export const PreviewField = shape('PreviewField', {
  field: Text,
  title: Text,
  type: Text,
  required: Type.Boolean(),
  expected: Type.Boolean({
    description: 'a file without it is refused, unless somebody says that it has none (`without`)',
  }),
  column: nullable(Type.Integer({ description: 'that it comes from, with all proposals; null: none' })),
  from: nullable(
    Type.Enum(['join', 'compute', 'default', 'period'], {
      description: 'where it comes from, if not from a column of its own',
    }),
  ),
  missing: Type.Boolean({ description: 'the file is refused without it' }),
})
export type PreviewField = Row<typeof PreviewField>

const UnknownValue = shape('UnknownValue', {
  value: Type.String({ description: 'as the file has it' }),
  lines: Type.Integer(),
  proposal: nullable(Type.String({ description: 'the known value that is most like it' })),
})
export type UnknownValue = Row<typeof UnknownValue>

export const PreviewValues = shape('PreviewValues', {
  field: Text,
  title: Text,
  header: Text,
  choices: Type.Array(Text, { description: 'what a value may mean; empty where there are too many' }),
  unknown: Type.Array(UnknownValue),
  more: Type.Integer({ description: 'unknown values that are not listed' }),
  severity: Type.Enum(['error', 'warning'], { description: 'error: lines with such a value are invalid' }),
})
export type PreviewValues = Row<typeof PreviewValues>

const PreviewStyle = shape('PreviewStyle', {
  found: Type.Enum(['dot', 'comma', 'dmy', 'mdy', 'mixed', 'unknown'], {
    description:
      'dot, comma: the decimal sign; dmy, mdy: what comes first. unknown, mixed: a value that reads two ways is an error, never a guess',
  }),
  by: nullable(
    Type.Enum(['chosen', 'file', 'remembered'], {
      description: 'who says so: a person, values of the file, or a person for an earlier file of this shape',
    }),
  ),
  proof: nullable(Type.String({ description: 'a value that only this style can have written' })),
  ambiguous: Type.Integer({ description: 'lines with a value that reads two ways' }),
  examples: Type.Array(Text, { description: 'such values, at most three' }),
  columns: Type.Array(Text, { description: 'the columns that have such values' }),
})
export type PreviewStyle = Row<typeof PreviewStyle>

const PreviewFile = shape(
  'PreviewFile',
  {
    delimiter: nullable(Type.String({ description: 'null: the format has none' })),
    sheet: nullable(Type.String({ description: 'of a workbook: the one that was read' })),
    sheets: Type.Array(Text, { description: 'of a workbook: all of them' }),
    above_header: Type.Array(shape('LineAbove', { line: Type.Integer(), text: Text }), {
      description: 'titles and dates',
    }),
    first_lines: Type.Array(shape('FirstLine', { line: Type.Integer(), cells: Type.Array(TextOrNull) }), {
      description: 'as they are read, at most five; long cells are cut',
    }),
    decimal: PreviewStyle,
    dates: PreviewStyle,
    recalled: nullable(
      shape(
        'RecalledOptions',
        {
          shape: Digest,
          upload_id: UuidOrNull,
          change: nullable(Type.Integer({ description: 'number of the change that they were chosen for' })),
          options: Type.Array(Type.Enum(['encoding', 'delimiter', 'header_line', 'decimal', 'dates']), {
            description: 'those that are used',
          }),
          notes: Type.Array(Text, { description: 'where the file shows something else, which is used' }),
        },
        { description: 'options that the same person chose for an earlier file with these columns' },
      ),
    ),
  },
  { description: 'how the file is written, as far as it was looked at' },
)

export const MappingPreview = shape('MappingPreview', {
  dataset: Text,
  platform: Text,
  format: Text,
  encoding: Text,
  file: PreviewFile,
  header_line: Type.Integer(),
  lines: Type.Integer(),
  sampled: Type.Integer({ description: 'lines that the examples and proposals rest on' }),
  columns: Type.Array(PreviewColumn),
  fields: Type.Array(PreviewField),
  values: Type.Array(PreviewValues, {
    description: 'values that a field with a list of values does not know',
  }),
  proposed: Type.Record(Text, Text, {
    description:
      'header → field, of the proposals: with them as `headers` of the upload the file is read as shown',
  }),
  complete: Type.Boolean({
    description:
      'nothing has to be asked: everything is sure, no field is missing, and no value makes a line invalid',
  }),
})
export type MappingPreview = Row<typeof MappingPreview>

export const DatasetMatch = shape('DatasetMatch', {
  dataset: Text,
  title: Text,
  platforms: Type.Array(Text, { description: 'those whose headers fit best' }),
  fit: Type.Enum(['sure', 'likely', 'no'], {
    description:
      'sure: its headers are known and nothing is missing; likely: so it is if every proposal is confirmed; no: something is missing',
  }),
  used: Type.Integer({ description: 'fields that a column of the file fills, with all proposals' }),
  known: Type.Integer({ description: 'of them, those whose header is known by name or remembered' }),
  missing: Type.Array(Text, { description: 'titles of fields without which the file is refused' }),
})
export type DatasetMatch = Row<typeof DatasetMatch>

export const DatasetMatches = shape('DatasetMatches', {
  columns: Type.Integer({ description: 'of the file' }),
  best: nullable(
    Type.String({ description: 'the dataset that the file is of; null: none fits, or several fit as well' }),
  ),
  matches: Type.Array(DatasetMatch, { description: 'all datasets of the workspace, the best first' }),
})
export type DatasetMatches = Row<typeof DatasetMatches>

export const DatasetSummary = shape('Dataset', {
  dataset: Text,
  title: Text,
  version: Type.Integer(),
  approval_required: Type.Boolean(),
  undo_window: Type.String({ examples: ['30 days'] }),
  workspace_id: UuidOrNull,
  platforms: Type.Array(shape('Platform', { platform: Text, title: Text })),
  row_types: Type.Array(
    shape('RowType', {
      row_type: Text,
      target: Text,
      key: Type.Array(Text, {
        description: 'the columns that tell its rows apart, without that of the workspace',
      }),
    }),
  ),
  has_clients: Type.Boolean(),
  takes: Type.Enum(['files', 'statements'], {
    description: 'statements: its table is open to pull requests in SQL',
  }),
})
