/** Asking. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { search } from '../../../search/query.ts'
import { LIFECYCLES, MOST_HITS, type SearchFilters, SOURCES } from '../../../search/question.ts'
import { asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { jsonObject } from '../../json-argument.ts'
import { whole } from '../../numbers.ts'
import { unitName } from '../unit/named.ts'
import { printAnswer, printNothing } from './screen.ts'
import { type SearchOptions, searching } from './session.ts'

interface FindOptions extends SearchOptions {
  readonly limit: number
  readonly topic?: string[]
  readonly kind?: string[]
  readonly status?: SearchFilters['lifecycle']
  readonly language?: string[]
  readonly in?: string
  readonly edge?: NonNullable<SearchFilters['edge']>
  readonly profile?: Record<string, unknown>
  readonly source?: SearchFilters['source']
  readonly explain?: boolean
}

export function findCommand(): Command {
  return new Command('find')
    .description('ask: what you would say in words, "a phrase" in quotes, begin* for beginnings')
    .argument('[question...]', 'as one asks it')
    .option('--limit <n>', 'how many hits', whole(1, MOST_HITS), 10)
    .option('--topic <label>', 'only units that carry it; again for one or another', many)
    .option('--kind <kind>', 'only units of this kind; again for one or another', many)
    .addOption(
      new Option('--status <status>', 'only units so; default: draft and enacted').choices(LIFECYCLES),
    )
    .option('--language <code>', 'only texts in it; again for one or another', many)
    .option('--in <unit>', 'only this unit and what is in it', unitName)
    .option(
      '--edge <type[=target]>',
      'only units with such an edge, as cites, cites=handbook/leave or =handbook/leave',
      edge,
    )
    .option('--profile <json>', 'only units whose profile holds this', jsonObject)
    .addOption(new Option('--source <source>', 'only units, or only the old knowledge base').choices(SOURCES))
    .option('--workspace <id or name>', 'where; default: the only one there is')
    .option('--explain', 'say why each hit is there')
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      `
  $ stagedoor search how much annual leave do I get
  $ stagedoor search '"paid leave" carry*' --topic leave --status enacted
  $ stagedoor search travel --in handbook --as viewer

Every hit says how fresh it is. What was edited is in search about two minutes later; \`stagedoor search now\` does not wait.`,
    )
    .action(async (words: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<FindOptions>()
      const output = outputOf(options)
      const text = words.join(' ')
      await searching(options, async ({ workspace, transaction, opened, pool }) => {
        const answer = await search(
          { transaction, opened },
          {
            workspace_id: workspace,
            text,
            limit: options.limit,
            filters: filtersOf(options),
            explain: options.explain === true,
          },
        )
        if (answer.hits.length > 0 || output.json)
          return output.result(answer, () => printAnswer(output, answer, options.limit))
        await printNothing(output, answer, {
          pool,
          workspace,
          filtered: Object.keys(filtersOf(options)).length > 0,
        })
      })
    })
}

function filtersOf(options: FindOptions): SearchFilters {
  const { topic, kind, status, language, edge, profile, source } = options
  return {
    ...(topic && { topic }),
    ...(kind && { kind }),
    ...(status && { lifecycle: status }),
    ...(language && { language }),
    ...(options.in !== undefined && { container: options.in }),
    ...(edge && { edge }),
    ...(profile && { profile }),
    ...(source && { source }),
  }
}

function many(given: string, before: string[] = []): string[] {
  return [...before, given]
}

function edge(given: string): NonNullable<SearchFilters['edge']> {
  const at = given.includes('=') ? given.indexOf('=') : given.length
  const [type, target] = [given.slice(0, at), given.slice(at + 1)]
  if ((type === '' && target === '') || given.endsWith('='))
    throw new InvalidArgumentError('Its type, type=target or =target, as cites=handbook/leave.')
  return { ...(type !== '' && { type }), ...(target !== '' && { target }) }
}
