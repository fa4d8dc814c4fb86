/** The page that a browser shows when a sign-in at the identity provider failed: what happened and what to do, in the look of the console. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { text } from './reference.ts'

const CONSOLE_PAGE = fileURLToPath(new URL('../../console/dist/index.html', import.meta.url))

interface SignInProblem {
  readonly message: string
  readonly hint: string
  /** Of somebody whom the provider knows and Stagedoor does not. */
  readonly subject: string | undefined
  readonly requestId: string
}

/** No script and no style of its own: the content security policy allows neither. */
export function signInProblemPage({ message, hint, subject, requestId }: SignInProblem): string {
  const id =
    subject === undefined
      ? ''
      : `<p>Your id at the identity provider: <code id="subject">${text(subject)}</code></p>
         <p class="tiny">An administrator can also add you with <code>stagedoor member add --user ID --role operator</code>.</p>`
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign-in · Stagedoor</title>${stylesheets()}</head>
<body><main class="door">
<h1>You are not signed in</h1>
<div class="door-trouble" role="alert"><b>${text(message)}.</b> ${text(hint)}</div>
${id}
<p><a class="button is-next" href="/">Back to the sign-in page</a></p>
<p class="tiny">request <code>${text(requestId)}</code></p>
</main></body></html>
`
}

/** Those of the console: their names change with every build. */
function stylesheets(): string {
  if (!existsSync(CONSOLE_PAGE)) return ''
  const links = readFileSync(CONSOLE_PAGE, 'utf8').match(/<link\b[^>]*rel="stylesheet"[^>]*>/g) ?? []
  return links.join('')
}
