-- Whether a committed row waits that the snapshot $1 does not see; $2 are its transactions in progress, $3 is the last row
-- of before a restore. Lock: none. Index: events_by_xid of every partition, one probe each. Ordered, because an estimate
-- of many rows would otherwise make a sequential scan look cheap. Transactions that are still in progress are not looked
-- at.
SELECT
    (
        SELECT seq FROM events
        WHERE xid >= pg_snapshot_xmax($1) AND pg_visible_in_snapshot(xid, pg_current_snapshot()) AND seq > $3
        ORDER BY xid
        LIMIT 1
    ) IS NOT NULL
    OR (
        SELECT seq FROM events
        WHERE xid = ANY (ARRAY(
            SELECT ended FROM unnest($2::xid8[]) AS ended
            WHERE pg_visible_in_snapshot(ended, pg_current_snapshot())
        )) AND seq > $3
        ORDER BY xid
        LIMIT 1
    ) IS NOT NULL
