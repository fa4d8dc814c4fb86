/** A server that speaks just enough of PostgreSQL's protocol to log in and to say which version it is. */
import { createServer, type Server, type Socket } from 'node:net'

const INT4 = 23
const TEXT = 25

export interface FakePostgres {
  readonly url: string
  /** Every statement that was sent. */
  readonly statements: readonly string[]
  close(): Promise<void>
}

export async function startFakePostgres(version: { number: number; text: string }): Promise<FakePostgres> {
  const statements: string[] = []
  const server = createServer((socket) => converse(socket, version, statements))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return { url: `postgres://fake:fake@127.0.0.1:${port}/fake`, statements, close: () => closed(server) }
}

function converse(socket: Socket, version: { number: number; text: string }, statements: string[]): void {
  const answer = [
    rowDescription([
      ['number', INT4],
      ['version', TEXT],
    ]),
    dataRow([String(version.number), version.text]),
    message('C', text('SELECT 1')),
    READY,
  ]
  let received = Buffer.alloc(0)
  let started = false
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    for (;;) {
      // The first message has no type, only a length.
      const head = started ? 1 : 0
      if (received.length < head + 4) return
      const length = received.readInt32BE(head) + head
      if (received.length < length) return
      const body = received.subarray(head + 4, length)
      const type = started ? String.fromCharCode(received[0]!) : 'startup'
      received = received.subarray(length)
      started = true
      if (type === 'startup') socket.write(Buffer.concat([message('R', int32(0)), READY]))
      if (type === 'X') socket.end()
      if (type === 'Q') {
        statements.push(body.subarray(0, -1).toString())
        socket.write(Buffer.concat(answer))
      }
    }
  })
}

const READY = message('Z', Buffer.from('I'))

function rowDescription(columns: readonly (readonly [string, number])[]): Buffer {
  const fields = columns.map(([name, type]) =>
    Buffer.concat([text(name), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)]),
  )
  return message('T', Buffer.concat([int16(columns.length), ...fields]))
}

function dataRow(values: readonly string[]): Buffer {
  const fields = values.flatMap((value) => [int32(Buffer.byteLength(value)), Buffer.from(value)])
  return message('D', Buffer.concat([int16(values.length), ...fields]))
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`)
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value)
  return buffer
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeInt16BE(value)
  return buffer
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.close(() => resolve()))
}
