/** Everything that can be known to be wrong with a playbook before it runs. */
import { checkCalls, type PlaybookOf } from './check-calls.ts'
import { checkExpressions } from './check-expressions.ts'
import { checkGraph } from './check-graph.ts'
import { checkSecrets } from './check-secrets.ts'
import { checkTools } from './check-tools.ts'
import type { Playbook } from './definition.ts'
import { Findings } from './problem.ts'

export interface CheckOptions {
  /** Handlers that the process knows; a playbook may be registered by one that does not run it, so others are a warning. */
  readonly handlers?: readonly string[]
  /** Other playbooks, to find those that call each other in a circle. */
  readonly playbooks?: PlaybookOf
}

/** Places are those of the playbook as it is run. */
export function checkPlaybook(playbook: Playbook, options: CheckOptions = {}): Findings {
  const findings = new Findings()
  checkGraph(playbook, findings)
  checkTools(playbook, findings, options.handlers)
  checkSecrets(playbook, findings)
  checkExpressions(playbook, findings)
  checkCalls(playbook, findings, options.playbooks)
  return findings
}
