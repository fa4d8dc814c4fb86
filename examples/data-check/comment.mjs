/** Writes a file as the one comment of this action on a pull request: the first time a new one, then the same again. */
import { readFileSync } from 'node:fs'

const {
  GITHUB_API_URL = 'https://api.github.com',
  GITHUB_REPOSITORY,
  GITHUB_TOKEN,
  PULL_REQUEST,
} = process.env
/** By it the comment is found again; nobody sees it. */
const MARK = '<!-- stagedoor data check -->'
/** GitHub takes 65,536 characters. */
const MAX_LENGTH = 60_000

const text = readFileSync(process.argv[2], 'utf8')
const cut =
  text.length > MAX_LENGTH
    ? `${text.slice(0, MAX_LENGTH)}\n\n… cut here; the summary of the job has all of it.`
    : text
const body = `${MARK}\n${cut}`

async function call(method, path, payload) {
  const reply = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${GITHUB_TOKEN}`,
      accept: 'application/vnd.github+json',
      'content-type': 'application/json',
    },
    ...(payload && { body: JSON.stringify(payload) }),
  })
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${(await reply.text()).slice(0, 300)}`)
  return reply.json()
}

async function ownComment() {
  for (let page = 1; ; page++) {
    const comments = await call('GET', `/issues/${PULL_REQUEST}/comments?per_page=100&page=${page}`)
    // Anybody may write the mark; only our own comment can be changed by a bot.
    const own = comments.find((comment) => comment.body?.startsWith(MARK) && comment.user?.type === 'Bot')
    if (own || comments.length < 100) return own
  }
}

const own = await ownComment()
if (own) await call('PATCH', `/issues/comments/${own.id}`, { body })
else await call('POST', `/issues/${PULL_REQUEST}/comments`, { body })
