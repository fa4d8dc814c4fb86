// The story of this folder as a program: plain Node, the library, and the API. README.md says how to run it.
import pg from 'pg'
import { createStagedoor } from 'stagedoor'
import { loadStory } from './story.mjs'

const {
  API_URL = 'http://localhost:4680',
  DATABASE_DIRECT_URL,
  OPERATOR_TOKEN,
  REVIEWER_TOKEN,
  AGENT_TOKEN,
} = process.env
if (!DATABASE_DIRECT_URL || !OPERATOR_TOKEN || !REVIEWER_TOKEN || !AGENT_TOKEN)
  throw new Error(
    'Set DATABASE_URL, DATABASE_DIRECT_URL and the tokens of operator, reviewer and agent; README.md says how.',
  )

const stagedoor = await createStagedoor()
const owner = new pg.Client({ connectionString: DATABASE_DIRECT_URL })
await owner.connect()
try {
  await owner.query('set role workflow_admin')
  const tokens = { operator: OPERATOR_TOKEN, reviewer: REVIEWER_TOKEN, agent: AGENT_TOKEN }
  const places = await loadStory({ url: API_URL, tokens, stagedoor, owner, say: console.log })
  console.log('')
  for (const { what, path } of places) console.log(`${what.padEnd(45)}${API_URL}${path}`)
} finally {
  await owner.end()
  await stagedoor.close()
}
