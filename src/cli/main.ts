#!/usr/bin/env node
import { run } from './program.ts'

// Whoever reads has seen enough (`| head -2`). What the command is about is still done to its end.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await run(process.argv)
