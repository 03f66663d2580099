//! A connection: commands, and their answers one after the other.
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_command_phase.html>

use std::sync::Arc;

use super::answer::{self, Done, Head};
use super::column::ColumnDefinition;
use super::execute::{Parameters, put_execute};
use super::fields::Fields;
use super::greeting::Capabilities;
use super::packets::{ERROR, Packets};
use super::row::Encoding;
use super::{DriverError, DriverResult, Row};

const QUIT: u8 = 1;
const QUERY: u8 = 3;
const PREPARE: u8 = 0x16;
const CLOSE: u8 = 0x19;

/// A connection that is logged in.
pub(crate) struct Conn {
    packets: Packets,
    capabilities: Capabilities,
    expected: Expected,
    encoding: Encoding,
    /// Columns of the rows that come.
    columns: Arc<[ColumnDefinition]>,
    /// The last answer's end.
    done: Done,
}

/// What the server says next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Nothing: the next command can be sent.
    Nothing,
    /// The beginning of an answer.
    Answer,
    /// Rows, and the end of the answer.
    Rows,
    /// Nobody knows: an exchange failed or was given up.
    Unknown,
}

/// A prepared statement.
#[derive(Debug)]
pub(crate) struct Statement {
    id: u32,
    /// Types of the parameters of the last execution.
    types: Vec<u8>,
    /// Whether the server knows them.
    are_types_known: bool,
    /// As the server told them last.
    columns: Arc<[ColumnDefinition]>,
}

impl Statement {
    /// Number of parameters.
    pub(crate) fn parameters(&self) -> usize {
        self.types.len()
    }
}

/// The kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// Rows follow.
    Rows,
    /// It has none.
    Done,
}

impl Conn {
    pub(super) fn new(packets: Packets, capabilities: Capabilities) -> Self {
        Self {
            packets,
            capabilities,
            expected: Expected::Nothing,
            encoding: Encoding::Text,
            columns: Arc::new([]),
            done: Done::default(),
        }
    }

    /// Rows that the last statement changed.
    pub(crate) fn affected_rows(&self) -> u64 {
        self.done.affected_rows
    }

    /// The id that the server made for the last statement.
    pub(crate) fn insert_id(&self) -> Option<u64> {
        (self.done.insert_id > 0).then_some(self.done.insert_id)
    }

    /// Sends statements as text, and gives the kind of the first answer.
    pub(crate) async fn query(&mut self, sql: &str) -> DriverResult<AnswerKind> {
        self.command(|bytes| {
            bytes.push(QUERY);
            bytes.extend_from_slice(sql.as_bytes());
        })?;
        self.encoding = Encoding::Text;
        self.send().await?;
        self.answer(None).await
    }

    /// The same, without what it answers.
    pub(crate) async fn query_drop(&mut self, sql: &str) -> DriverResult<()> {
        self.query(sql).await?;
        self.drop_answers().await
    }

    /// Prepares a statement.
    pub(crate) async fn prepare(&mut self, sql: &str) -> DriverResult<Statement> {
        self.command(|bytes| {
            bytes.push(PREPARE);
            bytes.extend_from_slice(sql.as_bytes());
        })?;
        self.send().await?;
        self.receive().await?;
        let mut fields = Fields(self.packets.payload());
        if fields.u8()? != 0 {
            return Err(DriverError::Protocol("a statement is not prepared"));
        }
        let id = fields.u32()?;
        let (columns, parameters) = (usize::from(fields.u16()?), usize::from(fields.u16()?));
        self.read_columns(parameters, &[]).await?;
        let columns = self.read_columns(columns, &[]).await?.unwrap_or_default();
        self.expected = Expected::Nothing;
        Ok(Statement { id, types: vec![0; parameters], are_types_known: false, columns: columns.into() })
    }

    /// Executes a statement with the values that a function hands over, and gives the kind of the first answer.
    pub(crate) async fn execute(
        &mut self,
        statement: &mut Statement,
        put: impl FnOnce(&mut Parameters<'_>),
    ) -> DriverResult<AnswerKind> {
        // Until it is known that the server took them.
        let are_known = std::mem::replace(&mut statement.are_types_known, false);
        let begin = self.packets.outgoing_bytes();
        let packet =
            self.command(|bytes| put_execute(bytes, (statement.id, &mut statement.types, are_known), put))?;
        if let Err(error) = packet {
            self.packets.take_back(begin);
            self.expected = Expected::Nothing;
            return Err(error);
        }
        self.encoding = Encoding::Binary;
        self.send().await?;
        let answer = self.answer(Some(&statement.columns)).await?;
        statement.are_types_known = true;
        if answer == AnswerKind::Rows && !Arc::ptr_eq(&self.columns, &statement.columns) {
            statement.columns = Arc::clone(&self.columns);
        }
        Ok(answer)
    }

    /// The same, without what it answers.
    pub(crate) async fn execute_drop(
        &mut self,
        statement: &mut Statement,
        put: impl FnOnce(&mut Parameters<'_>),
    ) -> DriverResult<()> {
        self.execute(statement, put).await?;
        self.drop_answers().await
    }

    /// Has the server forget a statement. That is sent with the next command: there is no answer to it.
    pub(crate) fn close(&mut self, statement: Statement) {
        if self.expected == Expected::Nothing {
            self.packets.restart();
            self.packets.put(|bytes| {
                bytes.push(CLOSE);
                bytes.extend_from_slice(&statement.id.to_le_bytes());
            });
        }
    }

    /// The kind of the next answer to the same command; none if there is no other. Rows that were not read are left out.
    pub(crate) async fn next_answer(&mut self) -> DriverResult<Option<AnswerKind>> {
        while self.next_row().await? {}
        match self.expected {
            Expected::Answer => self.answer(None).await.map(Some),
            Expected::Nothing | Expected::Rows | Expected::Unknown => Ok(None),
        }
    }

    /// Reads all that is still answered.
    #[inline]
    pub(crate) async fn drop_answers(&mut self) -> DriverResult<()> {
        while self.expected != Expected::Nothing {
            self.next_answer().await?;
        }
        Ok(())
    }

    /// Whether there was another row in this answer: [`Self::row`] gives it.
    #[inline]
    pub(crate) async fn next_row(&mut self) -> DriverResult<bool> {
        match self.expected {
            Expected::Rows => {}
            Expected::Unknown => return Err(lost()),
            Expected::Nothing | Expected::Answer => return Ok(false),
        }
        self.receive().await?;
        match answer::end(self.packets.payload(), self.capabilities.without_eof())? {
            None => {
                self.expected = Expected::Rows;
                Ok(true)
            }
            Some(done) => {
                self.end(done);
                Ok(false)
            }
        }
    }

    /// The row that was read last.
    #[inline]
    pub(crate) fn row(&self) -> Row<'_> {
        Row { payload: self.packets.payload(), columns: &self.columns, encoding: self.encoding }
    }

    /// A row of the same answer that was kept.
    pub(crate) fn kept_row<'r>(&'r self, kept: &'r [u8]) -> Row<'r> {
        Row { payload: kept, ..self.row() }
    }

    fn end(&mut self, done: Done) {
        self.done = done;
        self.expected = if done.has_more { Expected::Answer } else { Expected::Nothing };
    }

    /// Adds the packet of a command.
    #[inline]
    fn command<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> DriverResult<T> {
        if self.expected != Expected::Nothing {
            return Err(lost());
        }
        self.packets.restart();
        self.expected = Expected::Unknown;
        Ok(self.packets.put(write))
    }

    /// Sends commands. A server that closes the connection instead of reading may have said why.
    #[inline]
    async fn send(&mut self) -> DriverResult<()> {
        match self.packets.send().await {
            Ok(()) => Ok(()),
            Err(error) => match self.receive().await {
                Err(told @ DriverError::Server(_)) => {
                    self.expected = Expected::Unknown;
                    Err(told)
                }
                _ => Err(error),
            },
        }
    }

    /// Reads a packet. Until more is known of it, nobody knows what follows; nothing follows an error.
    #[inline]
    async fn receive(&mut self) -> DriverResult<()> {
        self.expected = Expected::Unknown;
        loop {
            self.packets.next().await?;
            match self.packets.payload() {
                payload if payload.first() != Some(&ERROR) => return Ok(()),
                payload if answer::is_progress(payload) => {}
                payload => {
                    let error = answer::server_error(payload)?;
                    self.expected = Expected::Nothing;
                    return Err(DriverError::Server(error));
                }
            }
        }
    }

    /// Reads the beginning of an answer, with the columns of its rows. `known` are those that the server may leave out.
    #[inline]
    async fn answer(&mut self, known: Option<&Arc<[ColumnDefinition]>>) -> DriverResult<AnswerKind> {
        self.receive().await?;
        match answer::head(self.packets.payload(), self.capabilities.has_cached_columns())? {
            Head::Done(done) => {
                self.end(done);
                Ok(AnswerKind::Done)
            }
            Head::Rows { columns, are_defined } => {
                let before: &[ColumnDefinition] = match known {
                    Some(known) => known,
                    None => &[],
                };
                let told = if are_defined { self.read_columns(columns, before).await? } else { None };
                self.columns = match (told, known) {
                    (Some(told), _) => told.into(),
                    (None, Some(known)) if known.len() == columns => Arc::clone(known),
                    _ => return Err(DriverError::Protocol("definitions of columns are missing")),
                };
                self.expected = Expected::Rows;
                Ok(AnswerKind::Rows)
            }
            Head::File => Err(DriverError::Protocol(
                "the server requested a file from this machine, but prony does not send files",
            )),
        }
    }

    /// Reads so many definitions of columns; none if they are those that are known.
    async fn read_columns(
        &mut self,
        count: usize,
        known: &[ColumnDefinition],
    ) -> DriverResult<Option<Vec<ColumnDefinition>>> {
        let mut told = (count != known.len()).then(Vec::new);
        for number in 0..count {
            self.receive().await?;
            let payload = self.packets.payload();
            match &mut told {
                Some(told) => told.push(ColumnDefinition::read(payload)?),
                None if known[number].is_defined_by(payload) => {}
                None => {
                    let mut new = known[..number].to_vec();
                    new.push(ColumnDefinition::read(payload)?);
                    told = Some(new);
                }
            }
        }
        if count > 0 && !self.capabilities.without_eof() {
            self.receive().await?;
            if !answer::is_old_end(self.packets.payload()) {
                return Err(DriverError::Protocol("definitions of columns do not end"));
            }
        }
        Ok(told)
    }
}

impl Drop for Conn {
    /// Takes leave if that needs no waiting. Otherwise the server notes that a client vanished.
    fn drop(&mut self) {
        if self.expected == Expected::Nothing {
            self.packets.restart();
            self.packets.put(|bytes| bytes.push(QUIT));
            self.packets.leave();
        }
    }
}

fn lost() -> DriverError {
    let words = "the connection is unusable: an earlier exchange failed or was abandoned";
    DriverError::Io(std::io::Error::new(std::io::ErrorKind::NotConnected, words))
}
