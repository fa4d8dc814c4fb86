/**
 * Analyses a proposed statement with PostgreSQL itself: as the body of a function that is never called, in a transaction that is rolled
 * back. The tree that PostgreSQL makes of it names every table, column, function and operator by its number, so no search path, quoting
 * or comment changes what is checked. What a statement can do at all is limited by the rights of the login (proposal-tables.sql); the
 * analysis says early and clearly what is refused, and keeps out what every login may call.
 */

import { StagedoorError } from '../../kernel/errors.ts'
import type { Client } from '../../kernel/postgres/connection.ts'
import { refusedRoutines, refusedTypes } from './functions.ts'
import { readNodeTree, TreeNode, walk } from './node-tree.ts'

export const MAX_STATEMENT_LENGTH = 20_000

/** A table on which the caller may propose (fn_proposal_admit). */
export interface OpenTable {
  readonly relid: number
  /** schema.table, quoted where it must be. */
  readonly target: string
  readonly dataset: string
  readonly operations: readonly RowOperation[]
  /** That a statement may set; null: all but the key. */
  readonly columns: readonly string[] | null
  readonly key: readonly string[]
  readonly maxRows: number
  /** Whether the login stagedoor_proposer has rights on it. */
  readonly isReady: boolean
  /** In the order of the table. */
  readonly names: readonly {
    readonly name: string
    readonly number: number
    readonly type: string
    readonly hasDefault: boolean
  }[]
  /** Columns that foreign keys of other tables follow when they change. */
  readonly referenced: readonly string[]
  /** Triggers that these operations fire. */
  readonly triggers: readonly string[]
  readonly triggersAllowed: boolean
}

export type RowOperation = 'insert' | 'update' | 'delete'
export type Operation = RowOperation | 'merge'

export interface AnalysedStatement {
  readonly operation: Operation
  readonly table: OpenTable
  /** Columns that defaults fill where the statement inserts. */
  readonly defaults: readonly string[]
}

/** Without the semicolon at its end. Refuses what cannot be a statement at all. */
export function tidyStatement(given: string): string {
  const statement = given.replace(/[\s;]+$/, '').replace(/^\s+/, '')
  if (statement === '' || statement.includes('\0'))
    throw new StagedoorError('argument_invalid', { reason: 'There is no statement to propose' })
  if (statement.length > MAX_STATEMENT_LENGTH) {
    const reason = `The statement has ${statement.length} characters; a proposal has at most ${MAX_STATEMENT_LENGTH}`
    throw new StagedoorError('argument_invalid', { reason })
  }
  return statement
}

const HEAD = 'create function pg_temp.stagedoor_proposal() returns void language sql begin atomic\n'

/** `client` is a session of the login stagedoor_proposer in a transaction that will be rolled back. */
export async function analyseStatement(
  client: Client,
  statement: string,
  tables: readonly OpenTable[],
): Promise<AnalysedStatement> {
  const query = await parse(client, statement)
  const operation = operationOf(query)
  const nodes = [...walk(query)]
  refuseNodes(query, nodes)
  const used = nodes.filter(({ label }) => label === 'RANGETBLENTRY').map((entry) => entry.number('relid'))
  const target = query.nodes('rtable')[query.number('resultRelation') - 1]?.number('relid')
  await refuseTables(client, used, target, tables)
  await refuseCalls(client, nodes)
  await refuseTypes(client, nodes, used)
  const table = tables.find(({ relid }) => relid === target)!
  if (table.triggers.length > 0 && !table.triggersAllowed)
    throw refused(
      `triggers or functions of ${table.target} would run (${table.triggers.join(', ')}), and nobody has allowed that`,
      'An administrator looks at what they do and opens the table with --allow-triggers.',
    )
  const writes = writesOf(query, operation)
  for (const write of writes) refuseWrite(table, write)
  return { operation, table, defaults: defaultsOf(table, writes) }
}

/** Extended protocol: PostgreSQL refuses several commands in one message before it runs any of them. */
async function parse(client: Client, statement: string): Promise<TreeNode> {
  // biome-ignore lint/suspicious/noExplicitAny: queryMode is not in the driver's types
  const body: any = { text: `${HEAD}${statement}\n;end`, queryMode: 'extended' }
  await client.query(body).catch((error: unknown) => {
    throw isOtherCommand(error) ? notRows() : atPlace(error, statement)
  })
  const { rows } = await client.query<{ tree: string }>(
    `select p.prosqlbody::pg_catalog.text as tree from pg_catalog.pg_proc p
      where p.proname = 'stagedoor_proposal' and p.pronamespace = pg_catalog.pg_my_temp_schema()`,
  )
  const tree = readNodeTree(rows[0]!.tree)
  // ((query)): the statements of the body.
  const statements = [...queriesOf(tree)]
  if (statements.length !== 1) throw refused('it is not one statement but several', 'Propose each by itself.')
  return statements[0]!
}

function* queriesOf(tree: ReturnType<typeof readNodeTree>): Generator<TreeNode> {
  if (tree instanceof TreeNode) yield tree
  else if (typeof tree !== 'string') for (const one of tree) yield* queriesOf(one)
}

const COMMANDS: Readonly<Record<number, Operation>> = { 2: 'update', 3: 'insert', 4: 'delete', 5: 'merge' }
const SELECT = 1

function operationOf(query: TreeNode): Operation {
  const operation = query.label === 'QUERY' ? COMMANDS[query.number('commandType')] : undefined
  if (operation === undefined) throw notRows()
  return operation
}

const notRows = () =>
  refused(
    'it is no INSERT, UPDATE, DELETE or MERGE',
    'Only changes of rows are proposed, one statement at a time.',
  )

/** PostgreSQL takes no CREATE, DROP, VACUUM and so on into the body of a function. By its routine: the message may be in any language. */
function isOtherCommand(error: unknown): boolean {
  const { code, routine } = error as { code?: string; routine?: string }
  return code === '0A000' && routine === 'interpret_AS_clause'
}

/** What a tree may consist of. Whatever PostgreSQL adds is refused until it is known here. The later names are those of newer versions. */
const ALLOWED_NODES = new Set(
  `QUERY RANGETBLENTRY RTEPERMISSIONINFO PERMISSIONINFO RANGETBLFUNCTION RANGETBLREF JOINEXPR FROMEXPR TARGETENTRY VAR CONST
   FUNCEXPR NAMEDARGEXPR OPEXPR DISTINCTEXPR NULLIFEXPR SCALARARRAYOPEXPR BOOLEXPR SUBLINK AGGREF GROUPINGFUNC GROUPINGSET
   WINDOWFUNC WINDOWCLAUSE SUBSCRIPTINGREF FIELDSELECT FIELDSTORE RELABELTYPE COERCEVIAIO ARRAYCOERCEEXPR CONVERTROWTYPEEXPR
   COLLATE COLLATEEXPR CASE CASEEXPR WHEN CASEWHEN CASETESTEXPR ARRAY ARRAYEXPR ROW ROWEXPR ROWCOMPARE ROWCOMPAREEXPR
   COALESCE COALESCEEXPR MINMAX MINMAXEXPR SQLVALUEFUNCTION NULLTEST BOOLEANTEST COERCETODOMAIN SETTODEFAULT ALIAS
   SORTGROUPCLAUSE SETOPERATIONSTMT COMMONTABLEEXPR CTECYCLECLAUSE CTESEARCHCLAUSE ONCONFLICTEXPR INFERENCEELEM MERGEACTION
   JSONCONSTRUCTOREXPR JSONVALUEEXPR JSONFORMAT JSONRETURNING JSONISPREDICATE JSONEXPR JSONBEHAVIOR`.split(
    /\s+/,
  ),
)

const NODE_NAMES: Readonly<Record<string, string>> = {
  CURRENTOFEXPR: 'WHERE CURRENT OF a cursor',
  ROWMARKCLAUSE: 'FOR UPDATE or FOR SHARE',
  TABLESAMPLECLAUSE: 'TABLESAMPLE',
  TABLEFUNC: 'XMLTABLE or JSON_TABLE',
}

/** CURRENT_ROLE and the like: its value would be that of our login. Dates and times come first in the server's list. */
const LAST_TIME_VALUE = 8

function refuseNodes(query: TreeNode, nodes: readonly TreeNode[]): void {
  if (query.list('returningList').length > 0)
    throw refused('it has RETURNING', 'Leave RETURNING out: the plan shows old and new values of every row.')
  for (const node of nodes) {
    const { label } = node
    if (label === 'QUERY' && node !== query && node.number('commandType') !== SELECT)
      throw refused('a part of it (WITH) writes as well', 'Propose each change by itself.')
    if (!ALLOWED_NODES.has(label))
      throw refused(`it uses ${NODE_NAMES[label] ?? label.toLowerCase()}`, 'Write it without.')
    if (label === 'SQLVALUEFUNCTION' && node.number('op') > LAST_TIME_VALUE)
      throw refused('it asks who is logged in or where', 'Write the value itself.')
  }
}

async function refuseTables(
  client: Client,
  used: readonly number[],
  target: number | undefined,
  tables: readonly OpenTable[],
): Promise<void> {
  const closed = used.filter((relid) => relid > 0 && !tables.some((table) => table.relid === relid))
  if (closed.length > 0 || target === undefined) {
    const { rows } = await client.query<{ name: string }>(
      `select distinct pg_catalog.format('%s.%s', n.nspname, c.relname) as name
         from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = any ($1::pg_catalog.oid[]) order by 1`,
      [closed],
    )
    throw new StagedoorError('proposal_table_closed', { table: rows.map(({ name }) => name).join(', ') })
  }
  const unready = tables.find(({ relid, isReady }) => used.includes(relid) && !isReady)
  if (unready !== undefined) throw notReady(unready.target)
}

function notReady(table: string): StagedoorError {
  return new StagedoorError(
    'proposal_login_missing',
    { reason: `it has no rights on ${table}` },
    { hint: 'An administrator runs what `stagedoor proposal setup` prints.' },
  )
}

const FUNCTION_FIELDS = ['funcid', 'aggfnoid', 'winfnoid', 'startInRangeFunc', 'endInRangeFunc']
const OPERATOR_FIELDS = ['opno', 'eqop', 'sortop', 'opnos']
const FUNCTION_CALL = 0

async function refuseCalls(client: Client, nodes: readonly TreeNode[]): Promise<void> {
  const functions = new Set<number>()
  const casts = new Set<number>()
  const operators = new Set<number>()
  for (const node of nodes) {
    const isCast = node.label === 'FUNCEXPR' && [1, 2].includes(node.number('funcformat'))
    for (const [field, values] of node.entries()) {
      const kind = FUNCTION_FIELDS.includes(field)
        ? isCast
          ? casts
          : functions
        : OPERATOR_FIELDS.includes(field)
          ? operators
          : undefined
      for (const word of values.flat(3))
        if (typeof word === 'string' && Number(word) > FUNCTION_CALL) kind?.add(Number(word))
    }
  }
  const names = await refusedRoutines(client, {
    functions: [...functions],
    casts: [...casts],
    operators: [...operators],
  })
  if (names.length === 0) return
  throw refused(
    `it calls ${names.join(', ')}, which proposals may not`,
    'Functions of PostgreSQL without effects are allowed, others are not: write the value or the expression itself.',
  )
}

const TYPE_FIELD = /type|typid/i

/** Fields whose name says that they hold a type hold its number; other numbers there are too small to be one that is refused. */
async function refuseTypes(
  client: Client,
  nodes: readonly TreeNode[],
  tables: readonly number[],
): Promise<void> {
  const types = new Set<number>()
  for (const node of nodes)
    for (const [field, values] of node.entries())
      if (TYPE_FIELD.test(field))
        for (const word of values.flat(3))
          if (typeof word === 'string' && Number(word) > 0) types.add(Number(word))
  const names = await refusedTypes(client, { types: [...types], tables })
  if (names.length === 0) return
  throw refused(
    `it has a value of the type ${names.join(', ')}, which proposals may not`,
    'Types that show the catalogue, or whose casts or checks call functions that somebody has created, stay out: write the value as a text or a number.',
  )
}

interface Write {
  readonly operation: RowOperation
  /** Numbers of the columns that it sets. */
  readonly columns: readonly number[]
}

const DO_UPDATE = 2

function writesOf(query: TreeNode, operation: Operation): Write[] {
  if (operation === 'merge') {
    return query.nodes('mergeActionList').flatMap((action) => {
      const done = COMMANDS[action.number('commandType')]
      return done === undefined || done === 'merge'
        ? []
        : [{ operation: done, columns: setColumns(action.nodes('targetList')) }]
    })
  }
  const writes: Write[] = [{ operation, columns: setColumns(query.nodes('targetList')) }]
  const conflict = query.node('onConflict')
  if (conflict?.number('action') === DO_UPDATE)
    writes.push({ operation: 'update', columns: setColumns(conflict.nodes('onConflictSet')) })
  return writes
}

function setColumns(entries: readonly TreeNode[]): number[] {
  return entries.filter((entry) => entry.word('resjunk') !== 'true').map((entry) => entry.number('resno'))
}

function refuseWrite(table: OpenTable, { operation, columns }: Write): void {
  const { target, operations, key, referenced, names } = table
  if (!operations.includes(operation))
    throw refused(
      `${target} is open to ${operations.join(', ')}, not to ${operation}`,
      `An administrator opens it: \`stagedoor proposal open ${target} --operations ${[...operations, operation].join(',')}\`.`,
    )
  if (operation === 'delete') return
  const set = columns.map(
    (number) => names.find((column) => column.number === number)?.name ?? String(number),
  )
  if (operation === 'update') {
    const inKey = set.find((name) => key.includes(name))
    if (inKey !== undefined)
      throw refused(
        `it sets ${inKey}, which is the key of ${target}`,
        'A row keeps its key. Where it has to change, delete the row and insert another one.',
      )
    const followed = set.find((name) => referenced.includes(name))
    if (followed !== undefined)
      throw refused(
        `it sets ${followed}, and rows of other tables would change with it (on update)`,
        'Leave it as it is, or change it outside of a proposal.',
      )
  }
  if (table.columns === null) return
  const closed = set.filter(
    (name) => !table.columns!.includes(name) && !(operation === 'insert' && key.includes(name)),
  )
  if (closed.length > 0)
    throw refused(
      `it sets ${closed.join(', ')}; open of ${target} are ${table.columns.join(', ')}`,
      'An administrator opens further columns: `stagedoor proposal open … --columns`.',
    )
}

function defaultsOf({ names }: OpenTable, writes: readonly Write[]): string[] {
  const inserts = writes.filter(({ operation }) => operation === 'insert')
  return names
    .filter(
      ({ number, hasDefault }) => hasDefault && inserts.some(({ columns }) => !columns.includes(number)),
    )
    .map(({ name }) => name)
}

export function refused(reason: string, hint?: string): StagedoorError {
  return new StagedoorError('proposal_refused', { reason }, hint === undefined ? {} : { hint })
}

/** The place that PostgreSQL names, in the statement as it was given. */
function atPlace(error: unknown, statement: string): unknown {
  const place = Number((error as { position?: string }).position) - HEAD.length
  if (!(error instanceof Error) || Number.isNaN(place) || place < 1) return error
  // Behind its end stands our own text.
  if (place > statement.length) {
    error.message = `${error.message.replace(/ at or near ".*$/, '')} at its end`
    return error
  }
  const lines = statement.slice(0, place - 1).split('\n')
  error.message = `${error.message} (line ${lines.length}, character ${lines.at(-1)!.length + 1})`
  return error
}
