//! Statements of others, sent and answered over the driver's connection while that rests:
//! <https://www.postgresql.org/docs/current/protocol-flow.html>.

use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, ready};

use super::PREPARED;
use super::line::OurEnd;
use super::message::{self, Column, Heard, Input, Wrong};
use crate::{Answer, Protocol, Value, Wanted};

/// Bytes of a pipeline that are collected before they are sent.
const PIPELINE_BYTES: usize = 64 << 10;

/// One end of a connection, with what is under way over it.
pub(super) struct Exchange {
    line: OurEnd,
    /// Whether it is our turn.
    is_ours: bool,
    out: Vec<u8>,
    /// Bytes of them that were sent.
    sent: usize,
    input: Input,
    answers: Answers,
    names: Names,
    is_in_transaction: bool,
    /// Why nothing can be sent any more.
    broken: Option<io::Error>,
}

/// Statements that the server keeps parsed, by their text.
#[derive(Default)]
struct Names {
    /// Text and name. A script has few: to look at each is faster than a hash.
    kept: Vec<(String, String)>,
    last: u64,
}

/// What the server has still to answer, in the order in which it will.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owed {
    /// One statement with its values beside it.
    Statement(Wanted),
    /// The same of which each row is heard.
    Rows,
    /// A text, which may have several.
    Text(Wanted),
    /// The end of what belongs together.
    End,
}

/// What comes of a statement.
pub(super) type Answered = Result<Answer, Wrong>;

/// Hears answers as they come.
pub(super) trait Hears {
    /// One is whole.
    fn answered(&mut self, answered: Answered);

    /// A row of a statement whose rows are asked for has come.
    fn row(&mut self, _: &[Column], _: &[u8]) {}
}

impl<F: FnMut(Answered)> Hears for F {
    fn answered(&mut self, answered: Answered) {
        self(answered);
    }
}

/// Answers as they come.
#[derive(Default)]
struct Answers {
    owed: VecDeque<Owed>,
    columns: Vec<Column>,
    has_columns: bool,
    /// Rows of the command that is answered.
    rows: u64,
    last: Option<Vec<u8>>,
    found: Answer,
}

/// What a message asks of us.
#[derive(Debug, PartialEq, Eq)]
enum Then {
    Nothing,
    /// The server waits for data that we do not have. `true` where it passes over the end that we sent.
    NoData(bool),
    /// All before is over; a transaction may be open.
    Over(bool),
}

impl Exchange {
    pub(super) fn over(line: OurEnd) -> Self {
        Self {
            line,
            is_ours: false,
            out: Vec::new(),
            sent: 0,
            input: Input::new(),
            answers: Answers::default(),
            names: Names::default(),
            is_in_transaction: false,
            broken: None,
        }
    }

    pub(super) fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// Whether it is our turn, on a thread with a reactor, and nothing is under way: nearly always, of a load.
    pub(super) fn is_at_hand(&self) -> bool {
        self.is_ours && self.line.is_at_hand() && !self.owes()
    }

    /// The processor on which the server worked last, if that is known and nothing is under way.
    pub(super) fn processor(&self) -> Option<usize> {
        if self.is_at_hand() { self.line.processor() } else { None }
    }

    /// Leaves this thread, if nothing is under way; false where there is nothing to leave.
    pub(super) fn leave(&mut self) -> bool {
        self.is_at_hand() && self.line.leave()
    }

    /// Goes on on this thread.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn arrive(&mut self) -> io::Result<()> {
        self.line.arrive()
    }

    /// Takes the line. The driver must have nothing under way.
    ///
    /// # Errors
    /// Those of the line.
    pub(super) fn take(&mut self) -> io::Result<()> {
        self.is_ours = true;
        self.line.take()
    }

    /// Gives it back. Nothing of ours may be under way.
    pub(super) fn give_back(&mut self) {
        self.is_ours = false;
        self.line.give_back();
    }

    /// Whether a transaction was open after the last statement.
    pub(super) fn is_in_transaction(&self) -> bool {
        self.is_in_transaction
    }

    /// Whether something was not answered yet, be it that nobody waited for it.
    pub(super) fn owes(&self) -> bool {
        !self.answers.owed.is_empty()
    }

    /// Puts a statement behind what is to be sent.
    pub(super) fn add(&mut self, sql: &str, values: &[Value], sent: (Protocol, Wanted)) {
        self.put(sql, values, sent);
        if forgets_all(sql) {
            // Whatever is sent behind it is parsed again.
            self.names.kept.clear();
        }
    }

    fn put(&mut self, sql: &str, values: &[Value], (protocol, wanted): (Protocol, Wanted)) {
        let out = &mut self.out;
        match protocol {
            Protocol::Simple => {
                message::query(out, sql);
                self.answers.owed.extend([Owed::Text(wanted), Owed::End]);
                return;
            }
            Protocol::Extended => {
                message::parse(out, "", sql);
                message::bind(out, "", values);
            }
            Protocol::Prepared => self.names.bind(out, sql, values),
        }
        if wanted == Wanted::Last {
            message::describe(out);
        }
        message::execute(out);
        self.answers.owed.push_back(Owed::Statement(wanted));
    }

    /// Puts a statement behind what is to be sent of which each row is heard. It is parsed and planned for these values alone.
    pub(super) fn add_for_rows(&mut self, sql: &str, values: &[Value]) {
        let out = &mut self.out;
        message::parse(out, "", sql);
        message::bind_for_cells(out, values);
        message::describe(out);
        message::execute(out);
        self.answers.owed.push_back(Owed::Rows);
    }

    /// Ends what belongs together, unless it has ended.
    pub(super) fn end(&mut self) {
        if matches!(self.answers.owed.back(), Some(Owed::Statement(_) | Owed::Rows)) {
            self.sync();
        }
    }

    /// Ends what belongs together, be it nothing.
    pub(super) fn sync(&mut self) {
        message::sync(&mut self.out);
        self.answers.owed.push_back(Owed::End);
    }

    /// A statement that failed is parsed anew the next time, because its tables may be others now.
    pub(super) fn forget(&mut self, sql: &str) {
        if let Some(at) = self.names.kept.iter().position(|(text, _)| text == sql) {
            message::close(&mut self.out, &self.names.kept.swap_remove(at).1);
        }
    }

    /// Whether so much of a pipeline was collected that it should be sent.
    pub(super) fn is_much(&self) -> bool {
        self.out.len() - self.sent > PIPELINE_BYTES
    }

    /// Sends and receives until all is answered; `hears` hears each answer as it comes.
    ///
    /// # Errors
    /// When the connection broke. What the server said last was heard.
    pub(super) fn poll(&mut self, context: &mut Context<'_>, hears: &mut impl Hears) -> Poll<io::Result<()>> {
        loop {
            let sending = self.poll_send(context);
            let is_sent = matches!(sending, Poll::Ready(Ok(())));
            if let Poll::Ready(Err(error)) = sending {
                // A server that ends says why before.
                self.broken.get_or_insert(error);
            }
            while let Some(heard) = self.input.next(self.answers.wants_rows())? {
                match self.answers.hear(&heard, hears)? {
                    Then::Nothing => {}
                    Then::NoData(is_passed_over) => {
                        message::copy_fail(&mut self.out, "no data are sent with a statement");
                        if is_passed_over {
                            message::sync(&mut self.out);
                        }
                    }
                    Then::Over(is_in_transaction) => self.is_in_transaction = is_in_transaction,
                }
            }
            if !self.owes() {
                self.input.shrink();
                return Poll::Ready(Ok(()));
            }
            if is_sent && self.broken.is_none() && !self.out.is_empty() {
                continue;
            }
            match ready!(self.line.poll_receive(context, self.input.room())) {
                Ok(0) => return Poll::Ready(Err(self.broken.take().unwrap_or_else(closed))),
                Ok(bytes) => self.input.received(bytes),
                Err(error) => return Poll::Ready(Err(self.broken.take().unwrap_or(error))),
            }
        }
    }

    /// Sends what there is.
    pub(super) fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.out.is_empty() || self.broken.is_some() {
            return Poll::Ready(Ok(()));
        }
        while self.sent < self.out.len() {
            let sent = ready!(self.line.poll_send(context, &self.out[self.sent..]))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += sent;
        }
        ready!(self.line.poll_flush(context))?;
        self.out.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "connection closed")
}

/// Whether the server forgets all that it keeps parsed for this session.
fn forgets_all(sql: &str) -> bool {
    let sql = sql.trim_start();
    let begins = |word: &str| sql.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    if !begins("discard") && !begins("deallocate") {
        return false;
    }
    let words = sql.split(|sign: char| sign.is_whitespace() || sign == ';').filter(|word| !word.is_empty());
    let words: Vec<String> = words.take(3).map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(words.as_slice(), ["discard" | "deallocate", "all", ..] | ["deallocate", "prepare", "all"])
}

impl Names {
    /// Binds the values to a statement that the server keeps; at first it is parsed.
    fn bind(&mut self, out: &mut Vec<u8>, sql: &str, values: &[Value]) {
        if let Some((_, name)) = self.kept.iter().find(|(text, _)| text == sql) {
            return message::bind(out, name, values);
        }
        if self.kept.len() >= PREPARED {
            self.kept.drain(..).for_each(|(_, name)| message::close(out, &name));
        }
        self.last += 1;
        // Apart from the driver's.
        let name = format!("prony{}", self.last);
        message::parse(out, &name, sql);
        message::bind(out, &name, values);
        self.kept.push((sql.to_owned(), name));
    }
}

impl Answers {
    fn wants_rows(&self) -> bool {
        matches!(
            self.owed.front(),
            Some(Owed::Statement(Wanted::Last) | Owed::Text(Wanted::Last) | Owed::Rows)
        )
    }

    /// Takes note of a message.
    fn hear(&mut self, heard: &Heard<'_>, hears: &mut impl Hears) -> io::Result<Then> {
        let Some(&owed) = self.owed.front() else { return Ok(Then::Nothing) };
        match heard.kind {
            b'D' => {
                self.rows += 1;
                if owed == Owed::Rows {
                    hears.row(&self.columns, heard.body);
                } else if self.wants_rows() {
                    let last = self.last.get_or_insert_default();
                    last.clear();
                    last.extend_from_slice(heard.body);
                }
            }
            b'T' => {
                self.has_columns = true;
                if self.wants_rows() {
                    self.columns = message::columns(heard.body).ok_or_else(no_message)?;
                }
            }
            b'C' if owed == Owed::Statement(Wanted::Nothing) => self.complete(Some(0), owed, hears)?,
            b'C' => self.complete(message::rows_of_tag(heard.body), owed, hears)?,
            // An empty statement.
            b'I' => self.complete(Some(0), owed, hears)?,
            b'E' => self.fail(message::wrong(heard.body), hears),
            b'Z' => return self.over(heard.body, hears),
            b'G' => return Ok(Then::NoData(matches!(owed, Owed::Statement(_) | Owed::Rows))),
            _ => {}
        }
        Ok(Then::Nothing)
    }

    /// A command is over.
    fn complete(&mut self, rows: Option<u64>, owed: Owed, hears: &mut impl Hears) -> io::Result<()> {
        let rows = rows.unwrap_or(self.rows);
        let has_columns = std::mem::take(&mut self.has_columns);
        let last = self.last.take().filter(|_| self.rows > 0);
        self.rows = 0;
        let (Owed::Statement(_) | Owed::Rows | Owed::Text(_)) = owed else { return Ok(()) };
        self.found = Answer { rows, has_rows: has_columns && rows > 0, ..Answer::default() };
        if let Some(last) = last.filter(|_| has_columns) {
            self.found.last = message::row(&self.columns, &last).ok_or_else(no_message)?;
        }
        if matches!(owed, Owed::Statement(_) | Owed::Rows) {
            self.owed.pop_front();
            hears.answered(Ok(std::mem::take(&mut self.found)));
        }
        Ok(())
    }

    /// A statement failed, and with it whatever belongs together with it and comes later.
    fn fail(&mut self, wrong: Wrong, hears: &mut impl Hears) {
        while !matches!(self.owed.front(), Some(Owed::End) | None) {
            self.owed.pop_front();
        }
        (self.rows, self.last, self.has_columns) = (0, None, false);
        self.found = Answer::default();
        hears.answered(Err(wrong));
    }

    /// What belongs together is over.
    fn over(&mut self, status: &[u8], hears: &mut impl Hears) -> io::Result<Then> {
        if let Some(Owed::Text(_)) = self.owed.front() {
            self.owed.pop_front();
            hears.answered(Ok(std::mem::take(&mut self.found)));
        }
        match self.owed.pop_front() {
            Some(Owed::End) => Ok(Then::Over(status != b"I")),
            Some(Owed::Statement(_) | Owed::Rows | Owed::Text(_)) | None => Err(no_message()),
        }
    }
}

fn no_message() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the server sent a message that the protocol does not allow here",
    )
}

#[cfg(test)]
mod tests;
