/**
 * The one catalogue of errors. SQL raises the SQLSTATE, `db/` maps it once, HTTP answers problem+json with
 * the status, the CLI prints message and hint and exits with the exit code. Nothing matches on message text.
 *
 * Exit codes: 1 unexpected · 2 bad input · 3 configuration · 4 database · 5 refused · 6 conflict ·
 * 7 drift · 8 not found · 9 environment of the machine (port, folder, program).
 */
interface ErrorSpec {
  /** SQLSTATEs that mean this error; ours are of class SD. */
  readonly sqlstates?: readonly string[]
  readonly status: number
  readonly exit: number
  /** True where the same call may succeed later without a change. */
  readonly retryable: boolean
  /** `{name}` is filled from the details. */
  readonly message: string
  readonly hint: string
}

export const CATALOGUE = {
  internal: {
    status: 500,
    exit: 1,
    retryable: false,
    message: 'Something went wrong inside Stagedoor: {reason}',
    hint: 'This is a bug. Please report it with the request id or the output of the same command with LOG_LEVEL=debug.',
  },
  argument_invalid: {
    sqlstates: ['SD001'],
    status: 400,
    exit: 2,
    retryable: false,
    message: '{reason}',
    hint: 'Correct the argument and try again; --help lists what a command takes.',
  },
  append_only: {
    sqlstates: ['SD002'],
    status: 409,
    exit: 6,
    retryable: false,
    message: '{table} only grows: {operation} is refused',
    hint: 'Write a new row that says what is true now.',
  },
  config_invalid: {
    status: 500,
    exit: 3,
    retryable: false,
    message: '{setting} is set to {value}, but {reason}',
    hint: '`stagedoor config` prints every setting, its value and where it came from.',
  },
  config_unknown: {
    status: 500,
    exit: 3,
    retryable: false,
    message: '{setting} is not a setting of Stagedoor{suggestion}',
    hint: 'Unset it, or see `stagedoor config` for the settings there are.',
  },
  database_unreachable: {
    status: 503,
    exit: 4,
    retryable: true,
    message: 'No PostgreSQL server answers at {target}: {reason}',
    hint: 'Check that the server runs and that DATABASE_URL names its host and port; unset DATABASE_URL to use the embedded server.',
  },
  database_login_refused: {
    sqlstates: ['28P01', '28000', '3D000'],
    status: 503,
    exit: 4,
    retryable: false,
    message: 'The server at {target} refused the login: {reason}',
    hint: 'Check user, password and database name in DATABASE_URL.',
  },
  postgres_too_old: {
    status: 503,
    exit: 4,
    retryable: false,
    message: 'The server at {target} is PostgreSQL {version}; Stagedoor needs 15 or newer',
    hint: 'Upgrade the server, or unset DATABASE_URL to use the embedded PostgreSQL 18.',
  },
  roles_missing: {
    status: 503,
    exit: 5,
    retryable: false,
    message: 'The login {login} may not create these roles or memberships: {roles}',
    hint: 'Ask an administrator to run the statements below once, then run `stagedoor migrate` again.',
  },
  foreign_object: {
    status: 409,
    exit: 6,
    retryable: false,
    message: '{object} exists already and is not ours',
    hint: 'Stagedoor never takes over an object that it did not create. Rename or drop it, or use another database.',
  },
  migration_edited: {
    status: 409,
    exit: 6,
    retryable: false,
    message: 'Migration {migration} was changed after it had been applied to this database',
    hint: 'Applied migrations are frozen. Restore the file, and put the change into a new migration.',
  },
  migration_unknown: {
    status: 409,
    exit: 6,
    retryable: false,
    message: 'This database has migration {migration}, which this version of Stagedoor does not know',
    hint: 'The database was migrated by a newer version. Upgrade this installation.',
  },
  migration_failed: {
    status: 500,
    exit: 4,
    retryable: false,
    message: '{file} could not be applied: {reason}',
    hint: 'Nothing of this file was kept. The database is as it was after the file before it.',
  },
  migrations_pending: {
    status: 503,
    exit: 4,
    retryable: true,
    message: 'This database is not migrated to this version of Stagedoor: {pending}',
    hint: 'See what would change with `stagedoor migrate --plan`, then run `stagedoor migrate`.',
  },
  api_login_wrong: {
    status: 503,
    exit: 3,
    retryable: false,
    message:
      'DATABASE_URL logs in as {login}; the API must log in as stagedoor_api, a role that can do nothing by itself',
    hint: 'Run `stagedoor login` (with DATABASE_URL as it is now) for a DATABASE_URL to use; keep the present one as DATABASE_DIRECT_URL.',
  },
  drift: {
    status: 409,
    exit: 7,
    retryable: false,
    message: 'The database differs from what this version expects in {count} places',
    hint: 'Each difference above says how to mend it.',
  },
  port_in_use: {
    status: 500,
    exit: 9,
    retryable: true,
    message: 'Port {port} on {host} is in use by another program',
    hint: 'Stop that program, or choose another port: PORT=4681 npm start',
  },
  home_not_writable: {
    status: 500,
    exit: 9,
    retryable: false,
    message: 'The folder {home} cannot be written: {reason}',
    hint: 'Give this user the right to write there, or choose another folder with STAGEDOOR_HOME.',
  },
  home_in_use: {
    status: 409,
    exit: 9,
    retryable: true,
    message: 'Another Stagedoor (process {pid}) runs on the folder {home}',
    hint: 'Use that one, stop it first, or choose another folder with STAGEDOOR_HOME.',
  },
  home_incomplete: {
    status: 500,
    exit: 9,
    retryable: false,
    message: 'The folder {home} was only partly set up: {reason}',
    hint: 'It holds no complete database. Move it away (or delete it, if nothing in it matters) and start again.',
  },
  embedded_start_failed: {
    status: 500,
    exit: 9,
    retryable: false,
    message: 'The embedded PostgreSQL did not start: {reason}',
    hint: 'The last lines of its log are above; the whole log is in {log}.',
  },
  embedded_unsupported: {
    status: 500,
    exit: 9,
    retryable: false,
    message: 'There is no embedded PostgreSQL for {platform}',
    hint: 'Set DATABASE_URL to a PostgreSQL server, version 15 or newer.',
  },
  gate_closed: {
    sqlstates: ['SD101'],
    status: 409,
    exit: 5,
    retryable: false,
    message: 'The gate {gate} is closed',
    hint: 'An administrator opens it with `stagedoor gate open {gate}`.',
  },
  gate_unknown: {
    sqlstates: ['SD102'],
    status: 404,
    exit: 8,
    retryable: false,
    message: 'There is no gate called {gate}',
    hint: '`stagedoor gate list` shows the gates.',
  },
  unauthenticated: {
    status: 401,
    exit: 5,
    retryable: false,
    message: 'This needs a token',
    hint: 'Send `Authorization: Bearer <token>`; on the embedded default `stagedoor token` prints one.',
  },
  token_invalid: {
    sqlstates: ['SD204'],
    status: 401,
    exit: 5,
    retryable: false,
    message: 'The token is not valid: {reason}',
    hint: 'Get a new one: on the embedded default with `stagedoor token`, otherwise from your identity provider.',
  },
  not_member: {
    sqlstates: ['SD201'],
    status: 403,
    exit: 5,
    retryable: false,
    message: '{actor} is not a member of the workspace {workspace}',
    hint: 'An administrator of the workspace can add the member.',
  },
  right_missing: {
    sqlstates: ['SD202'],
    status: 403,
    exit: 5,
    retryable: false,
    message: '{actor} is {role} in the workspace, which does not include the right to {right}',
    hint: 'Ask someone with that right, or an administrator for another role.',
  },
  actor_forged: {
    sqlstates: ['SD203'],
    status: 403,
    exit: 5,
    retryable: false,
    message: '{actor} cannot act as {named}',
    hint: 'Leave the actor out: it is always the one who is signed in. Only service_role may name another.',
  },
  permission_denied: {
    sqlstates: ['42501'],
    status: 403,
    exit: 5,
    retryable: false,
    message: 'The database refused this: {reason}',
    hint: 'The role that you act under has no right to it.',
  },
  event_unknown: {
    sqlstates: ['SD301'],
    status: 400,
    exit: 2,
    retryable: false,
    message: '{event} is not in the event vocabulary',
    hint: 'Types are added by migration; the table iu_core.event_vocabulary lists them.',
  },
  event_payload_unsafe: {
    sqlstates: ['SD302'],
    status: 400,
    exit: 2,
    retryable: false,
    message: 'An event carries references only, but {reason}',
    hint: 'Put the data where it belongs and its id into the event.',
  },
  reader_unknown: {
    sqlstates: ['SD303'],
    status: 404,
    exit: 8,
    retryable: false,
    message: 'There is no event reader called {reader}',
    hint: 'Register it with iu_core.fn_event_reader_register.',
  },
  event_partition_missing: {
    sqlstates: ['SD304'],
    status: 503,
    exit: 4,
    retryable: true,
    message: 'The event outbox has no partition for today',
    hint: 'Run `stagedoor doctor`; `SELECT iu_core.fn_event_partitions_maintain()` creates the missing ones.',
  },
  run_ended: {
    sqlstates: ['SD401'],
    status: 409,
    exit: 6,
    retryable: false,
    message: 'Run {run} is not running',
    hint: 'A run ends once; start a new one.',
  },
  not_found: {
    status: 404,
    exit: 8,
    retryable: false,
    message: 'There is no {what}',
    hint: 'The API reference at /api/docs lists what there is.',
  },
  request_invalid: {
    status: 400,
    exit: 2,
    retryable: false,
    message: 'The request is not valid: {reason}',
    hint: 'The API reference at /api/docs shows what this call takes.',
  },
  body_too_large: {
    status: 413,
    exit: 2,
    retryable: false,
    message: 'The request body is larger than {limit} bytes',
    hint: 'Send less at once.',
  },
  rate_limited: {
    status: 429,
    exit: 5,
    retryable: true,
    message: 'Too many requests; try again in {seconds} s',
    hint: 'The Retry-After header says when.',
  },
  conflict_retry: {
    sqlstates: ['40001', '40P01', '55P03'],
    status: 409,
    exit: 6,
    retryable: true,
    message: 'Another transaction was in the way: {reason}',
    hint: 'Nothing was changed. Try again.',
  },
  timed_out: {
    sqlstates: ['57014'],
    status: 503,
    exit: 4,
    retryable: true,
    message: 'The database did not finish in time: {reason}',
    hint: 'Nothing was changed. Try again, or with less at once.',
  },
} as const satisfies Record<string, ErrorSpec>

export type ErrorCode = keyof typeof CATALOGUE
export type ErrorDetails = Record<string, string | number | boolean | null | readonly string[]>

const specs: Record<ErrorCode, ErrorSpec> = CATALOGUE

interface ErrorOptions {
  cause?: unknown
  /** Replaces the catalogue's text, for errors whose words come from the database. */
  message?: string
  hint?: string
}

/** An error that a person can act on. Everything that leaves a module is one, or it is a bug. */
export class StagedoorError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  readonly hint: string
  readonly status: number
  readonly exitCode: number
  readonly retryable: boolean

  constructor(code: ErrorCode, details: ErrorDetails = {}, options: ErrorOptions = {}) {
    const spec = specs[code]
    super(options.message ?? fill(spec.message, details), { cause: options.cause })
    this.name = 'StagedoorError'
    this.code = code
    this.details = details
    this.hint = options.hint ?? fill(spec.hint, details)
    this.status = spec.status
    this.exitCode = spec.exit
    this.retryable = spec.retryable
  }
}

const bySqlstate = new Map<string, ErrorCode>(
  (Object.keys(specs) as ErrorCode[]).flatMap((code) =>
    (specs[code].sqlstates ?? []).map((sqlstate) => [sqlstate, code] as const),
  ),
)

export function codeOfSqlstate(sqlstate: string): ErrorCode | undefined {
  return bySqlstate.get(sqlstate)
}

/** What is thrown may be anything; from here on it is a StagedoorError. */
export function asStagedoorError(thrown: unknown): StagedoorError {
  if (thrown instanceof StagedoorError) return thrown
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return new StagedoorError('internal', { reason }, { cause: thrown })
}

function fill(template: string, details: ErrorDetails): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = details[name]
    return value === undefined || value === null ? '' : String(value)
  })
}
