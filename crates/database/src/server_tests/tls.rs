//! Encryption with real servers: what each mode ends in, and how it is told what is wrong. The certificates are made here.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use record::{Checked, Link};

use super::*;

/// An authority, and the directory with its certificate and those that it signed.
struct Authority {
    directory: tempfile::TempDir,
    issuer: Issuer<'static, KeyPair>,
}

/// What a server may show.
#[derive(Clone, Copy)]
enum Shown {
    Good,
    OtherName,
    /// Without alternative names, as certificates were of old.
    CommonName,
    Expired,
    SelfSigned,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "authority of a test");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().unwrap();
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let authority = Self { directory, issuer: Issuer::new(params, key) };
        authority.write("ca.crt", &certificate.pem());
        authority
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// Certificate and key, in PEM.
    fn made(&self, shown: Shown) -> (String, String) {
        let names: &[&str] = match shown {
            Shown::OtherName => &["db.example"],
            Shown::CommonName => &[],
            Shown::Good | Shown::Expired | Shown::SelfSigned => &["127.0.0.1", "localhost"],
        };
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        let common = if matches!(shown, Shown::CommonName) { "127.0.0.1" } else { "server" };
        params.distinguished_name.push(DnType::CommonName, common);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        if matches!(shown, Shown::Expired) {
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = match shown {
            Shown::SelfSigned => params.self_signed(&key),
            _ => params.signed_by(&key, &self.issuer),
        };
        (certificate.unwrap().pem(), key.serialize_pem())
    }

    /// Files of a client's certificate and key.
    fn client(&self, name: &str) -> (PathBuf, PathBuf) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let (crt, secret) =
            (self.write("client.crt", &certificate.pem()), self.write("client.key", &key.serialize_pem()));
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
        (crt, secret)
    }
}

async fn link(text: &str) -> Result<Link, Error> {
    let mut session = Session::open(&text.parse().unwrap()).await?;
    Ok(session.server().await.unwrap().link.unwrap())
}

/// How far it was verified; none if it is not encrypted.
async fn checked(text: &str) -> Option<Checked> {
    let link = link(text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
    link.encryption.map(|encryption| encryption.verified)
}

/// A failure with all of these words.
async fn refused(text: &str, words: &[&str]) {
    let error = link(text).await.unwrap_err();
    let Error::Refused(told) = &error else { panic!("{text}: {error:?}") };
    assert!(words.iter().all(|words| told.contains(words)), "{text}: {told}");
    assert!(!told.contains("secret"), "{told}");
}

/// A PostgreSQL whose files of certificates and rules are written while it runs.
struct Pg {
    server: Postgres,
    session: Session,
}

impl Pg {
    async fn start() -> Self {
        let server = Postgres::start(&Options::default()).unwrap();
        let url = format!("{}?sslmode=disable", server.url());
        let session = Session::open(&url.parse().unwrap()).await.unwrap();
        Self { server, session }
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.server.data_directory().join(name);
        std::fs::write(&path, text).unwrap();
        let owner = std::fs::metadata(self.server.data_directory()).unwrap();
        chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn show(&self, (certificate, key): &(String, String)) {
        self.put("server.crt", certificate);
        self.put("server.key", key);
    }

    /// Has it read its files, and waits until it has, with a session that was there before: it reloads by itself.
    async fn reload(&mut self, setting: &str, value: &str) {
        self.session.script(&format!("ALTER SYSTEM SET {setting} = '{value}'")).await.unwrap();
        let loaded = "SELECT extract(epoch FROM pg_conf_load_time())::text";
        let before = self.session.query(loaded, &[]).await.unwrap();
        self.session.script("SELECT pg_reload_conf()").await.unwrap();
        // The postmaster is the one that lets in: a session tells its load time.
        let url = self.server.url() + "?sslmode=prefer";
        let begin = Instant::now();
        loop {
            let new = Session::open(&url.parse().unwrap()).await;
            if let Ok(mut new) = new
                && new.query(loaded, &[]).await.unwrap() != before
            {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "it does not load {setting}");
        }
    }

    fn url(&self, options: &str) -> String {
        format!("{}?{options}", self.server.url())
    }
}

#[tokio::test]
async fn postgresql_is_encrypted_and_verified_as_the_mode_says() {
    let authority = Authority::new();
    let root = format!("sslrootcert={}", authority.path("ca.crt").display());
    let mut pg = Pg::start().await;
    // It has no TLS.
    for (mode, remark) in
        [("disable", "as the address says"), ("prefer", "the server has no TLS"), ("allow", "nothing else")]
    {
        let found = link(&pg.url(&format!("sslmode={mode}"))).await.unwrap();
        assert!(found.encryption.is_none() && found.remark.as_ref().unwrap().contains(remark), "{found:?}");
    }
    refused(&pg.url("sslmode=require"), &["does not support TLS", "sslmode=disable", "ssl = on"]).await;
    refused(&pg.url("channel_binding=require"), &["channel binding", "channel_binding=prefer"]).await;
    pg.show(&authority.made(Shown::Good));
    pg.reload("ssl", "on").await;
    let nothing = Some(Checked::Nothing);
    assert_eq!(checked(&pg.server.url()).await, nothing, "encrypted where it can be");
    for (options, expected) in [
        ("sslmode=disable", None),
        ("sslmode=allow", None),
        ("sslmode=require", nothing),
        ("sslmode=require&channel_binding=require", nothing),
        (&format!("sslmode=require&{root}"), Some(Checked::Authority)),
        (&format!("sslmode=prefer&{root}"), Some(Checked::Authority)),
        (&format!("sslmode=verify-ca&{root}"), Some(Checked::Authority)),
        (&format!("sslmode=verify-full&{root}&channel_binding=require"), Some(Checked::AuthorityAndName)),
    ] {
        assert_eq!(checked(&pg.url(options)).await, expected, "{options}");
    }
    as_the_server_says(&pg).await;
    refused(&pg.url("sslmode=verify-ca"), &["no authority is given", "sslrootcert=FILE"]).await;
    refused(&pg.url("sslmode=require&sslrootcert=/nowhere.crt"), &["cannot read /nowhere.crt"]).await;
    let other = Authority::new();
    let others = format!("sslmode=verify-full&sslrootcert={}", other.path("ca.crt").display());
    refused(&pg.url(&others), &["signed by an authority that is not among", "sslrootcert=FILE"]).await;
    // Preferred, and the certificate is not trusted: as libpq, without, and told.
    let fallen = link(&pg.url(&others.replace("verify-full", "prefer"))).await.unwrap();
    assert!(
        fallen.encryption.is_none() && fallen.remark.as_ref().unwrap().contains("is not among"),
        "{fallen:?}"
    );
    refused(&pg.url("sslrootcert=system"), &["authorit"]).await;
}

/// What was agreed upon is what the server knows of the session.
async fn as_the_server_says(pg: &Pg) {
    let mut session = Session::open(&pg.url("sslmode=require").parse().unwrap()).await.unwrap();
    let told = session.server().await.unwrap().link.unwrap().encryption.unwrap();
    let sql = "SELECT version, cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let known = session.query(sql, &[]).await.unwrap();
    assert_eq!(known, [[Value::Text(told.protocol.clone()), Value::Text(told.cipher)]]);
    assert_eq!(told.protocol, "TLSv1.3");
    // Everything goes over it, of any size.
    let rows = session
        .query("SELECT repeat('x', 3000000), $1", &[Value::Text("y".repeat(2_000_000))])
        .await
        .unwrap();
    assert!(
        matches!(&rows[0][..], [Value::Text(x), Value::Text(y)] if x.len() == 3_000_000 && y.len() == 2_000_000)
    );
    // What others wrote goes over the same connection, in turns with the driver, and large values through it.
    let wanted = (Protocol::Prepared, Wanted::Last);
    let text = Value::Text("z".repeat(1_000_000));
    for round in 0..3 {
        let long = "SELECT repeat('x', 3000000) AS x, length($1::text) AS y";
        let answer = session.statement(long, std::slice::from_ref(&text), wanted).await.unwrap();
        assert_eq!(
            (answer.rows, answer.last[1].1.clone()),
            (1, Value::Text("1000000".to_owned())),
            "{round}"
        );
        assert_eq!(session.query("SELECT 1", &[]).await.unwrap(), [[Value::I64(1)]], "{round}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_of_postgresql_is_told() {
    let authority = Authority::new();
    let with = |mode: &str| format!("sslmode={mode}&sslrootcert={}", authority.path("ca.crt").display());
    let mut pg = Pg::start().await;
    pg.show(&authority.made(Shown::OtherName));
    pg.reload("ssl", "on").await;
    assert_eq!(checked(&pg.url(&with("verify-ca"))).await, Some(Checked::Authority));
    refused(
        &pg.url(&with("verify-full")),
        &["for db.example, and not for 127.0.0.1", "with a name from the certificate"],
    )
    .await;
    pg.show(&authority.made(Shown::CommonName));
    pg.reload("ssl", "on").await;
    assert_eq!(checked(&pg.url(&with("verify-full"))).await, Some(Checked::AuthorityAndName));
    let by_name = pg.url(&with("verify-full")).replace("127.0.0.1", "localhost");
    refused(&by_name, &["for 127.0.0.1, and not for localhost"]).await;
    pg.show(&authority.made(Shown::Expired));
    pg.reload("ssl", "on").await;
    refused(&pg.url(&with("verify-ca")), &["expired", "days ago", "a new certificate"]).await;
    let own = authority.made(Shown::SelfSigned);
    pg.show(&own);
    pg.reload("ssl", "on").await;
    refused(&pg.url(&with("verify-full")), &["is self-signed", "sslrootcert=FILE"]).await;
    authority.write("own.crt", &own.0);
    let own = with("verify-full").replace("ca.crt", "own.crt");
    assert_eq!(checked(&pg.url(&own)).await, Some(Checked::AuthorityAndName), "it is trusted itself");
    pg.reload("ssl_max_protocol_version", "TLSv1.2").await;
    let found = link(&pg.url("sslmode=require")).await.unwrap().encryption.unwrap();
    assert_eq!(found.protocol, "TLSv1.2");
    let newest = "sslmode=require&ssl_min_protocol_version=TLSv1.3";
    refused(&pg.url(newest), &["none of the permitted TLS versions", "ssl_min_protocol_version"]).await;
    pg.session.script("ALTER SYSTEM SET ssl_min_protocol_version = 'TLSv1.1'").await.unwrap();
    pg.reload("ssl_max_protocol_version", "TLSv1.1").await;
    refused(&pg.url("sslmode=require"), &["none of the permitted TLS versions", "TLS 1.2 or 1.3"]).await;
}

#[tokio::test]
async fn a_postgresql_that_wants_tls_or_none_or_a_client_certificate_says_so() {
    let authority = Authority::new();
    let mut pg = Pg::start().await;
    pg.show(&authority.made(Shown::Good));
    pg.put("ca.crt", &std::fs::read_to_string(authority.path("ca.crt")).unwrap());
    pg.put("pg_hba.conf", "hostssl all all all scram-sha-256\n");
    pg.reload("ssl", "on").await;
    refused(&pg.url("sslmode=disable"), &["no encryption", "sslmode=require"]).await;
    assert_eq!(checked(&pg.url("sslmode=allow")).await, Some(Checked::Nothing));
    let wrong = pg.url("").replace(":secret@", ":secret9@");
    refused(&wrong, &["password", "second attempt, with the other kind of encryption", "no encryption"])
        .await;
    pg.put("pg_hba.conf", "hostnossl all all all scram-sha-256\n");
    pg.reload("ssl", "on").await;
    let fallen = link(&pg.url("sslmode=prefer")).await.unwrap();
    assert!(
        fallen.encryption.is_none() && fallen.remark.as_ref().unwrap().contains("pg_hba.conf"),
        "{fallen:?}"
    );
    refused(&pg.url("sslmode=require"), &["pg_hba.conf"]).await;
    // The session that reloads stays; new ones need a certificate, and the poll of the reload has none.
    pg.put(
        "pg_hba.conf",
        "hostssl all all all scram-sha-256 clientcert=verify-ca\nhostnossl all all all scram-sha-256\n",
    );
    pg.reload("ssl_ca_file", "ca.crt").await;
    refused(&pg.url("sslmode=require"), &["client certificate", "sslcert=FILE"]).await;
    let (certificate, key) = authority.client("prony");
    let identified = format!("sslmode=require&sslcert={}&sslkey={}", certificate.display(), key.display());
    assert_eq!(checked(&pg.url(&identified)).await, Some(Checked::Nothing));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    refused(&pg.url(&identified), &["can be read by others (mode 644)", "chmod 6"]).await;
    let socket = socket_of(&pg.server);
    pg.put("pg_hba.conf", "local all all scram-sha-256\nhost all all all scram-sha-256\n");
    pg.reload("ssl", "on").await;
    let port = pg.server.port();
    let found = link(&format!(
        "postgres://prony:secret@/postgres?host={}&port={port}&sslmode=require",
        socket.display()
    ))
    .await;
    assert!(found.unwrap().remark.unwrap().contains("Unix socket"));
}

/// Where its socket lies.
fn socket_of(server: &Postgres) -> PathBuf {
    let file = std::fs::read_to_string(server.data_directory().join("postmaster.pid")).unwrap();
    PathBuf::from(file.lines().nth(4).unwrap())
}

/// A MariaDB that shows a certificate of a file, which is read again when it is told to.
struct Maria {
    server: MariaDb,
    session: Session,
    files: [PathBuf; 2],
}

impl Maria {
    async fn start(authority: &Authority, settings: &[(&str, &str)]) -> Self {
        let (certificate, key) = authority.made(Shown::Good);
        let files = [authority.write("server.crt", &certificate), authority.write("server.key", &key)];
        let mut options = Options::default();
        let ca = authority.path("ca.crt");
        for (name, path) in [("ssl-cert", &files[0]), ("ssl-key", &files[1]), ("ssl-ca", &ca)] {
            options = options.setting(name, path.display().to_string());
        }
        for (name, value) in settings {
            options = options.setting(*name, *value);
        }
        static STARTING: Mutex<()> = Mutex::new(());
        let server = {
            let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
            MariaDb::start(&options).unwrap()
        };
        let session = Session::open(&server.url().parse().unwrap()).await.unwrap();
        Self { server, session, files }
    }

    async fn show(&mut self, (certificate, key): &(String, String)) {
        std::fs::write(&self.files[0], certificate).unwrap();
        std::fs::write(&self.files[1], key).unwrap();
        self.session.script("FLUSH SSL").await.unwrap();
    }

    fn url(&self, options: &str) -> String {
        format!("{}?{options}", self.server.url())
    }
}

fn ca(path: &Path) -> String {
    format!("ssl-ca={}", path.display())
}

#[tokio::test]
async fn mariadb_is_encrypted_and_verified_as_the_mode_says() {
    let authority = Authority::new();
    let root = ca(&authority.path("ca.crt"));
    let mut maria = Maria::start(&authority, &[]).await;
    let nothing = Some(Checked::Nothing);
    assert_eq!(checked(&maria.server.url()).await, nothing, "encrypted where it can be");
    for (options, expected) in [
        ("ssl-mode=DISABLED", None),
        ("ssl-mode=PREFERRED", nothing),
        ("ssl-mode=REQUIRED", nothing),
        (&root, Some(Checked::Authority)),
        (&format!("ssl-mode=VERIFY_CA&{root}"), Some(Checked::Authority)),
        (
            &format!("ssl-mode=VERIFY_IDENTITY&{root}&ssl_min_protocol_version=TLSv1.3"),
            Some(Checked::AuthorityAndName),
        ),
    ] {
        assert_eq!(checked(&maria.url(options)).await, expected, "{options}");
        let mut session = Session::open(&maria.url(options).parse().unwrap()).await.unwrap();
        let selected = session.query("SELECT database()", &[]).await.unwrap();
        assert_eq!(selected, [[Value::Text("mysql".into())]], "{options}");
    }
    let found = link(&maria.server.url()).await.unwrap().encryption.unwrap();
    assert!(found.protocol == "TLSv1.3" && found.cipher.starts_with("TLS_"), "{found:?}");
    let other = ca(&Authority::new().path("ca.crt"));
    let missing = maria.url(&format!("ssl-mode=VERIFY_CA&{other}"));
    refused(&missing, &["cannot read"]).await;
    let other = Authority::new();
    for mode in ["VERIFY_CA", "VERIFY_IDENTITY", "PREFERRED"] {
        let untrusted = maria.url(&format!("ssl-mode={mode}&{}", ca(&other.path("ca.crt"))));
        refused(&untrusted, &["an authority that is not among", "ssl-ca=FILE"]).await;
    }
    refused(&maria.url("ssl-mode=VERIFY_CA"), &["no authority is given", "ssl-ca=FILE"]).await;
    maria.show(&authority.made(Shown::OtherName)).await;
    assert_eq!(checked(&maria.url(&format!("ssl-mode=VERIFY_CA&{root}"))).await, Some(Checked::Authority));
    let full = maria.url(&format!("ssl-mode=VERIFY_IDENTITY&{root}"));
    refused(&full, &["for db.example, and not for 127.0.0.1"]).await;
    maria.show(&authority.made(Shown::Expired)).await;
    for mode in ["VERIFY_CA", "VERIFY_IDENTITY"] {
        refused(&maria.url(&format!("ssl-mode={mode}&{root}")), &["expired", "a new certificate"]).await;
    }
    assert_eq!(checked(&maria.url("ssl-mode=REQUIRED")).await, nothing, "whoever answers is believed");
    let own = authority.made(Shown::SelfSigned);
    maria.show(&own).await;
    refused(&full, &["is self-signed"]).await;
}

#[tokio::test]
async fn a_mariadb_that_wants_tls_or_has_none_says_so() {
    let without = shared(Engine::Mysql);
    for _ in 0..2 {
        let found = link(&without.text()).await.unwrap();
        assert!(
            found.encryption.is_none() && found.remark.as_ref().unwrap().contains("has no TLS"),
            "{found:?}"
        );
    }
    refused(
        &format!("{}?ssl-mode=REQUIRED", without.text()),
        &["the server has no TLS", "ssl-mode=DISABLED"],
    )
    .await;
    let authority = Authority::new();
    let mut maria =
        Maria::start(&authority, &[("tls-version", "TLSv1.2"), ("plugin-load-add", "auth_ed25519")]).await;
    let found = link(&maria.server.url()).await.unwrap().encryption.unwrap();
    assert_eq!(found.protocol, "TLSv1.2");
    let newest = maria.url("ssl_min_protocol_version=TLSv1.3");
    refused(&newest, &["none of the permitted TLS versions", "ssl_min_protocol_version"]).await;
    for (user, demand) in [("must", "REQUIRE SSL"), ("shows", "REQUIRE X509")] {
        let sql = format!("CREATE USER {user}@'%' IDENTIFIED BY 'secret' {demand}");
        maria.session.script(&sql).await.unwrap();
    }
    let sql = "CREATE USER signs@'%' IDENTIFIED VIA ed25519 USING PASSWORD('secret')";
    maria.session.script(sql).await.unwrap();
    let of = |user: &str, options: &str| {
        maria.url(options).replace("prony:", &format!("{user}:")).replace("/mysql", "")
    };
    refused(&of("must", "ssl-mode=DISABLED"), &["ssl-mode=REQUIRED"]).await;
    assert_eq!(opened(&of("must", "")).await, Ok(()));
    refused(&of("shows", ""), &["Access denied"]).await;
    let (certificate, key) = authority.client("prony");
    let identified = format!("ssl-cert={}&ssl-key={}", certificate.display(), key.display());
    assert_eq!(opened(&of("shows", &identified)).await, Ok(()));
    assert_eq!(opened(&of("signs", "")).await, Ok(()), "by ed25519");
    maria.session.script("SET GLOBAL require_secure_transport = 1").await.unwrap();
    refused(&maria.url("ssl-mode=DISABLED"), &["ssl-mode=REQUIRED"]).await;
}

async fn opened(text: &str) -> Result<(), Error> {
    Session::open(&text.parse().unwrap()).await.map(drop)
}
