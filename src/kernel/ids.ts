/** A UUID as PostgreSQL writes it. Checked before a query, because PostgreSQL's own error would name the syntax of a type. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
