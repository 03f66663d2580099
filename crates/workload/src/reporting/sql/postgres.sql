-- What reports run in PostgreSQL. Every dialect's file has the same names in the same order.

-- name: create
CREATE TABLE domains (
    domain_id integer NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL
);
CREATE TABLE departments (
    department_id integer NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL
);
CREATE TABLE classifications (
    classification_id integer NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL
);
CREATE TABLE messages (
    message_id bigint NOT NULL,
    sent_us bigint NOT NULL,
    sender_id integer NOT NULL,
    domain_id integer NOT NULL,
    department_id integer NOT NULL,
    classification_id integer NOT NULL,
    size_bytes integer NOT NULL,
    subject varchar(2000) NOT NULL
);
CREATE TABLE message_data (
    events bigint NOT NULL,
    days integer NOT NULL,
    subject_bytes integer NOT NULL,
    seed bigint NOT NULL
);

-- name: indexes
ALTER TABLE messages ADD PRIMARY KEY (message_id);
CREATE INDEX messages_sent ON messages (sent_us)

-- name: are_indexed
-- One where all of them are there.
SELECT COUNT(*) / 2 FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'messages' AND indexname IN ('messages_pkey', 'messages_sent')

-- name: statistics
VACUUM (ANALYZE) messages, domains, departments, classifications

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
SELECT domain.name, count(*), CAST(sum(message.size_bytes) AS bigint)
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= {from_us} AND message.sent_us < {to_us}
    AND department.name LIKE {department} AND classification.name LIKE {classification}
GROUP BY domain.name

-- name: create_report_rows
CREATE FUNCTION report_rows(from_us bigint, to_us bigint, department_pattern text, classification_pattern text)
RETURNS TABLE (
    out_domain varchar, out_message_id bigint, out_sent_us bigint, out_sender_id integer, out_department varchar,
    out_classification varchar, out_size_bytes integer
) LANGUAGE plpgsql STABLE AS $body$
#variable_conflict use_column
BEGIN
RETURN QUERY SELECT domain.name, message.message_id, message.sent_us, message.sender_id, department.name, classification.name,
    message.size_bytes
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= from_us AND message.sent_us < to_us
    AND department.name LIKE department_pattern AND classification.name LIKE classification_pattern;
END $body$

-- name: create_report_aggregate
CREATE FUNCTION report_aggregate(from_us bigint, to_us bigint, department_pattern text, classification_pattern text)
RETURNS TABLE (out_domain varchar, out_messages bigint, out_bytes bigint) LANGUAGE plpgsql STABLE AS $body$
#variable_conflict use_column
BEGIN
RETURN QUERY SELECT domain.name, count(*), CAST(sum(message.size_bytes) AS bigint)
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= from_us AND message.sent_us < to_us
    AND department.name LIKE department_pattern AND classification.name LIKE classification_pattern
GROUP BY domain.name;
END $body$

-- name: call_report_rows
SELECT * FROM report_rows($1, $2, $3, $4)

-- name: call_report_aggregate
SELECT * FROM report_aggregate($1, $2, $3, $4)
