-- What reports run in SQLite. Every dialect's file has the same names in the same order; this one lacks procedures.

-- name: create
CREATE TABLE domains (
    domain_id integer NOT NULL PRIMARY KEY,
    name text NOT NULL
);
CREATE TABLE departments (
    department_id integer NOT NULL PRIMARY KEY,
    name text NOT NULL
);
CREATE TABLE classifications (
    classification_id integer NOT NULL PRIMARY KEY,
    name text NOT NULL
);
CREATE TABLE messages (
    message_id integer NOT NULL PRIMARY KEY,
    sent_us bigint NOT NULL,
    sender_id integer NOT NULL,
    domain_id integer NOT NULL,
    department_id integer NOT NULL,
    classification_id integer NOT NULL,
    size_bytes integer NOT NULL,
    subject text NOT NULL
);
CREATE TABLE message_data (
    events integer NOT NULL,
    days integer NOT NULL,
    subject_bytes integer NOT NULL,
    seed integer NOT NULL
);

-- name: indexes
CREATE INDEX messages_sent ON messages (sent_us)

-- name: are_indexed
-- One where all of them are there.
SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'messages' AND name = 'messages_sent'

-- name: statistics
ANALYZE

-- name: report_rows
SELECT domain.name, message.message_id, message.sent_us, message.sender_id, department.name, classification.name,
    message.size_bytes
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= {from_us} AND message.sent_us < {to_us}
    AND department.name LIKE {department} AND classification.name LIKE {classification}

-- name: report_aggregate
SELECT domain.name, count(*), sum(message.size_bytes)
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= {from_us} AND message.sent_us < {to_us}
    AND department.name LIKE {department} AND classification.name LIKE {classification}
GROUP BY domain.name
