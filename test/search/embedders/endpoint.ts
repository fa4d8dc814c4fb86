/** An OpenAI-compatible endpoint for embeddings, in the process of the test, with every fault that one can have. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface EmbeddingRequest {
  readonly model: string
  readonly input: string[]
  readonly dimensions?: number
}

interface Reply {
  status?: number
  headers?: Record<string, string>
  body?: unknown
}

type Played = Reply | 'hang' | 'cut' | undefined

export interface Endpoint {
  readonly url: string
  readonly requests: EmbeddingRequest[]
  readonly headers: IncomingMessage['headers'][]
  /** What it does instead of answering well; `hang` never answers. */
  play(fault: ((request: EmbeddingRequest) => Played | Promise<Played>) | undefined): void
  close(): Promise<void>
}

export async function startEndpoint(dimension: number): Promise<Endpoint> {
  let fault: Parameters<Endpoint['play']>[0]
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const asked = JSON.parse(Buffer.concat(pieces).toString()) as EmbeddingRequest
    endpoint.requests.push(asked)
    endpoint.headers.push(request.headers)
    const reply = await fault?.(asked)
    if (reply === 'hang') return
    if (reply === 'cut') return request.socket.destroy()
    send(response, reply ?? { body: answer(asked.input, dimension) })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: [],
    headers: [],
    play(next) {
      fault = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return endpoint
}

function send(response: ServerResponse, { status = 200, headers = {}, body = {} }: Reply): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Vectors made of the letters; the last first, because only the index says which is whose. */
export function answer(texts: readonly string[], dimension: number) {
  const data = texts.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from(
      { length: dimension },
      (_, at) => 1 + (text.charCodeAt(at % (text.length || 1)) || 0),
    ),
  }))
  return {
    object: 'list',
    data: data.reverse(),
    usage: { prompt_tokens: texts.length * 7, total_tokens: texts.length * 7 },
  }
}
