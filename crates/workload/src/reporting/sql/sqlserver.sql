-- What reports run in SQL Server. Every dialect's file has the same names in the same order.

-- name: create
CREATE TABLE domains (
    domain_id int NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL
);
CREATE TABLE departments (
    department_id int NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL
);
CREATE TABLE classifications (
    classification_id int NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL
);
CREATE TABLE messages (
    message_id bigint NOT NULL PRIMARY KEY,
    sent_us bigint NOT NULL,
    sender_id int NOT NULL,
    domain_id int NOT NULL,
    department_id int NOT NULL,
    classification_id int NOT NULL,
    size_bytes int NOT NULL,
    subject varchar(2000) NOT NULL
);
CREATE TABLE message_data (
    events bigint NOT NULL,
    days int NOT NULL,
    subject_bytes int NOT NULL,
    seed bigint NOT NULL
);

-- name: indexes
CREATE INDEX messages_sent ON messages (sent_us)

-- name: are_indexed
-- One where all of them are there.
SELECT COUNT_BIG(*) FROM sys.indexes WHERE object_id = OBJECT_ID('messages') AND name LIKE 'messages[_]sent%'

-- name: statistics
-- Servers that speak T-SQL and are none of Microsoft's keep no such.
IF OBJECT_ID('sys.dm_db_stats_properties') IS NOT NULL EXEC (N'UPDATE STATISTICS messages')

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
SELECT domain.name, count_big(*), sum(CAST(message.size_bytes AS bigint))
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= {from_us} AND message.sent_us < {to_us}
    AND department.name LIKE {department} AND classification.name LIKE {classification}
GROUP BY domain.name

-- name: create_report_rows
CREATE PROCEDURE report_rows @from_us bigint, @to_us bigint, @department varchar(50), @classification varchar(50) AS
SET NOCOUNT ON;
SELECT domain.name, message.message_id, message.sent_us, message.sender_id, department.name, classification.name,
    message.size_bytes
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= @from_us AND message.sent_us < @to_us
    AND department.name LIKE @department AND classification.name LIKE @classification

-- name: create_report_aggregate
CREATE PROCEDURE report_aggregate @from_us bigint, @to_us bigint, @department varchar(50), @classification varchar(50) AS
SET NOCOUNT ON;
SELECT domain.name, count_big(*), sum(CAST(message.size_bytes AS bigint))
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= @from_us AND message.sent_us < @to_us
    AND department.name LIKE @department AND classification.name LIKE @classification
GROUP BY domain.name

-- name: call_report_rows
EXEC report_rows @P1, @P2, @P3, @P4

-- name: call_report_aggregate
EXEC report_aggregate @P1, @P2, @P3, @P4
