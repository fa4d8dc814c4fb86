-- Sessions of the console: who a browser is signed in as. The API calls these functions as service_role; people call none of them.

-- Creates a session for a subject, by the sha-256 of the cookie's random id, and returns its name. p_replaces is the cookie that the
-- browser had before: that session ends, so an id that somebody planted there signs nobody in. A subject has at most 20 sessions:
-- those that were used least recently end.
create or replace function iu_core.fn_session_create(
  p_id_hash text,
  p_subject text,
  p_database_role name,
  p_provider text,
  p_user_agent text,
  p_lifetime interval,
  p_idle_timeout interval,
  p_read_only boolean default false,
  p_replaces text default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid;
begin
  if p_lifetime is null or p_lifetime not between interval '1 second' and interval '90 days'
     or p_idle_timeout is null or p_idle_timeout not between interval '1 second' and interval '90 days' then
    raise exception using errcode = 'SD001', message = 'A session lasts between one second and 90 days';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('iu_core.web_session ' || p_subject, 0));
  update iu_core.web_session set revoked_at = clock_timestamp() where id_hash = p_replaces and revoked_at is null;
  update iu_core.web_session set revoked_at = clock_timestamp()
   where session_id in (
     select session_id from iu_core.web_session
      where subject = p_subject and revoked_at is null and expires_at > clock_timestamp()
      order by last_seen_at desc, session_id desc offset 19);
  insert into iu_core.web_session (id_hash, subject, database_role, provider, user_agent, idle_timeout, expires_at, read_only)
  values (p_id_hash, p_subject, p_database_role, p_provider, left(coalesce(p_user_agent, ''), 200), p_idle_timeout,
          clock_timestamp() + p_lifetime, coalesce(p_read_only, false))
  returning session_id into v_id;
  return v_id;
end $$;

grant execute on function iu_core.fn_session_create(text, text, name, text, text, interval, interval, boolean, text) to service_role;

-- The session of a cookie, by its sha-256; no row if it expired, was idle for too long or was revoked. Every request calls it, so the
-- time of use is written at most once a minute.
create or replace function iu_core.fn_session_check(p_id_hash text)
returns table (session_id uuid, subject text, database_role name, read_only boolean, provider text, created_at timestamptz,
               expires_at timestamptz, idle_until timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  s iu_core.web_session;
  v_now constant timestamptz := clock_timestamp();
begin
  select * into s from iu_core.web_session w where w.id_hash = p_id_hash;
  if not found or s.revoked_at is not null or s.expires_at <= v_now or s.last_seen_at + s.idle_timeout <= v_now then
    return;
  end if;
  if s.last_seen_at <= v_now - interval '1 minute' then
    update iu_core.web_session w set last_seen_at = v_now
     where w.session_id = s.session_id and w.last_seen_at = s.last_seen_at and w.revoked_at is null;
    s.last_seen_at := v_now;
  end if;
  return query select s.session_id, s.subject, s.database_role, s.read_only, s.provider, s.created_at, s.expires_at,
                      s.last_seen_at + s.idle_timeout;
end $$;

grant execute on function iu_core.fn_session_check(text) to service_role;

-- The live sessions of one subject, the most recently used first.
create or replace function iu_core.fn_session_list(p_subject text)
returns table (session_id uuid, subject text, provider text, user_agent text, read_only boolean, created_at timestamptz,
               last_seen_at timestamptz, expires_at timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.session_id, s.subject, s.provider, s.user_agent, s.read_only, s.created_at, s.last_seen_at, s.expires_at
    from iu_core.web_session s
   where s.subject = p_subject and s.revoked_at is null and s.expires_at > clock_timestamp()
     and s.last_seen_at + s.idle_timeout > clock_timestamp()
   order by s.last_seen_at desc, s.session_id desc
$$;

grant execute on function iu_core.fn_session_list(text) to service_role, dot_executor;

-- Ends one session of a subject, or all of them where p_session_id is NULL. Returns how many were live.
create or replace function iu_core.fn_session_revoke(p_subject text, p_session_id uuid default null) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended integer;
begin
  if p_subject is null then
    raise exception using errcode = 'SD001', message = 'Name the subject whose sessions end';
  end if;
  update iu_core.web_session set revoked_at = clock_timestamp()
   where subject = p_subject and revoked_at is null and (p_session_id is null or session_id = p_session_id);
  get diagnostics v_ended = row_count;
  return v_ended;
end $$;

grant execute on function iu_core.fn_session_revoke(text, uuid) to service_role, dot_executor;

-- Deletes sessions that ended, sign-ins that were never completed and old codes; invitations and machine tokens are kept for 90 days after
-- their end, so that an administrator sees what there was. For the periodic maintenance.
create or replace function iu_core.fn_access_cleanup(p_limit integer default 10000) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_sessions integer;
  v_count integer;
begin
  delete from iu_core.web_session where session_id in (
    select session_id from iu_core.web_session
     where expires_at <= v_now or last_seen_at + idle_timeout <= v_now or revoked_at is not null
     limit p_limit for update skip locked);
  get diagnostics v_sessions = row_count;
  delete from iu_core.sign_in_flow where state_hash in (
    select state_hash from iu_core.sign_in_flow where expires_at <= v_now limit p_limit for update skip locked);
  get diagnostics v_count = row_count;
  v_sessions := v_sessions + v_count;
  delete from iu_core.sign_in_code where expires_at <= v_now;
  get diagnostics v_count = row_count;
  v_sessions := v_sessions + v_count;
  delete from iu_core.invitation where coalesce(accepted_at, revoked_at, expires_at) <= v_now - interval '90 days';
  get diagnostics v_count = row_count;
  v_sessions := v_sessions + v_count;
  delete from iu_core.machine_token where least(revoked_at, expires_at) <= v_now - interval '90 days';
  get diagnostics v_count = row_count;
  return v_sessions + v_count;
end $$;

grant execute on function iu_core.fn_access_cleanup(integer) to dot_executor;

-- Sign-in at an identity provider: what the browser must bring back.

-- Keeps what a sign-in at the identity provider needs when the browser returns, for ten minutes. At most 10,000 wait at once: the oldest go,
-- because anybody may begin a sign-in.
create or replace function iu_core.fn_sign_in_flow_add(
  p_state_hash text, p_browser_hash text, p_nonce text, p_code_verifier text, p_return_to text, p_invitation_hash text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from iu_core.sign_in_flow where state_hash in (
    select state_hash from iu_core.sign_in_flow order by expires_at desc offset 9999 limit 1000);
  insert into iu_core.sign_in_flow (state_hash, browser_hash, nonce, code_verifier, return_to, invitation_hash, expires_at)
  values (p_state_hash, p_browser_hash, p_nonce, p_code_verifier, p_return_to, p_invitation_hash, clock_timestamp() + interval '10 minutes');
end $$;

grant execute on function iu_core.fn_sign_in_flow_add(text, text, text, text, text, text) to service_role;

-- Takes what was kept for this state and this browser. It works once: a replayed callback gets no row.
create or replace function iu_core.fn_sign_in_flow_take(p_state_hash text, p_browser_hash text)
returns table (nonce text, code_verifier text, return_to text, invitation_hash text)
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  with taken as (
    delete from iu_core.sign_in_flow f
     where f.state_hash = p_state_hash and f.browser_hash = p_browser_hash returning f.*
  )
  select t.nonce, t.code_verifier, t.return_to, t.invitation_hash from taken t where t.expires_at > clock_timestamp()
$$;

grant execute on function iu_core.fn_sign_in_flow_take(text, text) to service_role;
