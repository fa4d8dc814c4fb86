export function MissingPage() {
  return (
    <>
      <h1>Page not found</h1>
      <p className="muted">
        <code>{location.pathname}</code> is not a page of this console. Part of the address may be missing.{' '}
        <a className="link" href="/">
          Go to the overview
        </a>
      </p>
    </>
  )
}
