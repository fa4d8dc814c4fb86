/**
 * JSON Schema 2020-12 of a playbook as people write it, for completion and descriptions in editors. It is wider than what
 * parsePlaybook() takes: that knows of steps and expressions, and its word counts.
 */
import { type TSchema, Type } from 'typebox'
import { DURATION_PATTERN } from '../../kernel/duration.ts'
import { TOOL_SIGNATURES, type ToolArgument, type ToolSignature } from '../tools/tool.ts'
import { PLAYBOOK_NAME, STEP_NAME, TOOLS, type ToolName } from './definition.ts'

const strict = { additionalProperties: false }
const EXPRESSION = '\\$\\{'

export function playbookJsonSchema(): object {
  const schema = Type.Object(
    {
      name: Type.String({
        pattern: PLAYBOOK_NAME.source,
        description: 'What it is started by.',
        examples: ['import-orders'],
      }),
      description: about('What it is for.'),
      args: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'What an execution can be given, with the values that hold otherwise.',
          examples: [{ n: 100 }],
        }),
      ),
      start: Type.Optional(stepName('Where it begins; the first step unless said.')),
      steps: Type.Array(step(), { minItems: 1, maxItems: 500, description: 'What it does.' }),
      output: Type.Optional(
        Type.Unknown({
          description: `What the whole gives back; texts in it may hold \${ CEL }.`,
          examples: [{ done: `\${steps.load.fanin.done}` }],
        }),
      ),
    },
    {
      ...strict,
      title: 'Stagedoor playbook',
      description: 'Steps that outlive every process that runs them.',
    },
  )
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...plain(schema) }
}

/** TypeBox marks its schemas with keys of its own, which no editor needs. */
function plain(schema: TSchema): object {
  return JSON.parse(JSON.stringify(schema)) as object
}

function about(description: string) {
  return Type.Optional(Type.String({ description }))
}

function stepName(description: string) {
  return Type.String({ pattern: STEP_NAME.source, description })
}

function duration(description: string) {
  return Type.String({ pattern: DURATION_PATTERN, description, examples: ['500ms', '30s', '5m', '2h', '2d'] })
}

function step() {
  const properties = {
    step: stepName('Its name; expressions read what it gave as steps.NAME.result.'),
    description: about('What it is for.'),
    ...toolProperties(false),
    tools: Type.Optional(
      Type.Array(tool(), {
        maxItems: 20,
        description:
          'Several tools, run in order as one command; each sees the result of the one before it as `prev`.',
      }),
    ),
    loop: Type.Optional(loop()),
    wait: Type.Optional(wait()),
    approval: Type.Optional(approval()),
    retry: Type.Optional(retry()),
    timeout: Type.Optional(duration('Of one attempt.')),
    on_error: Type.Optional(
      choice(
        ['fail', 'continue'],
        'After the last attempt: end the execution, or go on with `error` set. fail unless said.',
      ),
    ),
    next: Type.Optional(next()),
  }
  const needs = ['tool', 'tools', 'wait', 'approval'].map((key) => ({ required: [key] }))
  return Type.Object(properties, { ...strict, oneOf: needs, allOf: argumentsByTool() })
}

function toolProperties(required: boolean) {
  const names = choice(TOOLS, toolDescription())
  return {
    tool: required ? names : Type.Optional(names),
    call: about('Of a handler or a playbook: its name.'),
    args: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: `What the tool is given; texts may hold \${ CEL }.`,
      }),
    ),
  }
}

function toolDescription(): string {
  const lines = Object.entries(TOOL_SIGNATURES)
  return ['What runs.', ...lines.map(([name, form]) => `${name}: ${form.about}`)].join('\n')
}

function tool() {
  return Type.Object(toolProperties(true), { ...strict, allOf: argumentsByTool() })
}

function argumentsByTool(): object[] {
  return (Object.entries(TOOL_SIGNATURES) as [ToolName, ToolSignature][]).map(([name, form]) => ({
    if: { properties: { tool: { const: name } }, required: ['tool'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      properties: form.args === undefined ? {} : { args: toolArguments(form.args) },
      required: [...(form.call === undefined ? [] : ['call']), ...(needsArguments(form) ? ['args'] : [])],
    },
  }))
}

function needsArguments({ args }: ToolSignature): boolean {
  return Object.values(args ?? {}).some(({ required }) => required)
}

function toolArguments(args: NonNullable<ToolSignature['args']>): object {
  const properties = Object.entries(args).map(([name, { about: description, ...argument }]) => {
    return [name, { description, ...ofKind(argument) }]
  })
  const required = Object.entries(args).flatMap(([name, argument]) =>
    argument.required && !argument.actions ? [name] : [],
  )
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false }
}

/** Whatever it is, `${…}` may give it. */
function ofKind({ kind, choices, max }: Pick<ToolArgument, 'kind' | 'choices' | 'max'>): object {
  const template = { type: 'string', pattern: EXPRESSION }
  if (choices !== undefined) return { anyOf: [{ enum: choices }, template] }
  if (max !== undefined) return { anyOf: [{ type: 'integer', minimum: 1, maximum: max }, template] }
  if (kind === 'any') return {}
  if (kind === 'text') return { type: 'string', minLength: 1 }
  const type = { list: 'array', map: 'object', number: 'number', boolean: 'boolean' }[kind]
  return { anyOf: [{ type }, template] }
}

function loop() {
  return Type.Object(
    {
      in: Type.Union([Type.Array(Type.Unknown()), Type.String({ pattern: '^\\s*\\$\\{[\\s\\S]*\\}\\s*$' })], {
        description: `A list, or \${ CEL } that gives one.`,
        examples: [`\${steps.fetch.result.items}`],
      }),
      as: Type.Optional(
        stepName('What an item is called in expressions; item unless said. Its place is `index`.'),
      ),
      mode: Type.Optional(
        choice(
          ['sequential', 'parallel', 'fanout'],
          'sequential: one after the other; parallel: some at a time; fanout: spread over all workers.',
        ),
      ),
      max_in_flight: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 10_000,
          description: '16 in parallel, 2000 in fanout unless said.',
        }),
      ),
      fail_fast: Type.Optional(
        Type.Boolean({ description: 'The first item that fails for good ends the loop.' }),
      ),
      allow_partial: Type.Optional(
        Type.Boolean({
          description: 'Some done and some failed is not a failure: fanin.status is "partial".',
        }),
      ),
      key: Type.Optional(
        Type.String({ description: 'Names an item in the log.', examples: [`\${item.id}`] }),
      ),
    },
    {
      ...strict,
      description: 'Runs the tools for each item.',
      examples: [{ in: `\${args.ids}`, mode: 'fanout' }],
    },
  )
}

function wait() {
  const timeout = Type.Optional(duration('Then it goes on with result.status "timed_out".'))
  return Type.Union(
    [
      Type.Object({ for: duration('How long.') }, strict),
      Type.Object(
        { until: Type.String({ description: `A time with its zone, or \${ CEL } that gives one.` }) },
        strict,
      ),
      Type.Object(
        {
          event: Type.String({ description: 'domain.type', examples: ['staging.record_approved'] }),
          subject: about('Only events about this.'),
          match: Type.Optional(
            Type.Record(Type.String(), Type.Unknown(), { description: 'What its payload must contain.' }),
          ),
          since: Type.Optional(
            Type.String({
              description:
                'A step: events count from when it began. Default: from the beginning of the execution.',
              examples: ['order'],
            }),
          ),
          timeout,
        },
        strict,
      ),
      Type.Object(
        {
          approval: Type.String({
            description: 'The id of a staging record.',
            examples: [`\${steps.stage.result.id}`],
          }),
          timeout,
        },
        strict,
      ),
    ],
    {
      description: 'Waits for a time, an event or a decision of a person, holding no worker.',
      examples: [{ for: '2d' }],
    },
  )
}

/** The arguments of the tool `approval`; the step waits for the decision. */
function approval() {
  return Type.Unsafe({
    ...toolArguments(TOOL_SIGNATURES.approval.args!),
    description:
      'Asks people and waits for their decision, holding no worker. result.status is approved, rejected, changes_requested, withdrawn or expired; result.answers is what was filled in.',
    examples: [{ title: `Refund of order \${args.order}`, show: { order: `\${args.order}` }, timeout: '2d' }],
  })
}

function retry() {
  const attempts = Type.Integer({
    minimum: 1,
    maximum: 100,
    description: 'All attempts together; 1 is no retry.',
  })
  return Type.Union(
    [
      attempts,
      Type.Object(
        {
          attempts,
          backoff: Type.Optional(
            duration('Before the second attempt; doubled before each further one. 1s unless said.'),
          ),
          max_backoff: Type.Optional(duration('It grows no further. 5m unless said.')),
        },
        strict,
      ),
    ],
    { description: 'How often it is tried.', examples: [3, { attempts: 5, backoff: '2s' }] },
  )
}

function next() {
  const arc = Type.Union([
    stepName('Always.'),
    Type.Object(
      {
        when: Type.Optional(
          Type.Union([Type.String(), Type.Boolean()], {
            description: 'CEL over args, steps, result, error and fanin.',
            examples: ['fanin.status == "partial"', 'result.status == "approved"'],
          }),
        ),
        step: stepName('Where to.'),
      },
      strict,
    ),
  ])
  const arcs = Type.Array(arc, { maxItems: 100, description: 'The first that holds is taken.' })
  return Type.Union(
    [
      stepName('Always there.'),
      arcs,
      Type.Object(
        {
          mode: Type.Optional(choice(['exclusive', 'inclusive'], 'The first arc that holds, or every one.')),
          arcs,
        },
        strict,
      ),
      Type.Null(),
    ],
    { description: 'Where it goes on; nowhere unless said.' },
  )
}

function choice(values: readonly string[], description: string) {
  return Type.Enum([...values], { description })
}
