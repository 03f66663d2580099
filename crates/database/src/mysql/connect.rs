//! A connection to MySQL or MariaDB, encrypted or not, as MySQL's client would make it:
//! <https://dev.mysql.com/doc/refman/8.4/en/connection-options.html#option_general_ssl-mode>. What differs: `VERIFY_IDENTITY` without
//! a file of authorities trusts those of the system, where that client refuses; a file that is named is always used to check.
//!
//! The driver makes its TLS itself. It is told which authorities there are; what was agreed upon, the server is asked.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use mysql_async::prelude::Queryable as _;
use mysql_async::{ClientIdentity, Conn, DriverError, Error as Driver, IoError, Opts, OptsBuilder, SslOpts};
use record::{Link, LinkEncryption};

use super::guard::{Ended, Guard, Key};
use super::{SETTINGS, fault, guard, several};
use crate::error::Attempt;
use crate::login::{Login, Surroundings};
use crate::silence::UNACKNOWLEDGED;
use crate::tls::{Checks, Fault, Oldest, Roots, identity, install_provider, roots};
use crate::url::encryption::{Encryption, Mode, ServerKey, Words};
use crate::url::{Host, ServerAddress};
use crate::{Error, resolve};

/// A name that is nobody's. The driver lets a wrong name pass if this word is in the error, which has the name that was expected in it;
/// the authority is checked before. A test would see a driver that does otherwise.
const ANY_NAME: &str = "NotValidForName";

const NO_TLS: &str = "the server has no TLS";

/// Connects to the server, or to the one of several that can be written to.
pub(super) async fn connect(address: &ServerAddress, attempt: Attempt<'_>) -> Result<(Conn, Link), Error> {
    match address.tries() {
        1 => address.silence.let_in(attempt, one(address, attempt)).await,
        _ => several::connect(address, attempt).await,
    }
}

/// Connects to a server.
pub(super) async fn one(address: &ServerAddress, attempt: Attempt<'_>) -> Result<(Conn, Link), Error> {
    let login = Login::of_mysql(address, &Surroundings::here());
    let login = login.map_err(|words| Error::Refused(attempt.text(words, "")))?;
    let mode = login.encryption.mode(Words::Mysql);
    let is_remote = !address.host.is_local();
    let plain = |conn, remark: &str| {
        (
            conn,
            Link { is_remote, encryption: None, remark: Some(remark.to_owned()), taken: login.taken.clone() },
        )
    };
    let failed = |error| fault::at_connect(&error, attempt);
    let Host::Tcp { name, port } = &address.host else {
        let is_plain = mode == Mode::Prefer || mode == Mode::Disable;
        return match is_plain {
            true => {
                let conn = Conn::new(Opts::from(options(address, &login, None, None))).await;
                Ok(plain(conn.map_err(failed)?, "over a Unix socket"))
            }
            false => {
                let words = "over a Unix socket the driver has no TLS, and nothing leaves this machine";
                Err(Error::Refused(attempt.text(words, "leave ssl-mode and ssl-ca out of this address")))
            }
        };
    };
    let addresses = resolve::addresses(name, attempt).await?;
    let without = async || unencrypted(address, &login, &addresses, attempt).await;
    let server = format!("{name}:{port}");
    if mode == Mode::Disable {
        return Ok(plain(without().await?, "as the address says"));
    }
    if mode == Mode::Prefer && Plain::is_known(&server) {
        // Another one may have taken its place.
        let conn = without().await.inspect_err(|_| Plain::forget(&server))?;
        return Ok(plain(conn, NO_TLS));
    }
    match encrypted(address, &login, mode, &addresses, attempt).await? {
        Ok((conn, encryption)) => Ok((
            conn,
            Link { is_remote, encryption: Some(encryption), remark: None, taken: login.taken.clone() },
        )),
        Err(Driver::Driver(DriverError::NoClientSslFlagFromServer)) if mode == Mode::Prefer => {
            Plain::note(&server);
            Ok(plain(without().await?, NO_TLS))
        }
        Err(error) => Err(failed(error)),
    }
}

/// What can be done where the whole password would have to be sent without TLS.
const UNENCRYPTED: &str = "give ssl-mode=VERIFY_IDENTITY, or REQUIRED where nobody stands between, or name the server's public key with \
                           server-public-key-path=FILE; get-server-public-key=true believes whoever answers";
/// User and password of the servers that this program starts: everybody can read them in its source.
const PUBLIC_LOGIN: (&str, &str) = ("prony", "secret");

/// A connection over TCP without TLS. A guard stands between where the password could be given away.
async fn unencrypted(
    address: &ServerAddress,
    login: &Login,
    addresses: &[IpAddr],
    attempt: Attempt<'_>,
) -> Result<Conn, Error> {
    let direct = options(address, login, Some(addresses.to_vec()), None);
    let failed = |error: &Driver| fault::at_connect(error, attempt);
    let refused = |words: String, remedy: &str| Error::Refused(attempt.text(words, remedy));
    let is_public = login.user.as_deref().zip(login.password.as_deref()) == Some(PUBLIC_LOGIN);
    let has_password = login.password.as_deref().is_some_and(|password| !password.is_empty());
    if !has_password || is_public && address.host.is_local() {
        return Conn::new(Opts::from(direct)).await.map_err(|error| failed(&error));
    }
    let key = match &login.encryption.server_key {
        None => Key::Nobodys,
        Some(ServerKey::Asked) => Key::Asked,
        Some(ServerKey::File(file)) => {
            let read =
                std::fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()));
            let key = read.map_err(|words| refused(words, ""))?;
            if guard::modulus_bytes(&key).is_none() {
                let words = format!("{} holds no RSA public key in PEM", file.display());
                return Err(refused(words, "name the file public_key.pem of the server's data directory"));
            }
            Key::Given(key)
        }
    };
    let unguarded = |error: std::io::Error| failed(&Driver::Io(IoError::Io(error)));
    let guard =
        Guard::before(addresses.to_vec(), crate::url::port_of(&address.host), key).map_err(unguarded)?;
    let error = match Conn::new(Opts::from(direct.socket(Some(guard.path())))).await {
        Ok(conn) => {
            guard.let_in();
            return Ok(conn);
        }
        Err(error) => error,
    };
    Err(match guard.ended() {
        Some(Ended::Unreachable(error)) => unguarded(error),
        Some(Ended::FullAuthentication) => refused(
            "the server wants the whole password (full authentication of caching_sha2_password), and the connection is not \
             encrypted: it was not sent"
                .to_owned(),
            UNENCRYPTED,
        ),
        None => failed(&error),
    })
}

/// A connection with TLS, or what the driver says.
///
/// # Errors
/// What stands in the address cannot be had.
async fn encrypted(
    address: &ServerAddress,
    login: &Login,
    mode: Mode,
    addresses: &[IpAddr],
    attempt: Attempt<'_>,
) -> Result<Result<(Conn, LinkEncryption), Driver>, Error> {
    let refused = |fault: Fault| {
        Error::Refused(attempt.text(&fault.words, fault.remedy.as_deref().unwrap_or(fault::TRUST)))
    };
    let (checks, tls) = tls(&login.encryption, mode).map_err(refused)?;
    let connect =
        async |tls| Conn::new(Opts::from(options(address, login, Some(addresses.to_vec()), Some(tls)))).await;
    let mut connected = connect(tls.clone()).await;
    let is_name = |error: &Driver| fault::of_tls(error).is_some_and(|fault| fault.is_of_name);
    if checks == Checks::Authority && connected.as_ref().is_err_and(is_name) {
        let any = tls.with_danger_skip_domain_validation(true);
        connected = connect(any.with_danger_tls_hostname_override(Some(ANY_NAME))).await;
    }
    let mut conn = match connected {
        Ok(conn) => conn,
        Err(error) => return Ok(Err(error)),
    };
    match agreed(&mut conn, checks).await {
        Ok(encryption) => {
            check_version(&encryption, login.encryption.oldest.unwrap_or_default()).map_err(refused)?;
            Ok(Ok((conn, encryption)))
        }
        Err(error) => Ok(Err(error)),
    }
}

fn options(
    address: &ServerAddress,
    login: &Login,
    addresses: Option<Vec<IpAddr>>,
    tls: Option<SslOpts>,
) -> OptsBuilder {
    let options = OptsBuilder::default()
        .user(login.user.clone())
        .pass(login.password.clone())
        .db_name(address.database.clone())
        .prefer_socket(false)
        .tcp_keepalive(Some(UNACKNOWLEDGED))
        .stmt_cache_size(0)
        .ssl_opts(tls)
        .init(vec![SETTINGS]);
    match &address.host {
        Host::Tcp { name, port } => {
            options.ip_or_hostname(name.clone()).resolved_ips(addresses).tcp_port(*port)
        }
        Host::Socket { path, .. } => options.socket(Some(path.to_string_lossy())),
    }
}

/// What the driver is told.
fn tls(encryption: &Encryption, mode: Mode) -> Result<(Checks, SslOpts), Fault> {
    install_provider();
    let checks = match (mode, &encryption.roots) {
        (Mode::VerifyFull, _) => Checks::AuthorityAndName,
        (Mode::VerifyCa, None) => {
            return Err(Fault::new(
                "ssl-mode=VERIFY_CA trusts whatever the authorities signed, and none is named".to_owned(),
                "name a file of them with ssl-ca=FILE, or give ssl-mode=VERIFY_IDENTITY, which trusts those of the system",
            ));
        }
        (_, Some(_)) => Checks::Authority,
        (_, None) => Checks::Nothing,
    };
    let mut options = SslOpts::default();
    if checks == Checks::Nothing {
        options = options.with_danger_accept_invalid_certs(true);
    } else {
        // The driver has authorities of its own, of the day when it was built.
        let trusted = roots(encryption.roots.as_ref().unwrap_or(&Roots::System))?;
        let each = trusted.certificates.iter().map(|certificate| certificate.to_vec().into());
        options = options.with_disable_built_in_roots(true).with_root_certs(each.collect());
    }
    if let (Some(certificate), Some(key)) = (&encryption.certificate, &encryption.key) {
        // Read here for the words of what is wrong with them.
        identity(certificate, key)?;
        let both = ClientIdentity::new(certificate.clone().into(), key.clone().into());
        options = options.with_client_identity(Some(both));
    }
    Ok((checks, options))
}

/// What was agreed upon, as the server has it: the driver does not tell.
async fn agreed(conn: &mut Conn, checks: Checks) -> Result<LinkEncryption, Driver> {
    let sql = "SHOW SESSION STATUS WHERE variable_name IN ('Ssl_version', 'Ssl_cipher')";
    let told: Vec<(String, String)> = conn.query(sql).await?;
    let of = |name: &str| {
        let found = told.iter().find(|(given, value)| given.eq_ignore_ascii_case(name) && !value.is_empty());
        found.map_or_else(|| "unknown".to_owned(), |(_, value)| value.clone())
    };
    Ok(LinkEncryption { protocol: of("Ssl_version"), cipher: of("Ssl_cipher"), verified: checks.verified() })
}

/// The driver speaks 1.2 and 1.3, and cannot be told to leave the first.
fn check_version(agreed: &LinkEncryption, oldest: Oldest) -> Result<(), Fault> {
    if oldest == Oldest::Tls12 || agreed.protocol == Oldest::Tls13.name() {
        return Ok(());
    }
    let words =
        format!("the server agreed upon {}, and the address wants {}", agreed.protocol, oldest.name());
    Err(Fault::new(
        words,
        "let the server speak TLS 1.3 (tls_version), or leave ssl_min_protocol_version out",
    ))
}

/// Servers that were found to have no TLS, so that they are not asked each time: each question costs a connection, of which they may
/// count those that went no further.
struct Plain;

static PLAIN: Mutex<Option<HashSet<String>>> = Mutex::new(None);

impl Plain {
    fn with<T>(act: impl FnOnce(&mut HashSet<String>) -> T) -> T {
        act(PLAIN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
    }

    fn is_known(server: &str) -> bool {
        Self::with(|known| known.contains(server))
    }

    fn note(server: &str) {
        Self::with(|known| known.insert(server.to_owned()));
    }

    fn forget(server: &str) {
        Self::with(|known| known.remove(server));
    }
}
