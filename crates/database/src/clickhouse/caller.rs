//! Who is spoken to by ClickHouse's HTTP interface, and what stands in each request: <https://clickhouse.com/docs/interfaces/http>.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use record::LinkEncryption;

use crate::Error;
use crate::error::{Attempt, remedy};
use crate::http::{Reply, Wire};
use crate::login::first_line;
use crate::url::ServerAddress;

/// A server ends connections that rest: after 3 s where nobody set it otherwise. One that rested for so long is not used again, since a
/// request that meets its end would be done or not.
const RESTS_AT_MOST: Duration = Duration::from_secs(1);
const NOT_HTTP: &str = "check whether ClickHouse's HTTP interface listens on that port (8123 by default)";

/// Where a server is, and who logs in.
pub(super) struct Caller {
    address: ServerAddress,
    user: String,
    password: Option<String>,
    wire: Option<Wire>,
}

impl Caller {
    /// # Errors
    /// The file of the password cannot be read.
    pub(super) fn new(address: &ServerAddress, attempt: Attempt<'_>) -> Result<Self, Error> {
        let refused = |words: String| Error::Refused(attempt.text(words, ""));
        let password = match &address.password_file {
            Some(file) => Some(first_line(file).map_err(refused)?),
            None => address.password.clone(),
        };
        let user = address.user.clone().unwrap_or_else(|| "default".to_owned());
        // They are lines of a head, which one with an end in it would go on.
        if user.chars().chain(password.iter().flat_map(|password| password.chars())).any(char::is_control) {
            return Err(refused(
                "a ClickHouse user or password cannot contain control characters".to_owned(),
            ));
        }
        Ok(Self { address: address.clone(), user, password, wire: None })
    }

    /// How the connection is encrypted, once there is one.
    pub(super) fn encryption(&self) -> Option<LinkEncryption> {
        self.wire.as_ref().and_then(|wire| wire.encryption().cloned())
    }

    /// Sends a request with what stands behind `/?` in it, and reads the answer to its end.
    ///
    /// # Errors
    /// The server is not there, or was and is gone; then it may have done what was asked.
    pub(super) async fn ask(
        &mut self,
        (query, body): (&str, &[u8]),
        attempt: Attempt<'_>,
    ) -> Result<Reply, Error> {
        let mut wire = match self.wire.take().filter(|wire| wire.rested() < RESTS_AT_MOST) {
            Some(wire) => wire,
            None => Wire::open((&self.address.host, &self.address.encryption), attempt).await?,
        };
        let head = self.head(query, body.len());
        let exchanged = wire.exchange(&head, body).await;
        let (reply, stays) = exchanged.map_err(|error| {
            if error.kind() == io::ErrorKind::InvalidData {
                return Error::Unreachable(attempt.text(error, NOT_HTTP));
            }
            Error::Lost(attempt.text(error, remedy::LOST))
        })?;
        if stays {
            wire.rests();
            self.wire = Some(wire);
        }
        Ok(reply)
    }

    fn head(&self, query: &str, length: usize) -> String {
        let mut head = format!(
            "POST /?{query} HTTP/1.1\r\nHost: {}\r\nX-ClickHouse-User: {}\r\n",
            self.address.host, self.user
        );
        if let Some(password) = &self.password {
            let _ = write!(head, "X-ClickHouse-Key: {password}\r\n");
        }
        let _ = write!(head, "User-Agent: prony\r\nContent-Length: {length}\r\n\r\n");
        head
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Something as a query of an address takes it.
pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_in_an_address_is_encoded() {
        assert_eq!(encoded("INSERT INTO a&b=\u{e4}"), "INSERT%20INTO%20a%26b%3D%C3%A4");
    }
}
