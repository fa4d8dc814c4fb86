/** Everything that a migration could have changed in a database, to be compared before and after. */
import { ROLES } from '../../../../src/kernel/postgres/migrate/bootstrap.ts'
import type { BareDatabase } from '../../../support/empty-database.ts'

export function catalogue(database: BareDatabase): Promise<unknown[]> {
  return database.superuser(
    `select 'schema' as kind, nspname::text as name, nspacl::text as state from pg_namespace where nspname !~ '^pg_'
     union all select 'relation', oid::regclass::text, concat(relkind, relowner, relacl, relrowsecurity, relnatts)
       from pg_class where relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
     union all select 'function', oid::regprocedure::text, concat(proowner, proacl, md5(prosrc))
       from pg_proc where pronamespace::regnamespace::text !~ '^(pg_|information_schema)'
     union all select 'trigger', concat(tgrelid::regclass, tgname), tgfoid::text from pg_trigger where not tgisinternal
     union all select 'role', rolname, concat(rolsuper, rolcanlogin, rolinherit, rolcreaterole) from pg_roles where rolname = any ($1)
     order by 1, 2`,
    [ROLES.map((role) => role.name)],
  )
}
