import { NoAnswer } from './failure.ts'
import { addressOf, authorization, readAnswer } from './request.ts'

/** By fetch: a plain link would show a refusal in place of the page. */
export async function downloadFile(path: string, token: string | undefined, name: string): Promise<void> {
  const response = await fetch(addressOf(path), {
    headers: authorization(token),
    cache: 'no-store',
    credentials: 'same-origin',
  }).catch((cause) => {
    throw new NoAnswer('No answer from the server.', cause)
  })
  if (!response.ok) {
    readAnswer(response.status, response.headers.get('content-type'), await response.text())
    return
  }
  const address = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser reads the address after the click has returned.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
