/**
 * The one place that reads the environment. Everything else is handed a `Config`.
 * An unknown `STAGEDOOR_*` variable is reported, so that a misspelt setting is noticed.
 */
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { StagedoorError } from './errors.ts'
import { editDistance } from './text.ts'

type Source = 'default' | 'environment' | 'flag'

interface Setting<T> {
  readonly env: string
  readonly about: string
  readonly fallback: T
  readonly secret?: 'whole' | 'password'
  parse(value: string): T
}

const setting = <T>(value: Setting<T>): Setting<T> => value

const SETTINGS = {
  port: setting({
    env: 'PORT',
    about: 'port of API and console',
    fallback: 4680,
    parse: integer(0, 65535),
  }),
  host: setting({
    env: 'STAGEDOOR_HOST',
    about: 'address to listen on; 0.0.0.0 opens it to the network',
    fallback: '127.0.0.1',
    parse: text,
  }),
  home: setting({
    env: 'STAGEDOOR_HOME',
    about: 'folder of the embedded server, its secrets and the blobs',
    fallback: '.stagedoor',
    parse: text,
  }),
  demo: setting({
    env: 'STAGEDOOR_DEMO',
    about:
      'whether start loads the demo: on, off, or auto: on the first start of the embedded server, never on your own database',
    fallback: 'auto' as 'auto' | 'on' | 'off',
    parse: oneOf(['auto', 'on', 'off'] as const),
  }),
  embeddedRestartLimit: setting({
    env: 'STAGEDOOR_EMBEDDED_RESTART_LIMIT',
    about:
      'seconds for which an embedded server that ended by itself is started again; then Stagedoor ends with 4',
    fallback: 600,
    parse: integer(0, 86_400),
  }),
  databaseUrl: setting<string | undefined>({
    env: 'DATABASE_URL',
    about: 'your PostgreSQL, as the login stagedoor_api; unset: the embedded server',
    fallback: undefined,
    secret: 'password',
    parse: url(['postgres:', 'postgresql:']),
  }),
  databaseDirectUrl: setting<string | undefined>({
    env: 'DATABASE_DIRECT_URL',
    about: 'the same database without a pooler, for migrate and workers; unset: DATABASE_URL',
    fallback: undefined,
    secret: 'password',
    parse: url(['postgres:', 'postgresql:']),
  }),
  databaseReadUrl: setting<string | undefined>({
    env: 'DATABASE_READ_URL',
    about:
      'a replica of the same database, as the login stagedoor_api: lists and details of the API are read there as soon as it has what the caller wrote; unset: the primary answers everything',
    fallback: undefined,
    secret: 'password',
    parse: url(['postgres:', 'postgresql:']),
  }),
  playbookDatabaseUrl: setting<string | undefined>({
    env: 'PLAYBOOK_DATABASE_URL',
    about:
      'the database in which playbooks run their sql, as the login stagedoor_playbook; unset: they run none',
    fallback: undefined,
    secret: 'password',
    parse: url(['postgres:', 'postgresql:']),
  }),
  proposalDatabaseUrl: setting<string | undefined>({
    env: 'PROPOSAL_DATABASE_URL',
    about:
      'the database in which proposed SQL is worked out, as the login stagedoor_proposer; unset: none can be proposed',
    fallback: undefined,
    secret: 'password',
    parse: url(['postgres:', 'postgresql:']),
  }),
  natsUrl: setting<readonly string[] | undefined>({
    env: 'NATS_URL',
    about:
      'NATS servers, with commas: wake-ups between processes, and calls to workers that have no database; tls:// unless they are on this machine; unset: PostgreSQL alone',
    fallback: undefined,
    secret: 'password',
    parse: natsServers,
  }),
  natsCredentials: setting<string | undefined>({
    env: 'NATS_CREDS',
    about: 'file with the credentials for NATS: a .creds file, or the seed of an NKey',
    fallback: undefined,
    parse: text,
  }),
  natsCa: setting<string | undefined>({
    env: 'NATS_CA',
    about: 'file with the certificates that the NATS servers are checked against; unset: those of the system',
    fallback: undefined,
    parse: text,
  }),
  natsInbox: setting({
    env: 'NATS_INBOX',
    about:
      'prefix of the subjects on which NATS answers this process; give each user its own, so that none reads the answers of others',
    fallback: '_INBOX',
    parse: subjectToken,
  }),
  natsPlaintext: setting({
    env: 'STAGEDOOR_NATS_PLAINTEXT',
    about:
      'allow: nats:// also to other machines, so that calls and their secrets can be read on the network; refuse',
    fallback: 'refuse' as 'refuse' | 'allow',
    parse: oneOf(['refuse', 'allow'] as const),
  }),
  logLevel: setting({
    env: 'LOG_LEVEL',
    about: 'fatal, error, warn, info, debug, trace or silent',
    fallback: 'info' as LogLevel,
    parse: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const),
  }),
  logFormat: setting({
    env: 'STAGEDOOR_LOG_FORMAT',
    about: 'pretty (lines for people), json, or auto: pretty in a terminal, else json',
    fallback: 'auto' as LogFormat,
    parse: oneOf(['auto', 'pretty', 'json'] as const),
  }),
  poolSize: setting({
    env: 'STAGEDOOR_POOL_SIZE',
    about: 'most connections that the API opens',
    fallback: 10,
    parse: integer(2, 1000),
  }),
  workerConcurrency: setting({
    env: 'STAGEDOOR_WORKER_CONCURRENCY',
    about: 'job handlers that run at once in one process',
    fallback: 10,
    parse: integer(1, 1000),
  }),
  workerPool: setting<number | undefined>({
    env: 'STAGEDOOR_WORKER_POOL',
    about:
      'most connections for claims and job handlers; unset: the concurrency and 2 more. Heartbeats and completions have 2 of their own',
    fallback: undefined,
    parse: integer(5, 2000),
  }),
  workerStatementTimeout: setting({
    env: 'STAGEDOOR_WORKER_STATEMENT_TIMEOUT',
    about: 'seconds after which a statement of a job handler is ended; 0: never',
    fallback: 900,
    parse: integer(0, 86_400),
  }),
  handlerGrace: setting({
    env: 'STAGEDOOR_HANDLER_GRACE',
    about:
      'seconds that a step waits for a handler which no running process has before it fails; 0: for ever',
    fallback: 0,
    parse: integer(0, 31_536_000),
  }),
  workerLongRunning: setting({
    env: 'STAGEDOOR_WORKER_LONG_RUNNING',
    about: 'seconds after which a job that still runs is reported in the log and in health',
    fallback: 600,
    parse: integer(1, 86_400),
  }),
  bodyLimit: setting({
    env: 'STAGEDOOR_BODY_LIMIT',
    about: 'largest JSON request body in bytes; where records are staged, 80 MiB',
    fallback: 1_048_576,
    parse: integer(1024, 1_073_741_824),
  }),
  blobLimit: setting({
    env: 'STAGEDOOR_BLOB_LIMIT',
    about: 'largest blob that may be uploaded, in bytes',
    fallback: 2_147_483_648,
    parse: integer(1024, 1_099_511_627_776),
  }),
  store: setting<readonly StorePlace[] | undefined>({
    env: 'STAGEDOOR_STORE',
    about:
      'where blobs and large results are: disk:/folder, pvc:/folder that all machines share, or s3://bucket/prefix; several with commas: the first is written to, all are read; unset: the home',
    fallback: undefined,
    parse: storePlaces,
  }),
  resultsFallback: setting<'db' | undefined>({
    env: 'STAGEDOOR_RESULTS_FALLBACK',
    about:
      'db: a large result that the shared store refuses becomes a row; unset: its step fails and is retried',
    fallback: undefined,
    parse: oneOf(['db'] as const),
  }),
  cell: setting({
    env: 'STAGEDOOR_CELL',
    about: 'name of this installation in a store or a NATS that several installations share',
    fallback: 'main',
    parse: cellName,
  }),
  s3Endpoint: setting<string | undefined>({
    env: 'STAGEDOOR_S3_ENDPOINT',
    about: 'address of another object store than Amazon S3: MinIO, Google Cloud Storage, Ceph, Swift',
    fallback: undefined,
    secret: 'password',
    parse: plainUrl,
  }),
  s3Region: setting<string | undefined>({
    env: 'STAGEDOOR_S3_REGION',
    about: 'region of the bucket; unset: AWS_REGION or the profile; with STAGEDOOR_S3_ENDPOINT us-east-1',
    fallback: undefined,
    parse: text,
  }),
  s3PathStyle: setting({
    env: 'STAGEDOOR_S3_PATH_STYLE',
    about: 'address the bucket as endpoint/bucket: on, off, or auto: where STAGEDOOR_S3_ENDPOINT is set',
    fallback: 'auto' as 'auto' | 'on' | 'off',
    parse: oneOf(['auto', 'on', 'off'] as const),
  }),
  s3AccessKey: setting<string | undefined>({
    env: 'STAGEDOOR_S3_ACCESS_KEY',
    about:
      'id of the access key; unset: AWS_ACCESS_KEY_ID, a profile, a web identity or the role of the machine',
    fallback: undefined,
    parse: text,
  }),
  s3SecretKey: setting<string | undefined>({
    env: 'STAGEDOOR_S3_SECRET_KEY',
    about: 'the secret of that access key',
    fallback: undefined,
    secret: 'whole',
    parse: text,
  }),
  s3Timeout: setting({
    env: 'STAGEDOOR_S3_TIMEOUT',
    about:
      'seconds without a byte after which a request to the object store is tried again, up to four times',
    fallback: 20,
    parse: integer(1, 600),
  }),
  drainSeconds: setting<number | undefined>({
    env: 'STAGEDOOR_DRAIN_SECONDS',
    about:
      'seconds for which a server that was told to stop still serves while /api/ready answers 503, so that load balancers leave it; unset: 5 where another server runs on the database, else and in a terminal 0',
    fallback: undefined,
    parse: integer(0, 600),
  }),
  rateLimit: setting({
    env: 'STAGEDOOR_RATE_LIMIT',
    about:
      'requests a minute for one caller, executors aside; several servers on one database share it; 0 turns the limit off',
    fallback: 600,
    parse: integer(0, 1_000_000),
  }),
  trustProxy: setting<readonly string[]>({
    env: 'STAGEDOOR_TRUST_PROXY',
    about:
      'addresses or networks of the proxies in front of the server, such as 10.0.0.5 or 10.0.0.0/24, with commas between: what they say in X-Forwarded-For, -Proto and -Host counts for rate limits, logs and the cookie; unset: nobody is believed',
    fallback: [],
    parse: networks,
  }),
  jwtSecret: setting<string | undefined>({
    env: 'STAGEDOOR_JWT_SECRET',
    about: 'HS256 secret of the tokens; unset on the embedded server: made once and kept in the home',
    fallback: undefined,
    secret: 'whole',
    parse: secret(32),
  }),
  jwtSecretOther: setting<string | undefined>({
    env: 'STAGEDOOR_JWT_SECRET_OTHER',
    about:
      'a second secret whose tokens are accepted, too, while the secret is changed on several servers one by one',
    fallback: undefined,
    secret: 'whole',
    parse: secret(32),
  }),
  jwksUrl: setting<string | undefined>({
    env: 'STAGEDOOR_JWKS_URL',
    about: 'public keys of your identity provider (RS256, ES256)',
    fallback: undefined,
    parse: url(['https:', 'http:']),
  }),
  jwtIssuer: setting<string | undefined>({
    env: 'STAGEDOOR_JWT_ISSUER',
    about: 'the issuer that tokens must name; unset: not checked',
    fallback: undefined,
    parse: text,
  }),
  jwtAudience: setting<string | undefined>({
    env: 'STAGEDOOR_JWT_AUDIENCE',
    about: 'the audience that tokens must name; unset: not checked',
    fallback: undefined,
    parse: text,
  }),
  token: setting<string | undefined>({
    env: 'STAGEDOOR_TOKEN',
    about: 'whose rights an agent has over `stagedoor mcp`: a token of `stagedoor token create`, or a JWT',
    fallback: undefined,
    secret: 'whole',
    parse: text,
  }),
  publicUrl: setting<string | undefined>({
    env: 'PUBLIC_URL',
    about:
      'the address at which people open the console, such as https://stagedoor.example.com; with https the cookie is Secure. Needed for OIDC',
    fallback: undefined,
    parse: url(['https:', 'http:']),
  }),
  sessionHours: setting({
    env: 'STAGEDOOR_SESSION_HOURS',
    about: 'hours after which people sign in again, however active they are',
    fallback: 168,
    parse: integer(1, 2160),
  }),
  sessionIdleHours: setting({
    env: 'STAGEDOOR_SESSION_IDLE_HOURS',
    about: 'hours without a request after which a session ends',
    fallback: 12,
    parse: integer(1, 2160),
  }),
  oidcIssuer: setting<string | undefined>({
    env: 'OIDC_ISSUER',
    about: 'your identity provider for OpenID Connect, without /.well-known/…; unset: no sign-in by OIDC',
    fallback: undefined,
    parse: secureUrl,
  }),
  oidcClientId: setting<string | undefined>({
    env: 'OIDC_CLIENT_ID',
    about: 'the client that Stagedoor is at the identity provider',
    fallback: undefined,
    parse: text,
  }),
  oidcClientSecret: setting<string | undefined>({
    env: 'OIDC_CLIENT_SECRET',
    about: 'the secret of that client; unset: a public client, protected by PKCE alone',
    fallback: undefined,
    secret: 'whole',
    parse: text,
  }),
  oidcClientAuth: setting({
    env: 'OIDC_CLIENT_AUTH',
    about: 'how the secret is sent to the identity provider: post or basic',
    fallback: 'post' as 'post' | 'basic',
    parse: oneOf(['post', 'basic'] as const),
  }),
  oidcScopes: setting({
    env: 'OIDC_SCOPES',
    about: 'what Stagedoor asks the identity provider for, with spaces between',
    fallback: 'openid profile email',
    parse: scopes,
  }),
  oidcSubjectClaim: setting({
    env: 'OIDC_SUBJECT_CLAIM',
    about: 'the claim that is the id of a member; with email the provider must say that it is verified',
    fallback: 'sub',
    parse: text,
  }),
  oidcName: setting<string | undefined>({
    env: 'OIDC_NAME',
    about: 'what the button says: Sign in with …; unset: the host of the issuer',
    fallback: undefined,
    parse: text,
  }),
  smtpUrl: setting<string | undefined>({
    env: 'SMTP_URL',
    about:
      'the mail server of webhook targets with an address (mailto:), as smtps://user:password@host:465 or smtp://host:587; unset: no e-mail leaves',
    fallback: undefined,
    parse: url(['smtp:', 'smtps:']),
    secret: 'password',
  }),
  mailFrom: setting<string>({
    env: 'MAIL_FROM',
    about: 'the sender of e-mails',
    fallback: 'Stagedoor <stagedoor@localhost>',
    parse: text,
  }),
  mailDomains: setting<readonly string[]>({
    env: 'STAGEDOOR_MAIL_DOMAINS',
    about:
      'domains that e-mail may go to, such as example.com, with commas between; unset: those of the verified addresses of members',
    fallback: [],
    parse: hosts,
  }),
  webhookHosts: setting<readonly string[]>({
    env: 'STAGEDOOR_WEBHOOK_HOSTS',
    about:
      'hosts that webhooks may go to, as host or host:port with commas between; unset: no webhook leaves',
    fallback: [],
    parse: hosts,
  }),
  httpHosts: setting<readonly string[]>({
    env: 'STAGEDOOR_HTTP_HOSTS',
    about:
      'hosts that the http steps of playbooks may call, as host or host:port with commas between; unset: none',
    fallback: [],
    parse: hosts,
  }),
  files: setting<string | undefined>({
    env: 'STAGEDOOR_FILES',
    about: 'folder of the files that playbooks may read; unset: files in the home',
    fallback: undefined,
    parse: text,
  }),
  embeddingsUrl: setting<string | undefined>({
    env: 'EMBEDDINGS_URL',
    about:
      'an OpenAI-compatible endpoint for embeddings, with its /v1; unset: only embedders without a network',
    fallback: undefined,
    secret: 'password',
    parse: url(['https:', 'http:']),
  }),
  embeddingsApiKey: setting<string | undefined>({
    env: 'EMBEDDINGS_API_KEY',
    about: 'the key of that endpoint, if it asks for one',
    fallback: undefined,
    secret: 'whole',
    parse: text,
  }),
  embeddingsModel: setting({
    env: 'EMBEDDINGS_MODEL',
    about: 'the model that a new collection of that endpoint is made with',
    fallback: 'text-embedding-3-small',
    parse: text,
  }),
  embeddingsDimension: setting({
    env: 'EMBEDDINGS_DIMENSION',
    about: 'numbers in a vector of that model',
    fallback: 1536,
    parse: integer(1, 4096),
  }),
  embeddingsFolder: setting<string | undefined>({
    env: 'EMBEDDINGS_FOLDER',
    about: 'folder of a model that ONNX Runtime runs in this process, for the embedder onnx; unset: none',
    fallback: undefined,
    parse: text,
  }),
  rerankUrl: setting<string | undefined>({
    env: 'RERANK_URL',
    about: 'an endpoint that orders the best hits again (Cohere, Jina, vLLM, TEI); unset: none',
    fallback: undefined,
    secret: 'password',
    parse: url(['https:', 'http:']),
  }),
  rerankApiKey: setting<string | undefined>({
    env: 'RERANK_API_KEY',
    about: 'the key of that endpoint, if it asks for one',
    fallback: undefined,
    secret: 'whole',
    parse: text,
  }),
  rerankModel: setting<string | undefined>({
    env: 'RERANK_MODEL',
    about: 'its model; unset: the endpoint serves one, as Text Embeddings Inference does',
    fallback: undefined,
    parse: text,
  }),
  qdrantUrl: setting<string | undefined>({
    env: 'QDRANT_URL',
    about: 'a Qdrant server for vectors and for the old knowledge base; unset: none',
    fallback: undefined,
    secret: 'password',
    parse: url(['https:', 'http:']),
  }),
  qdrantApiKey: setting<string | undefined>({
    env: 'QDRANT_API_KEY',
    about: 'the key of the Qdrant server, if it asks for one',
    fallback: undefined,
    secret: 'whole',
    parse: text,
  }),
}

/** Secrets of playbooks (`${secret.NAME}`): read where a step runs, never shown. */
const PLAYBOOK_SECRET = /^STAGEDOOR_SECRET_[A-Za-z_][A-Za-z0-9_]*$/

/** Settings of the setup scripts, which run before this file is built. Listed here so that they are not reported as unknown. */
const SCRIPT_SETTINGS = ['STAGEDOOR_NO_SYSTEM_INSTALL', 'STAGEDOOR_TEST_KEEP']

type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
type LogFormat = 'auto' | 'pretty' | 'json'
type Settings = typeof SETTINGS
export type SettingName = keyof Settings
type Values = { readonly [K in SettingName]: Settings[K] extends Setting<infer T> ? T : never }

export interface Config extends Values {
  readonly sources: Readonly<Record<SettingName, Source>>
  /** Unknown `STAGEDOOR_*` variables: commands warn of them, `stagedoor config` refuses them. */
  readonly unknown: readonly UnknownSetting[]
}

interface UnknownSetting {
  readonly setting: string
  /** `; did you mean …?`, or nothing. */
  readonly suggestion: string
}

/** Flags win over the environment, the environment over the defaults. */
export function readConfig(
  env: NodeJS.ProcessEnv = process.env,
  flags: Partial<Record<SettingName, string>> = {},
): Config {
  const values: Record<string, unknown> = {}
  const sources: Record<string, Source> = {}
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const spec = SETTINGS[name] as Setting<unknown>
    const flag = flags[name]
    // An empty variable is how shells and compose files say "unset".
    const given = flag ?? (env[spec.env] === '' ? undefined : env[spec.env])
    sources[name] = flag !== undefined ? 'flag' : given !== undefined ? 'environment' : 'default'
    values[name] = given === undefined ? spec.fallback : parse(spec, given)
  }
  if (values.databaseDirectUrl !== undefined && values.databaseUrl === undefined) {
    throw new StagedoorError('config_invalid', {
      setting: 'DATABASE_DIRECT_URL',
      value: mask(SETTINGS.databaseDirectUrl, values.databaseDirectUrl),
      reason: 'DATABASE_URL is not set',
    })
  }
  if (values.databaseReadUrl !== undefined && values.databaseUrl === undefined) {
    throw new StagedoorError('config_invalid', {
      setting: 'DATABASE_READ_URL',
      value: mask(SETTINGS.databaseReadUrl, values.databaseReadUrl),
      reason: 'DATABASE_URL is not set',
    })
  }
  for (const [name, env] of [
    ['oidcClientId', 'OIDC_CLIENT_ID'],
    ['publicUrl', 'PUBLIC_URL'],
  ] as const)
    if (values.oidcIssuer !== undefined && values[name] === undefined)
      throw new StagedoorError(
        'config_invalid',
        { setting: env },
        {
          message: `OIDC_ISSUER is set, but ${env} is not`,
          hint: `Set ${env}, or unset OIDC_ISSUER. The guide: docs/guides/sign-in.md`,
        },
      )
  if ((values.s3AccessKey === undefined) !== (values.s3SecretKey === undefined))
    throw new StagedoorError(
      'config_invalid',
      { setting: 'STAGEDOOR_S3_SECRET_KEY' },
      {
        message: 'Of STAGEDOOR_S3_ACCESS_KEY and STAGEDOOR_S3_SECRET_KEY only one is set',
        hint: 'Set both, or unset both to use the credentials that the AWS SDK finds.',
      },
    )
  return {
    ...(values as unknown as Values),
    home: resolve(values.home as string),
    ...(values.files !== undefined && { files: resolve(values.files as string) }),
    sources: sources as Config['sources'],
    unknown: unknownSettings(env),
  }
}

interface ConfigLine {
  readonly setting: string
  readonly value: string
  readonly source: Source
  readonly about: string
}

/** The effective settings and where each came from, with secrets masked. */
export function describeConfig(config: Config): ConfigLine[] {
  return (Object.keys(SETTINGS) as SettingName[]).map((name) => ({
    setting: SETTINGS[name].env,
    value: config[name] === undefined ? '' : mask(SETTINGS[name], config[name]),
    source: config.sources[name],
    about: SETTINGS[name].about,
  }))
}

/** Where migrations and workers connect. */
export function directUrl(config: Config): string | undefined {
  return config.databaseDirectUrl ?? config.databaseUrl
}

/** Where playbooks read files. */
export function filesFolder(config: Pick<Config, 'files' | 'home'>): string {
  return config.files ?? resolve(config.home, 'files')
}

function maskUrl(value: string): string {
  try {
    const parsed = new URL(value)
    if (parsed.password !== '') parsed.password = '***'
    return parsed.toString()
  } catch {
    return '***'
  }
}

function mask(spec: { secret?: 'whole' | 'password' }, value: unknown): string {
  if (Array.isArray(value) && spec === SETTINGS.store) return value.map(formatStorePlace).join(',')
  if (spec.secret === 'whole') return '***'
  if (spec.secret !== 'password') return String(value)
  return String(value).split(',').map(maskUrl).join(',')
}

function parse<T>(spec: Setting<T>, value: string): T {
  try {
    return spec.parse(value)
  } catch (error) {
    throw new StagedoorError('config_invalid', {
      setting: spec.env,
      value: mask(spec, value),
      reason: (error as Error).message,
    })
  }
}

/**
 * Kubernetes tells every container of a namespace about its services by variables: a service called `stagedoor` brings
 * STAGEDOOR_PORT=tcp://10.0.0.7:4680, STAGEDOOR_SERVICE_HOST and the like. They are not settings.
 */
const SERVICE_VARIABLE =
  /^STAGEDOOR_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/

function isServiceVariable(name: string, value: string | undefined): boolean {
  return SERVICE_VARIABLE.test(name) || (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value ?? ''))
}

function unknownSettings(env: NodeJS.ProcessEnv): UnknownSetting[] {
  const known = [...Object.values(SETTINGS).map((spec) => spec.env), ...SCRIPT_SETTINGS]
  return Object.keys(env)
    .filter((name) => name.startsWith('STAGEDOOR_') && !known.includes(name) && !PLAYBOOK_SECRET.test(name))
    .filter((name) => !isServiceVariable(name, env[name]))
    .map((setting) => ({ setting, suggestion: suggestionFor(setting, known) }))
}

function suggestionFor(name: string, known: readonly string[]): string {
  const nearest = known
    // STAGEDOOR_PORT means PORT.
    .map((candidate) => ({
      candidate,
      away: Math.min(editDistance(candidate, name), editDistance(`STAGEDOOR_${candidate}`, name)),
    }))
    .sort((a, b) => a.away - b.away)[0]
  return nearest && nearest.away <= 4 ? `; did you mean ${nearest.candidate}?` : ''
}

function integer(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new Error(`it must be a whole number from ${least} to ${most}`)
    }
    return number
  }
}

function text(value: string): string {
  return value
}

function secret(least: number): (value: string) => string {
  return (value) => {
    if (value.length < least) throw new Error(`it must have at least ${least} characters`)
    return value
  }
}

function oneOf<T extends string>(choices: readonly T[]): (value: string) => T {
  return (value) => {
    const choice = choices.find((candidate) => candidate === value)
    if (choice === undefined) throw new Error(`it must be one of ${choices.join(', ')}`)
    return choice
  }
}

/** As a URL would write them, so that they can be compared with one. */
function hosts(value: string): string[] {
  return value
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, name, port] = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]*]+)(?::(\d{1,5}))?$/i.exec(entry) ?? []
      if (name === undefined || !URL.canParse(`http://${name}`) || Number(port ?? 1) > 65535) {
        throw new Error(`${entry} is not a host or host:port`)
      }
      const { hostname } = new URL(`http://${name}`)
      return port === undefined ? hostname : `${hostname}:${Number(port)}`
    })
}

function networks(value: string): string[] {
  return value
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [address, bits, ...more] = entry.split('/')
      const max = { 0: -1, 4: 32, 6: 128 }[isIP(address!)]!
      if (
        max < 0 ||
        more.length > 0 ||
        (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= max))
      )
        throw new Error(`${entry} is not an address or network such as 10.0.0.5 or 10.0.0.0/24`)
      return entry
    })
}

/** One place of bytes outside of the database. */
export type StorePlace =
  | { readonly scheme: 'disk' | 'pvc'; readonly folder: string }
  | { readonly scheme: 's3'; readonly bucket: string; readonly prefix: string }

export function formatStorePlace(place: StorePlace): string {
  if (place.scheme !== 's3') return `${place.scheme}:${place.folder}`
  return `s3://${place.bucket}${place.prefix === '' ? '' : `/${place.prefix}`}`
}

function storePlaces(value: string): StorePlace[] {
  const places = value.split(',').map((entry) => storePlace(entry.trim()))
  const twice = places.find(({ scheme }, at) => places.findIndex((other) => other.scheme === scheme) !== at)
  if (twice) throw new Error(`${twice.scheme} is named twice; a reference says only its scheme`)
  return places
}

function storePlace(entry: string): StorePlace {
  const expected = 'it must be disk:/folder, pvc:/folder or s3://bucket/prefix'
  const [, scheme, folder] = /^(disk|pvc):(.+)$/.exec(entry) ?? []
  if (folder !== undefined) return { scheme: scheme as 'disk' | 'pvc', folder: resolve(folder) }
  const [, bucket, path = ''] = /^s3:\/\/([a-zA-Z0-9][a-zA-Z0-9._-]{1,62})(\/.*)?$/.exec(entry) ?? []
  if (bucket === undefined) throw new Error(expected)
  const prefix = path.replace(/^\/+|\/+$/g, '')
  if (prefix !== '' && !/^[A-Za-z0-9!_.*'()/-]{1,400}$/.test(prefix))
    throw new Error("the prefix may have letters, digits, slashes and !_.*'()-, 400 characters at most")
  return { scheme: 's3', bucket, prefix }
}

function cellName(value: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(value))
    throw new Error('it must be 1 to 40 lowercase letters, digits or hyphens')
  return value
}

function natsServers(value: string): readonly string[] {
  return value.split(',').map((server) => url(['nats:', 'tls:'])(server.trim()))
}

function subjectToken(value: string): string {
  if (!/^[A-Za-z0-9_-]{1,80}$/.test(value)) throw new Error('it must be 1 to 80 letters, digits, _ or -')
  return value
}

/** Credentials have settings of their own: in an address they would be shown. */
function plainUrl(value: string): string {
  const { username, password } = new URL(url(['https:', 'http:'])(value))
  if (username !== '' || password !== '') throw new Error('it must not contain a user or a password')
  return value
}

function url(protocols: readonly string[]): (value: string) => string {
  return (value) => {
    const expected = `it must be an address like ${protocols[0]}//host/…`
    if (!URL.canParse(value)) throw new Error(expected)
    if (!protocols.includes(new URL(value).protocol)) throw new Error(expected)
    return value
  }
}

/** https, or http on this machine: an issuer over plain http could be anybody. */
function secureUrl(value: string): string {
  const { protocol, hostname } = new URL(url(['https:', 'http:'])(value))
  if (protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname))
    throw new Error('it must begin with https://')
  return value
}

function scopes(value: string): string {
  if (!value.split(' ').includes('openid')) throw new Error('it must contain openid')
  return value
}
