/** For each difference that doctor finds: the SQL statement or the command that repairs it. */
import type { SqlFiles } from '../migrate/files.ts'
import { type Entry, OWNER } from './compare.ts'

/** The keyword of SQL for each kind of object; `routine` covers functions and procedures. */
const KEYWORD: Partial<Record<string, string>> = { function: 'routine' }

export class Remedies {
  readonly #files: SqlFiles

  constructor(files: SqlFiles) {
    this.#files = files
  }

  missing(entry: Entry): string {
    const { kind, name } = entry
    const table = tableOf(entry)
    switch (kind) {
      case 'schema':
        return `create schema ${name} authorization ${OWNER};`
      case 'column':
        return `alter table ${table} add column ${name} ${columnDefinition(entry)};`
      case 'constraint':
        return `alter table ${table} add constraint ${name} ${text(entry, 'definition')};`
      case 'index':
        return createIndex(entry)
      case 'trigger':
        return `${text(entry, 'definition')};`
      case 'policy':
        return createPolicy(entry)
      default:
        return this.#again(entry)
    }
  }

  unexpected(entry: Entry): string {
    const { kind, name } = entry
    const table = tableOf(entry)
    switch (kind) {
      case 'column':
        return `alter table ${table} drop column ${name}; -- its values are lost: copy them first if anybody needs them`
      case 'constraint':
        return `alter table ${table} drop constraint ${name};`
      case 'index':
        return `drop index ${name};`
      case 'policy':
      case 'trigger':
        return `drop ${kind} ${name} on ${table};`
      default: {
        const keyword = keywordOf(entry)
        return `drop ${keyword} ${name}; -- or keep it elsewhere: alter ${keyword} ${name} set schema …`
      }
    }
  }

  owner(entry: Entry): string {
    return `alter ${keywordOf(entry)} ${entry.name} owner to ${OWNER};`
  }

  /** `expected` has another value of this attribute than the database. */
  drifted(expected: Entry, attribute: string): string {
    const table = tableOf(expected)
    const { name } = expected
    switch (`${expected.kind} ${attribute}`) {
      case 'table rls':
        return `alter table ${name} ${expected.attributes.rls ? 'enable' : 'disable'} row level security;`
      case 'table forcedRls':
        return `alter table ${name} ${expected.attributes.forcedRls ? '' : 'no '}force row level security;`
      case 'table unlogged':
        return `alter table ${name} set ${expected.attributes.unlogged ? 'unlogged' : 'logged'};`
      case 'column type':
        return `alter table ${table} alter column ${name} type ${text(expected, 'type')};`
      case 'column notNull':
        return `alter table ${table} alter column ${name} ${expected.attributes.notNull ? 'set' : 'drop'} not null;`
      case 'column default':
        return expected.attributes.default === undefined
          ? `alter table ${table} alter column ${name} drop default;`
          : `alter table ${table} alter column ${name} set default ${text(expected, 'default')};`
      case 'constraint definition':
        return `alter table ${table} drop constraint ${name}, add constraint ${name} ${text(expected, 'definition')};`
      case 'constraint disabled':
        return `alter table ${table} enable trigger all; -- as a superuser`
      case 'index definition':
        return `drop index ${name}; ${createIndex(expected)}`
      case 'trigger definition':
        return `drop trigger ${name} on ${table}; ${text(expected, 'definition')};`
      case 'trigger fires':
        return `alter table ${table} ${enableTrigger(expected)} ${name};`
      case 'view options':
        return `alter view ${name} set (${list(expected, 'options').join(', ')});`
      default:
        return expected.kind === 'policy'
          ? `drop policy ${name} on ${table}; ${createPolicy(expected)}`
          : this.#again(expected)
    }
  }

  /** `migrate` creates routines and views again from their files. It does not create again what a migration created. */
  #again(entry: Entry): string {
    const bare = entry.name.replace(/\(.*$/s, '')
    const routine = this.#files.routines.find((file) => `${file.schema}.${file.name}` === bare)
    if (routine) return `stagedoor migrate (it applies sql/${routine.file} again)`
    const head = new RegExp(
      `create (or replace )?[a-z ]*\\b${bare.replaceAll('.', '\\.')}\\s*(\\(|as\\b|;)`,
      'i',
    )
    const migration = this.#files.migrations.find(({ sql }) => head.test(sql))
    const source = migration ? `sql/migrations/${migration.name}.sql` : 'the migration that made it'
    return entry.kind === 'function'
      ? `Run its statement in ${source} again, as ${OWNER} and with "create or replace".`
      : `Restore it from a backup, or, where its content is not needed, run its statements in ${source} again as ${OWNER}.`
  }
}

/** Up to two statements: privileges with the grant option, and privileges without it. */
export function grantStatements(entry: Entry, privileges: readonly string[]): string {
  const suffix = ' with grant option'
  const plain = privileges.filter((privilege) => !privilege.endsWith(suffix))
  const passedOn = privileges.filter((privilege) => privilege.endsWith(suffix))
  return [
    ...(plain.length > 0 ? [`grant ${plain.join(', ')} on ${grantTarget(entry)} to ${entry.name};`] : []),
    ...(passedOn.length > 0
      ? [
          `grant ${passedOn.map((privilege) => privilege.slice(0, -suffix.length)).join(', ')} on ${grantTarget(entry)} to ${entry.name}${suffix};`,
        ]
      : []),
  ].join(' ')
}

export function revokeStatement(entry: Entry, privileges: readonly string[]): string {
  const plain = privileges.map((privilege) => privilege.replace(/ with grant option$/, ''))
  return `revoke ${plain.join(', ')} on ${grantTarget(entry)} from ${entry.name};`
}

/** The object as GRANT names it: `routine …` for `function iu_core.f(text)`, `table …` for a view. */
function grantTarget(entry: Entry): string {
  return (entry.of ?? '').replace(/^function /, 'routine ').replace(/^view /, 'table ')
}

/** PostgreSQL shows the index of a partitioned table as `ON ONLY`. Created like that, it would lack the indexes of the partitions. */
function createIndex(entry: Entry): string {
  return `${text(entry, 'definition').replace(/ ON ONLY /, ' ON ')};`
}

function createPolicy(entry: Entry): string {
  const { using, check, restrictive } = entry.attributes
  return [
    `create policy ${entry.name} on ${tableOf(entry)}`,
    ...(restrictive ? ['as restrictive'] : []),
    `for ${text(entry, 'command')} to ${list(entry, 'roles').join(', ')}`,
    ...(using ? [`using (${using})`] : []),
    ...(check ? [`with check (${check})`] : []),
  ]
    .join(' ')
    .concat(';')
}

function columnDefinition(entry: Entry): string {
  const { default: initial, generated, identity, notNull } = entry.attributes
  return [
    text(entry, 'type'),
    ...(initial ? [`default ${initial}`] : []),
    ...(generated ? [`generated always as (${generated}) stored`] : []),
    ...(identity ? [`generated ${identity} as identity`] : []),
    ...(notNull ? ['not null'] : []),
  ].join(' ')
}

function enableTrigger(entry: Entry): string {
  const fires = entry.attributes.fires
  if (fires === 'never') return 'disable trigger'
  return fires === 'always' ? 'enable always trigger' : 'enable trigger'
}

function keywordOf(entry: Entry): string {
  if (entry.attributes.materialized) return 'materialized view'
  return KEYWORD[entry.kind] ?? entry.kind
}

function tableOf(entry: Entry): string {
  return (entry.of ?? '').replace(/^\w+ /, '')
}

function text(entry: Entry, attribute: string): string {
  return String(entry.attributes[attribute] ?? '')
}

function list(entry: Entry, attribute: string): readonly string[] {
  const value = entry.attributes[attribute]
  return Array.isArray(value) ? value : []
}
