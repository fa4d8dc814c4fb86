/** The connection to NATS: what it says when NATS is away, and that it comes back by itself. Against a real server. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createUser } from '@nats-io/nkeys'
import pino from 'pino'
import { afterAll, describe, expect, it } from 'vitest'
import { type Nats, type NatsSettings, openNats } from '../../../src/runtime/nats.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { startNats } from '../../support/nats.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

const log = pino({ level: 'silent' })
const home = temporaryHome('nats-link')
const opened: Nats[] = []
const server = await startNats()
afterAll(async () => {
  for (const nats of opened) await nats.close()
  await server.stop()
})

const settings = (more: Partial<NatsSettings> = {}): NatsSettings => ({
  natsUrl: [server.url],
  natsCredentials: undefined,
  natsCa: undefined,
  natsInbox: '_INBOX',
  natsPlaintext: 'refuse',
  cell: 'main',
  ...more,
})

function open(more: Partial<NatsSettings> = {}): Nats {
  const nats = openNats(settings(more), 'test', log)!
  opened.push(nats)
  return nats
}

describe('a connection to NATS', () => {
  it('is not opened without NATS_URL', () => {
    expect(openNats(settings({ natsUrl: undefined }), 'test', log)).toBeUndefined()
  })

  it('carries messages and answers below the subjects of its cell', async () => {
    const nats = open({ cell: 'blue' })
    await until('connected', () => nats.connected)
    expect(nats.subject('gw', 'alive')).toBe('sd.blue.gw.alive')
    const seen: unknown[] = []
    nats.subscribe(nats.subject('echo'), (message) => {
      seen.push(message.body)
      message.respond({ heard: message.body })
    })
    expect(await nats.request(nats.subject('echo'), { n: 1 }, 2000)).toEqual({ heard: { n: 1 } })
    expect(seen).toEqual([{ n: 1 }])
  })

  it('does not send an answer that is larger than the server takes, and says so', async () => {
    const nats = open()
    await until('connected', () => nats.connected)
    const sent: boolean[] = []
    nats.subscribe(nats.subject('large'), (message) => {
      sent.push(message.respond('x'.repeat(nats.maxBytes + 1)), message.respond('small'))
    })
    expect(await nats.request(nats.subject('large'), {}, 2000)).toBe('small')
    expect(sent).toEqual([false, true])
  })

  it('says that nobody answers', async () => {
    const nats = open()
    await until('connected', () => nats.connected)
    await expect(nats.request(nats.subject('nobody'), {}, 1000)).rejects.toMatchObject({
      code: 'nats_unreachable',
    })
  })

  it('takes bytes that are no JSON for a message without a body', async () => {
    const nats = open()
    const seen: unknown[] = []
    nats.subscribe('sd.main.garbage', ({ body, bytes }) => seen.push([body, bytes]))
    await until('connected', () => nats.connected)
    const socket = connect(server.port, '127.0.0.1')
    await until('it arrives', () => {
      socket.write('CONNECT {"verbose":false}\r\nPUB sd.main.garbage 3\r\n{x}\r\n')
      return seen.length > 0
    })
    socket.destroy()
    expect(seen[0]).toEqual([undefined, 3])
    expect(nats.connected).toBe(true)
  })

  it('comes back by itself, with its subscriptions, after the server was killed', async () => {
    const nats = open()
    const seen: unknown[] = []
    const changes: boolean[] = []
    nats.onChange(() => changes.push(nats.connected))
    nats.subscribe('sd.main.after', ({ body }) => seen.push(body))
    await until('connected', () => nats.connected)
    await server.kill()
    await until('away', () => !nats.connected)
    expect(nats.publish('sd.main.after', 'lost')).toBe(false)
    expect(nats.health()).toMatchObject({ name: 'nats', ok: false })
    await server.start()
    await until('connected again', () => nats.connected)
    await until('its subscription is back', () => {
      nats.publish('sd.main.after', 'again')
      return seen.includes('again')
    })
    expect(seen).not.toContain('lost')
    expect(changes).toEqual([true, false, true])
  })

  it('starts while the server is away', async () => {
    await server.kill()
    const nats = open()
    await until('it tried', () => nats.health().detail.includes('refused'))
    expect(nats.connected).toBe(false)
    await server.start()
    await until('connected', () => nats.connected)
  })

  it('refuses an unencrypted connection to another machine, unless it is allowed', async () => {
    expect(() => open({ natsUrl: ['nats://nats.example.com:4222'] })).toThrowError(/unencrypted/)
    expect(() => open({ natsUrl: ['nats://10.0.0.1:4222'] })).toThrowError(
      expect.objectContaining({ code: 'nats_refused' }),
    )
  })

  it('says that credentials are refused, and does not repeat them', async () => {
    const guarded = await startNats({ config: 'authorization { user: worker, password: secret }' })
    const wrong = open({ natsUrl: [`nats://worker:wrong@127.0.0.1:${guarded.port}`] })
    await until('refused', () => wrong.health().detail.includes('credentials are refused'))
    expect(wrong.health().detail).not.toContain('wrong')
    const right = open({ natsUrl: [`nats://worker:secret@127.0.0.1:${guarded.port}`] })
    await until('connected', () => right.connected)
    await guarded.stop()
  })

  it('says that what listens there is no NATS server', async () => {
    const other = createServer((socket) =>
      socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    )
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const wrong = open({ natsUrl: [`nats://127.0.0.1:${port}`] })
    await until('reported', () => wrong.health().detail.includes('no NATS server (NATS_URL)'))
    other.close()
  })

  it('says once which permission is missing, and names NATS_INBOX where answers cannot come', async () => {
    const guarded = await startNats({
      config:
        'authorization { users: [ { user: w, password: w, permissions: { publish: ["sd.main.gw.>"], subscribe: ["_INBOX_w.>"] } } ] }',
    })
    const lines: string[] = []
    const nats = openNats(
      settings({ natsUrl: [`nats://w:w@127.0.0.1:${guarded.port}`] }),
      'test',
      pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
    )!
    opened.push(nats)
    await until('connected', () => nats.connected)
    for (let n = 0; n < 3; n++) await nats.request('sd.main.gw.x.attach', {}, 100).catch(() => {})
    await until('it says so', () => lines.length > 0)
    expect(lines.filter((line) => line.includes('set NATS_INBOX'))).toHaveLength(1)
    nats.subscribe('sd.main.secret', () => {})
    await until('it says the subject', () => lines.some((line) => line.includes('subscribe sd.main.secret')))
    expect(lines).toHaveLength(2)
    await guarded.stop()
  })

  it('names the file of credentials that cannot be read', () => {
    expect(() => open({ natsCredentials: '/nowhere/missing.creds' })).toThrowError(/missing\.creds/)
  })

  it('signs with an NKey that is read from a file', async () => {
    const user = createUser()
    const guarded = await startNats({
      config: `authorization { users: [ { nkey: "${user.getPublicKey()}" } ] }`,
    })
    const file = join(home, 'user.nk')
    writeFileSync(file, Buffer.from(user.getSeed()))
    const nats = open({ natsUrl: [guarded.url], natsCredentials: file })
    await until('connected', () => nats.connected)
    await guarded.stop()
  })

  it('is encrypted, and refuses a server whose certificate is for another address', async () => {
    const { cert, key } = makeCertificate(home, '127.0.0.1')
    const secured = await startNats({ config: `tls { cert_file: "${cert}", key_file: "${key}" }` })
    const right = open({ natsUrl: [`tls://127.0.0.1:${secured.port}`], natsCa: cert })
    await until('connected', () => right.connected)
    const unknown = open({ natsUrl: [`tls://127.0.0.1:${secured.port}`] })
    await until('refused', () => /certificate/.test(unknown.health().detail))
    const other = open({ natsUrl: [`tls://localhost:${secured.port}`], natsCa: cert })
    await until('refused', () => /does not match/.test(other.health().detail))
    expect([unknown.connected, other.connected]).toEqual([false, false])
    await secured.stop()
  })

  it('says that a server is too old', async () => {
    const old = createServer((socket) => {
      socket.write(
        'INFO {"server_id":"x","version":"2.1.9","go":"go1","host":"127.0.0.1","port":1,"max_payload":1048576,"proto":1,"headers":true} \r\n',
      )
      socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'))
      socket.on('error', () => {})
    }).listen(0, '127.0.0.1')
    await until('listening', () => old.listening)
    const { port } = old.address() as { port: number }
    const nats = open({ natsUrl: [`nats://127.0.0.1:${port}`] })
    await until('too old', () => nats.health().detail.includes('2.9.4 or newer'))
    expect(nats.connected).toBe(false)
    await nats.close()
    old.close()
  })
})
