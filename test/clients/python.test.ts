/** The Python client on a real server: uploads, approvals, records, search, jobs, a worker; and its wheel. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signToken } from '../../src/access/tokens.ts'
import { enqueue, executorToken, stateOf } from '../http/jobs/executors-api.ts'
import { SECRET, useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import type { Member } from '../support/factories.ts'
import { createMember } from '../support/factories.ts'
import { useTrial } from '../support/ingest-rows.ts'
import { openToStatements } from '../support/proposals.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const PYTHON = process.env.PYTHON_PATH ?? 'python3'
const CLIENT = fileURLToPath(new URL('../../clients/python', import.meta.url))
const db = useDatabase()
const api = useApi(db, { reader: true })
const trial = useTrial(db, { approval: true })
const home = temporaryHome('python')
const running = new Set<ChildProcess>()
let url: string
let agent: string
let reviewer: Member
beforeAll(async () => {
  await db.owner(`update iu_core.dot_config set value = 'true' where key like 'iu_core.staging%'`)
  url = await api.listen()
  agent = await api.token(await createMember(db, trial.workspace, 'agent'))
  reviewer = trial.reviewer as Member
})
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

interface Run {
  readonly child: ChildProcess
  output(): string
  readonly ended: Promise<{ code: number | null; output: string }>
}

/** A script with the client on its path; it prints what the test looks at. */
function python(script: string, token: string, ...args: string[]): Run {
  const child = spawn(
    PYTHON,
    ['-u', '-W', 'error', '-c', `from stagedoor import *\nimport sys, json\n${script}`, ...args],
    {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        PYTHONPATH: CLIENT,
        PYTHONDONTWRITEBYTECODE: '1',
        API_URL: url,
        API_TOKEN: token,
      },
    },
  )
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data
    })
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }))
  return { child, output: () => output, ended }
}

const requestOf = (key: string) =>
  until(`the request ${key}`, async () => {
    const rows = await db.owner<{ id: string; digest: string }>(
      `select a.staging_record_id as id, r.content_hash as digest from iu_core.approval a
         join iu_core.iu_staging_record r using (staging_record_id) where a.approval_key = $1`,
      [key],
    )
    return rows[0]
  })
const approve = async (key: string, answers: object = {}) => {
  const { id, digest } = await requestOf(key)
  const answer = await api.post(`/api/v1/approvals/${id}/approve`, await api.token(reviewer), {
    digest,
    answers,
  })
  expect(answer.status).toBe(200)
  return id
}

describe('approvals', () => {
  it('asks and waits: who decided what, and what was filled in', async () => {
    const asked = python(
      `decision = Client().approvals.request(key="p1", title="Refund", show="**120.00**", timeout="1h",
    form=[{"name": "amount", "type": "number", "required": True}])
print(decision["status"], decision["answers"], decision["decisions"][0]["by"])`,
      agent,
    )
    await approve('p1', { amount: 80 })
    expect(await asked.ended).toEqual({ code: 0, output: `approved {'amount': 80} ${reviewer.userId}\n` })
  })

  const REFUND = `
client = Client()
@require_approval(client, title="Refund", key=lambda order, amount="0": f"order {order}")
def refund(order, amount="0"):
    print("paying", order, amount)
    if len(sys.argv) > 2: import time; time.sleep(600)
    return "paid"
try:
    print(refund(int(sys.argv[1])))
except (ApprovalNotGiven, ApprovalUsed) as error:
    print(type(error).__name__, error)`

  it('runs a decorated function once after its arguments were approved, however many ask', async () => {
    const both = [python(REFUND, agent, '7'), python(REFUND, agent, '7')]
    const id = await approve('order 7')
    const ended = await Promise.all(both.map(({ ended }) => ended))
    const outputs = ended.map(({ output }) => output).sort()
    expect(outputs[0]).toMatch(/^ApprovalUsed Refund was approved, and that approval is used/)
    expect(outputs[1]).toBe('paying 7 0\npaid\n')
    const { rows } = await db.pool('stagedoor_worker').query('select iu_core.fn_approval_get($1) as a', [id])
    expect(rows[0].a).toMatchObject({ run: { status: 'applied' } })
    const [part] = await db.owner(
      'select payload_json from iu_core.iu_staging_payload where staging_record_id = $1 and part_index = 1',
      [id],
    )
    expect(part).toEqual({ payload_json: { arguments: { order: 7, amount: '0' } } })
  })

  it('survives kill -9 while it waits, and is not begun again after kill -9 while it runs', async () => {
    const first = python(REFUND, agent, '8', 'hang')
    await requestOf('order 8')
    first.child.kill('SIGKILL')
    const second = python(REFUND, agent, '8', 'hang')
    await approve('order 8')
    await until('the payment', () => second.output().includes('paying'))
    second.child.kill('SIGKILL')
    const third = await python(REFUND, agent, '8').ended
    expect(third.output).toMatch(/^ApprovalUsed .*\(running\)/)
  })

  it('does not run what was rejected, and refuses what would be shown otherwise', async () => {
    const asked = python(REFUND, agent, '9')
    const { id } = await requestOf('order 9')
    await api.post(`/api/v1/staging/${id}/reject`, await api.token(reviewer), { reason: 'not covered' })
    expect((await asked.ended).output).toBe(
      'ApprovalNotGiven Refund was not approved: rejected (not covered)\n',
    )
    const big = await python(
      `try: Client().approvals.open(key="big", title="t", show={"id": 2**53 + 1})
except ValueError as error: print(error)`,
      agent,
    ).ended
    expect(big.output).toContain('is beyond 2^53')
  })

  it('runs with what was shown, and asks for nothing that would be shown otherwise', async () => {
    const asked = python(
      `import datetime, threading
client = Client()
@require_approval(client, title="Pay", key=lambda order: "mutated")
def pay(order): print("paying", order)
order = {"amount": 10, "lines": ["A"]}
threading.Timer(0.05, lambda: (order.update(amount=10000), order["lines"].append("B"))).start()
pay(order)
class Order: amount = 10
given = Order()
@require_approval(client, title="Pay", key=lambda order: "changed", show=lambda order: f"**{order.amount}**")
def pay_order(order): print("paid", order.amount)
def change(): given.amount = 10000
client.approvals.wait = (lambda wait: lambda *a, **k: (wait(*a, **k), change())[0])(client.approvals.wait)
try: pay_order(given)
except ValueError as error: print(error)
for value in [datetime.date(2026, 1, 1), {1: "a"}, {"a": {1, 2}}, b"x", given]:
    try: require_approval(client, title="Pay")(lambda value: print("ran"))(value)
    except TypeError as error: print(str(error)[:13])`,
      agent,
    )
    await approve('mutated')
    const id = await approve('changed')
    expect((await asked.ended).output).toBe(
      `paying {'amount': 10, 'lines': ['A']}
What Pay shows has changed since it was asked for: ask again under another key
${'argument 1 is\n'.repeat(2)}argument 1.a \n${'argument 1 is\n'.repeat(2)}`,
    )
    const { rows } = await db.pool('stagedoor_worker').query('select iu_core.fn_approval_get($1) as a', [id])
    expect(rows[0].a).toMatchObject({ run: null })
  })

  it('says what became of an approval between the decision and its use', async () => {
    const raced = (meanwhile: string) => `
import time
client = Client()
use = client.approvals.use
def raced(approval_id, **more):
    ${meanwhile}
    return use(approval_id, **more)
client.approvals.use = raced
@require_approval(client, title="Refund", key=lambda: sys.argv[1])
def refund(): print("paying")
try: refund()
except (ApprovalNotGiven, ApprovalUsed) as error: print(type(error).__name__, error)`
    const taken = python(raced('use(approval_id, **more)'), agent, 'taken')
    await approve('taken')
    expect((await taken.ended).output).toMatch(/^ApprovalUsed Refund was approved, and that approval is used/)

    const late = python(
      raced('while client.approvals.get(approval_id)["status"] != "expired": time.sleep(0.02)'),
      agent,
      'late',
    )
    const id = await approve('late')
    await db.pool('postgres').query(
      `begin; set local session_replication_role = replica;
         update iu_core.iu_staging_record set expires_at = clock_timestamp() where staging_record_id = '${id}'; commit`,
    )
    expect((await late.ended).output).toMatch(
      /^ApprovalNotGiven Refund was approved by \S+ and not used in time: it expired at \d{4}-/,
    )
  })

  it('decides nothing with the token of an agent', async () => {
    const asked = await python(
      `client = Client()
mine = client.approvals.open(key="own", title="t", show="x")
try: client.approvals.approve(mine["approval_id"], digest=mine["digest"])
except ApiError as error: print(error.status, error.code)
try: client.approvals.use(mine["approval_id"])
except ApiError as error: print(error.status, error.code)`,
      agent,
    ).ended
    expect(asked.output).toBe('403 permission_denied\n409 staging_not_approved\n')
  })
})

it('uploads a file, waits for its plan, looks at it and submits it', async () => {
  const operator = await api.token(trial.operator as Member)
  const file = join(home, 'figures.csv')
  writeFileSync(file, 'Group,Group name,Day,Amount\nA,Alpha,2026-11-01,1.50\nB,Beta,2026-11-02,2\n')
  const done = await python(
    `client = Client(workspace="${trial.workspace}")
made = client.uploads.create(sys.argv[1], dataset="trial", platform="file", client_id="${trial.client}")
upload = client.uploads.wait(made["upload"]["upload_id"])
print(upload["status"], upload["file_name"], len(client.uploads.plan_rows(upload["upload_id"])["rows"]) > 0)
print([one["upload_id"] for one in client.uploads.list()] == [upload["upload_id"]])
client.uploads.submit(upload["upload_id"], digest=upload["plan_digest"])
try: client.uploads.create(b"x", dataset="trial", platform="none-such")
except ApiError as error: print(error.status, bool(error.hint))`,
    operator,
    file,
  ).ended
  expect(done.output).toMatch(/^planned figures\.csv True\nTrue\n4\d\d True\n$/)
  expect(done.code).toBe(0)
})

it('proposes a statement, whose rows a person approves', async () => {
  await db.pool('postgres').query(`create table public.shelf (id integer primary key, price numeric);
    insert into public.shelf values (1, 10), (2, 20); grant select, insert, update, delete on public.shelf to workflow_admin`)
  await openToStatements(db, trial.workspace, 'public.shelf')
  const proposed = await python(
    `client = Client()
print([table["target"] for table in client.proposals.tables()])
made = client.proposals.create("update public.shelf set price = price + 1", key="week 45", title="One more", submit=True)
again = client.proposals.create("update public.shelf set price = price + 1", key="week 45")
print(made["created"], again["created"], again["upload"]["upload_id"] == made["upload"]["upload_id"], made["upload"]["review_status"])
print(made["upload"]["plan_totals"])
try: client.proposals.create("delete from public.workspaces")
except ApiError as error: print(error.status, error.code)
later = client.proposals.again(made["upload"]["upload_id"])
print(later["upload"]["upload_id"] != made["upload"]["upload_id"], later["upload"]["file_name"])`,
    agent,
  ).ended
  expect(proposed.output).toBe(
    `['public.shelf']\nTrue False True pending\n{'shelf': {'update': 2}}\n403 proposal_table_closed\nTrue One more\n`,
  )
})

it('stages records, lists them page by page, and searches', async () => {
  const operator = await api.token(trial.operator as Member)
  const done = await python(
    `client = Client(workspace="${trial.workspace}")
ids = [client.records.create(kind="nosql_payload", type="nosql_payload", purpose="p", key=f"k{n}",
       parts=[{"part_name": "p", "payload_kind": "json", "payload_json": {"n": n}}])["staging_record_id"] for n in range(3)]
listed = [record["staging_record_id"] for record in client.records.list(kind="nosql_payload", limit=2)]
print(sorted(ids) == sorted(listed), client.records.get(ids[0])["lifecycle_status"])
print(client.records.withdraw(ids[0])["lifecycle_status"])
print(type(client.search("days of leave")["hits"]).__name__)
print(repr(client))`,
    operator,
  ).ended
  expect(done).toEqual({ code: 0, output: `True pending\nrejected\nlist\nClient('${url}')\n` })
})

it('enqueues jobs, and a worker runs them: completed, failed for good, to be retried', async () => {
  const service = await signToken(SECRET, { subject: 'importer', role: 'service_role', expiresIn: '1h' })
  await enqueue(db, 'other_kind', 'external_worker')
  const enqueued = await python(
    `client = Client()
first = client.jobs.enqueue("greet", key="1", executor="external_worker", payload={"name": "Ann"})
print(first == client.jobs.enqueue("greet", key="1", executor="external_worker", payload={"name": "Ann"}))
print(first, client.jobs.enqueue("greet", executor="external_worker"), client.jobs.enqueue("greet", executor="external_worker", payload={"name": "fail"}))
print(client.jobs.get(first)["job_kind"])`,
    service,
  ).ended
  // The kind must be known: the same message as for every caller.
  if (enqueued.code !== 0) throw new Error(enqueued.output)
  const [good, bad, later] = enqueued.output.split('\n')[1]!.split(' ') as [string, string, string]
  const worked = await python(
    `worker = Worker(Client(), name="test")
@worker.handler("greet")
def greet(job, cancelled):
    name = job["payload"].get("name")
    if name is None: raise Fatal("it names nobody")
    if name == "fail": raise RuntimeError("not now")
    print("hello", name, cancelled())
    return {"greeted": name}
worker.run(until_idle=True)`,
    await executorToken('external_worker'),
  ).ended
  expect(worked).toEqual({ code: 0, output: expect.stringContaining('hello Ann False') })
  expect(await Promise.all([good, bad, later].map((id) => stateOf(db, id)))).toEqual([
    'completed',
    'dead',
    'waiting',
  ])
  expect(await db.owner("select from iu_core.job_worker where executor = 'external_worker'")).toEqual([])
})

it('waits for a server that is away, and says so where it does not wait', async () => {
  const away = await python(
    `import stagedoor.approvals
stagedoor.approvals.RETRY_S = (0,)
try: Client("http://127.0.0.1:9").approvals.open(key="k", title="t", show="x")
except Unreachable as error: print("unreachable")
try: Client("http://127.0.0.1:9", "t").jobs.get("1")
except ConnectionError as error: print("unreachable")`,
    agent,
  ).ended
  expect(away).toEqual({ code: 0, output: 'unreachable\nunreachable\n' })
})

it('has types that load', async () => {
  const typed = await python(
    `import typing, stagedoor.types as types
print(sorted(typing.get_type_hints(types.Approval))[:3], "approved" in str(typing.get_type_hints(types.Approval)["status"]))`,
    agent,
  ).ended
  expect(typed).toEqual({ code: 0, output: "['answers', 'approval_id', 'approved_at'] True\n" })
})

/** setuptools, and the command that makes wheels: part of it since 70, before that a package of its own. */
const BUILD_TOOLS = `
import setuptools, pip
try: import setuptools.command.bdist_wheel
except ImportError: import wheel.bdist_wheel`
const builder = [PYTHON, '/usr/bin/python3'].find((one) => spawnSync(one, ['-c', BUILD_TOOLS]).status === 0)

it.skipIf(builder === undefined)('is built as a wheel with everything in it, offline', () => {
  const [wheels, source] = [join(home, 'wheels'), join(home, 'source')]
  mkdirSync(wheels)
  // Of a copy: setuptools writes into the folder of the sources.
  cpSync(CLIENT, source, { recursive: true })
  const args = ['--no-deps', '--no-build-isolation', '--no-index', '-w', wheels, source]
  const built = spawnSync(builder!, ['-m', 'pip', 'wheel', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: home },
  })
  expect({ status: built.status, error: built.stderr }).toMatchObject({ status: 0 })
  expect(readdirSync(wheels)).toEqual(['stagedoor-0.1.0-py3-none-any.whl'])
  const inside = spawnSync(builder!, ['-m', 'zipfile', '-l', join(wheels, readdirSync(wheels)[0]!)], {
    encoding: 'utf8',
  }).stdout
  for (const name of ['__init__.py', 'api.py', 'approvals.py', 'worker.py', 'types.py', 'py.typed'])
    expect(inside).toContain(`stagedoor/${name}`)
})
