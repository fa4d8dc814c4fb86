/** Alerts and dashboard name only metrics and labels that the product reports, and commands that it has. */
import { Histogram, Registry } from 'prom-client'
import { describe, expect, it, vi } from 'vitest'
import { createMetrics } from '../../src/app/metrics.ts'
import { createProgram } from '../../src/cli/program.ts'
import { commandsIn, parseProblem } from '../docs/commands.ts'
import { deployFiles, parseYaml, readDeploy } from './files.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description?: string }
}
interface Panel {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

/** Labels of each metric, by the names that a scrape has. */
const reported = new Map<string, readonly string[]>()
{
  const spy = vi.spyOn(Registry.prototype, 'registerMetric')
  createMetrics()
  for (const [metric] of spy.mock.calls) {
    const { name, labelNames } = metric as unknown as { name: string; labelNames: string[] }
    if (metric instanceof Histogram) {
      reported.set(`${name}_bucket`, [...labelNames, 'le'])
      for (const part of ['sum', 'count']) reported.set(`${name}_${part}`, labelNames)
    } else reported.set(name, labelNames)
  }
  spy.mockRestore()
}
/** Some are registered only when they are first set. */
const lazily = new Set(
  [...readDeploy('../src/app/metrics.ts').matchAll(/\bname: '(stagedoor_\w+)'/g)].map(([, name]) => name!),
)

const groups = parseYaml<{ groups: { rules: Rule[] }[] }>(readDeploy('monitoring/alerts.yml'))[0]!.groups
const rules = groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(readDeploy('monitoring/grafana-dashboard.json')) as { panels: Panel[] }
const keda = deployFiles('kubernetes', '.yaml')
  .flatMap((path) => parseYaml<{ kind?: string; spec?: unknown }>(readDeploy(path)))
  .filter((document) => document?.kind === 'ScaledObject')
  .flatMap(({ spec }) => (spec as { triggers: { metadata: { query: string } }[] }).triggers)

const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel ${title}`, expr] as const),
  ),
  ...keda.map(({ metadata }) => ['KEDA', metadata.query] as const),
]

it('the registry of the product was read', () => {
  expect(reported.get('stagedoor_jobs')).toEqual(['kind', 'state'])
  expect(reported.has('stagedoor_job_duration_seconds_bucket')).toBe(true)
  expect(expressions.length).toBeGreaterThan(40)
  expect(keda).toHaveLength(1)
})

it.each(expressions)('%s: its metrics and labels exist: %s', (_name, expr) => {
  expect(problemsOf(expr)).toEqual([])
})

it('finds what does not exist', () => {
  expect(problemsOf('sum(stagedoor_jobz)')).toEqual(['stagedoor_jobz is not reported'])
  expect(problemsOf('stagedoor_jobs{color="red"}')).toEqual(['stagedoor_jobs has no label color'])
  expect(problemsOf('sum by (color) (rate(stagedoor_leases_lost_total[5m]))')).toEqual([
    'no metric here has the label color',
  ])
  expect(problemsOf('node_load1 > (1')).toEqual(['node_load1 is not reported', 'brackets do not match'])
})

describe('alerts', () => {
  it('have unique names, a severity and a sentence', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, labels, annotations } of rules) {
      expect(['warning', 'critical'], alert).toContain(labels.severity)
      expect(annotations.summary, alert).toMatch(/^[A-Z{].*\.$/)
    }
  })

  it('name commands that exist', async () => {
    const program = await createProgram()
    const commands = rules.flatMap(({ annotations }) => commandsIn(annotations.description ?? ''))
    expect(commands.length).toBeGreaterThan(4)
    for (const words of commands) expect(parseProblem(program, words), words.join(' ')).toBeUndefined()
  })
})

describe('the dashboard', () => {
  it('has panels that do not overlap, each with its own id', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const taken = new Set<string>()
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x} ${y}`), title).toBe(false)
          taken.add(`${x} ${y}`)
        }
    }
  })

  it('has legends of labels that its expressions keep', () => {
    for (const { title, targets = [] } of dashboard.panels)
      for (const { expr, legendFormat } of targets)
        for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect(expr, title).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b[^)]*\\)`))
  })
})

/** Words of PromQL that are no metrics. */
const WORDS = new Set(
  'sum max min count topk rate increase histogram_quantile absent by without offset and or unless'.split(' '),
)

/** Reads as much of PromQL as the files here use; an unknown word is taken for a metric. */
function problemsOf(expr: string): string[] {
  const problems: string[] = []
  const grouped = [...expr.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, names]) =>
    names!.split(/, ?/),
  )
  const bare = expr
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\[[^\]]*\]|\boffset \d+[smhd]/g, '')
    .replaceAll(/\b(by|without) \([^)]*\)/g, '')
  const metrics = [...bare.matchAll(/\b([a-z_][a-z0-9_]*)(\{[^}]*\})?/gi)]
    .map(([, name, matchers = '']) => ({ name: name!, matchers }))
    .filter(({ name }) => !WORDS.has(name))
  for (const { name, matchers } of metrics) {
    const labels = labelsOf(name)
    if (labels === undefined) problems.push(`${name} is not reported`)
    else if (labels !== 'unknown')
      for (const [, label] of matchers.matchAll(/(\w+)(?:=~|!~|!=|=)/g))
        if (!labels.includes(label!)) problems.push(`${name} has no label ${label}`)
  }
  const known = metrics.map(({ name }) => labelsOf(name) ?? [])
  for (const label of grouped)
    if (!known.some((labels) => labels === 'unknown' || labels.includes(label)))
      problems.push(`no metric here has the label ${label}`)
  for (const [open, close] of ['()', '{}', '[]'])
    if (expr.split(open!).length !== expr.split(close!).length) problems.push('brackets do not match')
  return problems
}

/** Prometheus adds job and instance to all, and reports `up` itself. */
function labelsOf(metric: string): readonly string[] | 'unknown' | undefined {
  const own = metric === 'up' ? [] : reported.get(metric)
  if (own) return [...own, 'job', 'instance']
  return lazily.has(metric) ? 'unknown' : undefined
}
