/**
 * What the compiler promises to a program on the library. tsc checks this file against `src` (npm run check -- types) and
 * against the packed package (npm run check -- package); at run time it does nothing.
 */
import { expectTypeOf, it } from 'vitest'
import {
  createStagedoor,
  type Dataset,
  type DatasetDeclaration,
  defineDataset,
  defineJobs,
  definePlaybook,
  definePlaybookHandlers,
  type ErrorCode,
  type IngestResult,
  type IngestRunOptions,
  type IngestSource,
  type Job,
  type JobContext,
  type NewEvent,
  type NewJob,
  type Playbook,
  type Promotion,
  type Stagedoor,
  StagedoorError,
  type StagedoorOptions,
  type Upload,
  VERSION,
  type Worker,
} from '../../src/index.ts'

type IsAny<T> = 0 extends 1 & T ? true : false

/** Paths of methods and properties that take or give `any`: there the compiler would check nothing. */
type AnyPaths<T, Path extends string = ''> = {
  [Name in keyof T & string]: IsAny<T[Name]> extends true
    ? `${Path}${Name}`
    : T[Name] extends (...given: infer Given) => infer Result
      ? true extends IsAny<Given[number]> | IsAny<Awaited<Result>>
        ? `${Path}${Name}`
        : never
      : T[Name] extends object
        ? AnyPaths<T[Name], `${Path}${Name}.`>
        : never
}[keyof T & string]

it('the library is opened with options that are all optional, and closed', () => {
  expectTypeOf(createStagedoor).returns.resolves.toEqualTypeOf<Stagedoor>()
  expectTypeOf<object>().toExtend<StagedoorOptions>()
  expectTypeOf<{ databaseUrl: string; home: string }>().toExtend<StagedoorOptions>()
  expectTypeOf<{ databaseUrl: number }>().not.toExtend<StagedoorOptions>()
  expectTypeOf<Stagedoor['close']>().returns.resolves.toBeVoid()
  expectTypeOf(VERSION).toBeString()
})

it('no method of it takes or gives any', () => {
  expectTypeOf<AnyPaths<Stagedoor>>().toBeNever()
})

it('an upload goes from a source to a promotion', () => {
  type Ingest = Stagedoor['ingest']
  expectTypeOf<Ingest['run']>().parameters.toEqualTypeOf<[source: IngestSource, options: IngestRunOptions]>()
  expectTypeOf<Ingest['run']>().returns.resolves.toEqualTypeOf<IngestResult>()
  expectTypeOf<string>().toExtend<IngestSource>()
  expectTypeOf<Ingest['get']>().returns.resolves.toEqualTypeOf<Upload | undefined>()
  expectTypeOf<Ingest['promote']>().returns.resolves.toEqualTypeOf<Promotion>()
  expectTypeOf(defineDataset).parameter(0).toEqualTypeOf<DatasetDeclaration>()
  expectTypeOf(defineDataset).returns.toEqualTypeOf<Dataset>()
})

it('handlers of jobs know their job and their context, and keep their names', () => {
  const handlers = defineJobs({
    send_report: async (job, context) => {
      expectTypeOf(job).toEqualTypeOf<Job>()
      expectTypeOf(context).toEqualTypeOf<JobContext>()
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>()
    },
    in_batches: {
      batch: 100,
      run: (jobs) => expectTypeOf(jobs).toEqualTypeOf<readonly Job[]>(),
    },
  })
  expectTypeOf(handlers).toHaveProperty('send_report')
  expectTypeOf(handlers).not.toHaveProperty('sned_report')
  expectTypeOf<Stagedoor['jobs']['enqueue']>().parameter(0).toEqualTypeOf<NewJob>()
  expectTypeOf<Stagedoor['jobs']['work']>().returns.resolves.toEqualTypeOf<Worker>()
  // @ts-expect-error A handler is a function, or a batch with its size.
  defineJobs({ send_report: 'later' })
})

it('events are emitted in a transaction of the caller’s and read in order', () => {
  type Events = Stagedoor['events']
  expectTypeOf<Events['emit']>().parameter(0).toEqualTypeOf<readonly NewEvent[]>()
  expectTypeOf<Events['read']>().returns.resolves.toBeNumber()
})

it('playbooks and their handlers are written in TypeScript', () => {
  expectTypeOf(definePlaybook).returns.toEqualTypeOf<Playbook>()
  const handlers = definePlaybookHandlers({ double: ({ n }) => Number(n) * 2 })
  expectTypeOf(handlers.double).returns.toBeNumber()
})

it('errors have a code of a closed list', () => {
  expectTypeOf<StagedoorError['code']>().toEqualTypeOf<ErrorCode>()
  expectTypeOf<string>().not.toExtend<ErrorCode>()
  expectTypeOf<'home_in_use'>().toExtend<ErrorCode>()
  expectTypeOf(StagedoorError).instance.toExtend<Error>()
})
