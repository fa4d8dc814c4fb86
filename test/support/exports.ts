/** The generator of large exports; it lives with the benchmark, which cannot reach into test/. */
export * from '../../bench/src/ingest/exports.ts'
