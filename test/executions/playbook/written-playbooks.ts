/** Playbooks that use the whole language; every one of them is right. */
export const REPAIR_ORDERS = `# Fetches orders, loads them side by side, and lets a person look at what is left.
name: repair-orders
description: Five steps
args:
  n: 10
  source: https://example.com
steps:
  - step: fetch
    tool: http
    args:
      url: \${args.source}/orders?n=\${args.n}
      headers: { authorization: "Bearer \${secret.SHOP}" }
    retry: 3
    timeout: 30s
    next: load
  - step: load
    loop:
      in: \${steps.fetch.result.items}
      as: order
      mode: fanout
      allow_partial: true
      key: \${order.id}
    tools:
      - tool: handler
        call: normalise
        args: { order: "\${order}", at: "\${index}" }
      - tool: sql
        args: { query: "insert into t values ($1)", params: ["\${prev}"] }
    retry: { attempts: 5, backoff: 500ms, max_backoff: 1m }
    next:
      - when: fanin.status == "partial"
        step: repair
      - approve
  - step: repair
    tool: playbook
    call: repair
    args: { failed: "\${steps.load.fanin.failed}" }
    on_error: continue
    next: approve
  - step: approve
    wait: { approval: "\${steps.load.results[0].id}", timeout: 2d }
    next:
      mode: inclusive
      arcs:
        - when: result.status == "approved"
          step: done
        - when: error != null || result.status == "timed_out"
          step: later
  - step: later
    wait: { event: staging.record_approved, subject: "\${args.source}", match: { n: "\${args.n}" }, timeout: 1h30m }
    next: pause
  - step: pause
    wait: { for: 90s }
    next: tomorrow
  - step: tomorrow
    wait: { until: 2030-01-01T00:00:00Z }
    next: done
  - step: done
    tool: sql
    args: { query: select 1 }
output: { n: "\${args.n}", last: "\${result}" }
`

export const HELLO = `name: hello
steps:
  - step: hello
    tool: handler
    call: greet
`

export const SEQUENTIAL = `name: one-after-the-other
steps:
  - { step: each, loop: { in: [1, 2, 3] }, tool: handler, call: work, args: { n: "\${item}" } }
`

export const RIGHT: readonly string[] = [REPAIR_ORDERS, HELLO, SEQUENTIAL]
