export function Brand() {
  return (
    <div className="brand">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <rect x="3" y="2" width="18" height="20" rx="2" />
        <path d="M8 2v20" />
        <circle cx="16" cy="12" r="1.7" />
      </svg>
      Stagedoor
    </div>
  )
}
