/** An id as PostgreSQL writes it. Looked at before the database is asked, which would speak of the syntax of a type. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
