/**
 * The connection of a process to NATS, which carries wake-ups and calls and keeps nothing: what is sent while it is away is not sent later.
 * A process works without it. It connects again for ever; wrong credentials and servers that are too old are reported, and tried again too.
 */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import {
  type Authenticator,
  AuthorizationError,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type Msg,
  type NatsConnection,
  nkeyAuthenticator,
  PermissionViolationError,
  type Subscription,
} from '@nats-io/transport-node'
import type { Logger } from 'pino'
import type { Config } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { Wake } from './wake.ts'

export type NatsSettings = Pick<
  Config,
  'natsUrl' | 'natsCredentials' | 'natsCa' | 'natsInbox' | 'natsPlaintext' | 'cell'
>

export interface NatsMessage {
  readonly subject: string
  /** Undefined: no JSON. */
  readonly body: unknown
  readonly bytes: number
  /** False: nobody waits for an answer, NATS is away, or the answer is larger than the server takes. Never throws. */
  respond(body: unknown): boolean
}

/** Shared by all parts of a process. */
export interface Nats {
  readonly connected: boolean
  /** The largest message that the server takes, in bytes. */
  readonly maxBytes: number
  /** Since when (performance.now()) it has been connected or away. */
  readonly since: number
  /** All subjects of this installation begin with `sd.<cell>.`. */
  subject(...tokens: readonly string[]): string
  /** False: NATS is away, and the message is not sent. */
  publish(subject: string, body?: unknown): boolean
  subscribe(subject: string, onMessage: (message: NatsMessage) => void): () => void
  /** Throws `nats_unreachable` when NATS is away, nobody listens, or no answer comes in time. */
  request(subject: string, body: unknown, timeoutMs: number): Promise<unknown>
  /** It was connected, or lost the connection. */
  onChange(listener: () => void): () => void
  health(): HealthCheck
  close(): Promise<void>
}

/** What the client needs. Debian 12 has 2.9.10. */
const MIN_VERSION = [2, 9, 4]
const PING_MS = 2000
const MAX_PINGS_OUT = 2
const RECONNECT_MS = 250
const CONNECT_MS = 5000
const RETRY_MS = 2000
/** The default of a server; known for certain once connected. */
const DEFAULT_MAX_BYTES = 1_048_576

/** Undefined without NATS_URL. Throws where the settings cannot be used; a server that is away is no error. */
export function openNats(settings: NatsSettings, name: string, log: Logger): Nats | undefined {
  if (settings.natsUrl === undefined) return undefined
  requireTls(settings.natsUrl, settings.natsPlaintext)
  return new NatsLink(connectionOptions(settings, name), settings.cell, log)
}

const shared = new Map<string, { readonly nats: Nats; users: number }>()

/** The connection that all parts of this process with these settings share. The last one that releases it closes it. */
export function shareNats(
  settings: NatsSettings,
  name: string,
  log: Logger,
): { readonly nats: Nats; release(): Promise<void> } | undefined {
  const { natsUrl, natsCredentials, natsCa, natsInbox, natsPlaintext, cell } = settings
  const key = JSON.stringify([natsUrl, natsCredentials, natsCa, natsInbox, natsPlaintext, cell])
  const known = shared.get(key)
  const nats = known?.nats ?? openNats(settings, name, log)
  if (nats === undefined) return undefined
  const entry = known ?? { nats, users: 0 }
  shared.set(key, entry)
  entry.users += 1
  return {
    nats,
    async release() {
      entry.users -= 1
      if (entry.users > 0) return
      shared.delete(key)
      await nats.close()
    },
  }
}

class NatsLink implements Nats {
  private readonly options: ConnectionOptions
  private readonly prefix: string
  private readonly log: Logger
  private readonly subscriptions = new Set<KeptSubscription>()
  private readonly listeners = new Set<() => void>()
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  private connection: NatsConnection | undefined
  private isConnected = false
  private stopping = false
  /** Why it is not connected. */
  private trouble = 'connecting'
  since = performance.now()

  constructor(options: ConnectionOptions, cell: string, log: Logger) {
    this.options = options
    this.prefix = `sd.${cell}`
    this.log = log
    this.loop = this.keepConnected()
  }

  get connected(): boolean {
    return this.isConnected
  }

  get maxBytes(): number {
    return this.connection?.info?.max_payload ?? DEFAULT_MAX_BYTES
  }

  subject(...tokens: readonly string[]): string {
    return [this.prefix, ...tokens].join('.')
  }

  publish(subject: string, body?: unknown): boolean {
    if (!this.isConnected) return false
    try {
      this.connection!.publish(subject, body === undefined ? '' : JSON.stringify(body))
      return true
    } catch (error) {
      this.log.warn({ err: error, subject }, 'a message could not be sent')
      return false
    }
  }

  subscribe(subject: string, onMessage: (message: NatsMessage) => void): () => void {
    const kept: KeptSubscription = { subject, onMessage, current: undefined }
    this.subscriptions.add(kept)
    this.open(kept)
    return () => {
      this.subscriptions.delete(kept)
      kept.current?.unsubscribe()
    }
  }

  async request(subject: string, body: unknown, timeoutMs: number): Promise<unknown> {
    try {
      if (!this.isConnected) throw new Error(this.trouble)
      const answer = await this.connection!.request(subject, JSON.stringify(body), { timeout: timeoutMs })
      return answer.json()
    } catch (error) {
      throw new StagedoorError(
        'nats_unreachable',
        { server: this.server, reason: (error as Error).message },
        { cause: error },
      )
    }
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  health(): HealthCheck {
    return {
      name: 'nats',
      ok: this.isConnected,
      detail: this.isConnected ? `connected to ${this.server}` : `${this.server}: ${this.trouble}`,
    }
  }

  async close(): Promise<void> {
    this.stopping = true
    this.wake.now()
    await this.connection?.close().catch(() => {})
    await this.loop
  }

  private get server(): string {
    return this.connection?.getServer() ?? [this.options.servers].flat().map(hideUser).join(', ')
  }

  /** The client connects again by itself as long as it is not closed; it closes itself when the credentials are refused. */
  private async keepConnected(): Promise<void> {
    while (!this.stopping) {
      try {
        const connection = await connect(this.options)
        this.connection = connection
        if (this.stopping) {
          await connection.close().catch(() => {})
          return
        }
        requireVersion(connection)
        for (const kept of this.subscriptions) this.open(kept)
        this.changed(true)
        void this.followStatus(connection)
        this.trouble = reasonOf(await connection.closed()) ?? 'the connection was closed'
      } catch (error) {
        await this.connection?.close().catch(() => {})
        this.report(error as Error)
      }
      this.connection = undefined
      this.changed(false)
      for (const kept of this.subscriptions) kept.current = undefined
      if (!this.stopping) await this.wake.wait(RETRY_MS)
    }
  }

  private async followStatus(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (connection !== this.connection) return
      if (status.type === 'disconnect' || status.type === 'staleConnection') {
        this.trouble = 'the connection was lost'
        this.changed(false)
      } else if (status.type === 'reconnect') {
        this.changed(true)
      } else if (status.type === 'error') this.report(status.error)
    }
  }

  private changed(connected: boolean): void {
    if (connected === this.isConnected) return
    this.isConnected = connected
    this.since = performance.now()
    if (connected) this.log.info({ server: this.server }, 'connected to NATS')
    else if (!this.stopping) this.log.warn({ server: this.server }, 'NATS is away; trying again')
    for (const listener of this.listeners) listener()
  }

  private report(error: Error): void {
    const reason = this.refusalOf(error) ?? reasonOf(error)!
    if (reason !== this.trouble && !this.stopping)
      this.log[error instanceof AuthorizationError ? 'error' : 'warn'](
        { server: this.server, reason },
        'NATS cannot be used; trying again',
      )
    this.trouble = reason
  }

  /** Without the random part of a subject, which differs each time: the same refusal is reported once. */
  private refusalOf(error: Error): string | undefined {
    if (!(error instanceof PermissionViolationError)) return undefined
    const { operation, subject } = error
    const inbox = this.options.inboxPrefix!
    if (operation === 'subscription' && subject.startsWith(`${inbox}.`))
      return `its user may not subscribe ${inbox}.>, where answers come: set NATS_INBOX to the prefix that the permissions of this user allow`
    return `its user may not ${operation === 'publish' ? 'publish' : 'subscribe'} ${subject} (docs/guides/remote-workers.md)`
  }

  private respond(message: Msg, body: unknown): boolean {
    try {
      return this.isConnected && message.respond(JSON.stringify(body))
    } catch (error) {
      this.log.warn({ err: error, subject: message.subject }, 'an answer could not be sent')
      return false
    }
  }

  private open(kept: KeptSubscription): void {
    if (this.connection === undefined || kept.current !== undefined) return
    const callback = (error: Error | null, message: Msg): void => {
      if (error) this.report(error)
      else
        kept.onMessage({
          subject: message.subject,
          body: parse(message),
          bytes: message.data.length,
          respond: (body) => this.respond(message, body),
        })
    }
    kept.current = this.connection.subscribe(kept.subject, { callback })
  }
}

interface KeptSubscription {
  readonly subject: string
  readonly onMessage: (message: NatsMessage) => void
  current: Subscription | undefined
}

function connectionOptions(settings: NatsSettings, name: string): ConnectionOptions {
  const servers = settings.natsUrl!
  const usesTls = servers.some((server) => server.startsWith('tls:')) || settings.natsCa !== undefined
  const [first] = servers.map((server) => new URL(server))
  return {
    servers: servers.map((server) => new URL(server).host),
    name,
    pingInterval: PING_MS,
    maxPingOut: MAX_PINGS_OUT,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    timeout: CONNECT_MS,
    inboxPrefix: settings.natsInbox,
    ...(usesTls && {
      tls: {
        ...(settings.natsCa !== undefined && { caFile: settings.natsCa }),
        ...checkingAddresses(servers),
      },
    }),
    ...(first!.username !== '' && {
      user: decodeURIComponent(first!.username),
      pass: decodeURIComponent(first!.password),
    }),
    ...(settings.natsCredentials !== undefined && {
      authenticator: authenticatorOf(settings.natsCredentials),
    }),
  }
}

/** The client hands all options of `tls` on. For a server that is named by an address it asks for the certificate of `localhost`. */
function checkingAddresses(servers: readonly string[]): object {
  const hosts = servers.map((server) => new URL(server).hostname.replace(/^\[|\]$/g, ''))
  return {
    checkServerIdentity(host: string, certificate: PeerCertificate) {
      const names = hosts.includes(host) ? [host] : hosts.filter((name) => isIP(name) > 0)
      const refusals = names.map((name) => checkServerIdentity(name, certificate))
      return refusals.includes(undefined)
        ? undefined
        : (refusals[0] ?? checkServerIdentity(host, certificate))
    },
  }
}

/** Read at each connect, so that credentials can be changed without a restart. */
function authenticatorOf(file: string): Authenticator {
  const read = (): Buffer => {
    try {
      return readFileSync(file)
    } catch (error) {
      throw new StagedoorError('nats_refused', {
        server: 'NATS_URL',
        reason: `NATS_CREDS ${(error as Error).message}`,
      })
    }
  }
  return read().includes('-----BEGIN')
    ? credsAuthenticator(() => read())
    : nkeyAuthenticator(() => Buffer.from(read().toString('utf8').trim()))
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

function requireTls(servers: readonly string[], plaintext: 'refuse' | 'allow'): void {
  const open = servers.map((server) => new URL(server)).find(isReadable)
  if (open === undefined || plaintext === 'allow') return
  throw new StagedoorError('nats_refused', {
    server: open.host,
    reason:
      'nats:// sends calls and their secrets unencrypted to another machine. Use tls://, or say STAGEDOOR_NATS_PLAINTEXT=allow',
  })
}

function isReadable({ protocol, hostname }: URL): boolean {
  return protocol === 'nats:' && !LOOPBACK.has(hostname)
}

function requireVersion(connection: NatsConnection): void {
  const version = connection.info?.version ?? 'unknown'
  const parts = version.split(/[.-]/).map(Number)
  const differs = MIN_VERSION.findIndex((part, place) => parts[place] !== part)
  if (differs < 0 || parts[differs]! > MIN_VERSION[differs]!) return
  throw new StagedoorError('nats_refused', {
    server: connection.getServer(),
    reason: `it is version ${version}; ${MIN_VERSION.join('.')} or newer is needed`,
  })
}

function reasonOf(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined
  if (error instanceof AuthorizationError) return 'the credentials are refused (NATS_URL, NATS_CREDS)'
  const { message } = error as Error
  // The client's words for a first line that is not of NATS.
  return message === 'unexpected response from server'
    ? 'what listens there is no NATS server (NATS_URL)'
    : message
}

function parse(message: Msg): unknown {
  if (message.data.length === 0) return undefined
  try {
    return message.json()
  } catch {
    return undefined
  }
}

function hideUser(server: string | undefined): string {
  return (server ?? '').replace(/^.*@/, '')
}
