-- The owner of every table, which nobody can log in as, and one login a service. Roles belong to the whole cluster:
-- another database of it may be migrated at this moment, so a role that has just appeared is no error. Nothing here
-- changes a role that is there; passwords are set from the configuration by `waybill migrate apply`.
DO $$
DECLARE
    login text;
BEGIN
    FOREACH login IN ARRAY ARRAY[
        'waybill_owner', 'waybill_api', 'waybill_relay', 'waybill_worker', 'waybill_search', 'waybill_stats',
        'waybill_notifier', 'waybill_reconciler'
    ] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = login) THEN
            BEGIN
                EXECUTE format(
                    'CREATE ROLE %I %s', login, CASE login WHEN 'waybill_owner' THEN 'NOLOGIN' ELSE 'LOGIN' END
                );
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;
            END;
        END IF;
    END LOOP;
END
$$;
