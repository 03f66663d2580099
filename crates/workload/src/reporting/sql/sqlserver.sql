-- What reports run in SQL Server. Every dialect's file has the same names in the same order.

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
    message_id bigint NOT NULL PRIMARY KEY,
    sent_us bigint NOT NULL,
    sender_id integer NOT NULL,
    domain_id integer NOT NULL,
    department_id integer NOT NULL,
    classification_id integer NOT NULL,
    size_bytes integer NOT NULL
);

-- name: indexes
CREATE INDEX messages_sent ON messages (sent_us);
UPDATE STATISTICS messages;

-- name: report_rows
SELECT domain.name, message.message_id, message.sent_us, message.sender_id, department.name, classification.name,
    message.size_bytes
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= @P1 AND message.sent_us < @P2
    AND department.name LIKE @P3 AND classification.name LIKE @P4

-- name: report_aggregate
SELECT domain.name, count_big(*), sum(CAST(message.size_bytes AS bigint))
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= @P1 AND message.sent_us < @P2
    AND department.name LIKE @P3 AND classification.name LIKE @P4
GROUP BY domain.name
