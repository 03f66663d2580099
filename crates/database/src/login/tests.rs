//! Where what an address leaves open comes from.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::Url;
use crate::url::Address;

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn around(&self, variables: &[(&str, &str)]) -> Surroundings {
        let home = ("HOME", self.0.path().to_str().unwrap());
        let all = variables.iter().chain([&home]);
        let variables = all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Surroundings { variables, option_files: vec![self.0.path().join("etc.cnf")] }
    }
}

fn login(text: &str, around: &Surroundings) -> Result<Login, String> {
    match text.parse::<Url>().unwrap().0 {
        Address::Postgres(server) => Login::of_postgres(&server, around),
        Address::Mysql(server) => Login::of_mysql(&server, around),
        Address::Sqlite(_) | Address::SqlServer(_) | Address::Fake(_) => unreachable!(),
    }
}

#[track_caller]
fn has(login: &Login, user: &str, password: &str, taken: &[&str]) {
    assert_eq!((login.user.as_deref(), login.password.as_deref()), (Some(user), Some(password)));
    let told = login.taken.join("; ");
    assert!(taken.iter().all(|words| told.contains(words)), "{told}");
    assert!(!told.contains(password), "{told}");
}

#[test]
fn a_login_of_postgresql_is_of_the_address_then_of_variables_then_of_the_file() {
    let home = Home::new();
    let file = home.put(".pgpass", "db:5432:app:ann:of the file\ndb:5432:app:eve:for eve\n", 0o600);
    let around = home.around(&[("PGUSER", "eve")]);
    let file = file.to_str().unwrap();
    has(&login("postgres://ann@db/app", &around).unwrap(), "ann", "of the file", &[file]);
    has(&login("postgres://db/app", &around).unwrap(), "eve", "for eve", &["user from PGUSER", file]);
    let given = login("postgres://ann:given@db/app", &around).unwrap();
    assert_eq!((given.password.as_deref(), given.taken.len()), (Some("given"), 0));
    let both = home.around(&[("PGPASSWORD", "of a variable")]);
    has(&login("postgres://ann@db/app", &both).unwrap(), "ann", "of a variable", &["PGPASSWORD"]);
    let secret = home.put("secret", "in a file\n", 0o600);
    let text = format!("postgres://ann@db/app?password_file={}", secret.display());
    has(&login(&text, &both).unwrap(), "ann", "in a file", &["secret"]);
    home.put("secret", " with blanks \r\nand more\n", 0o600);
    has(&login(&text, &both).unwrap(), "ann", " with blanks ", &["secret"]);
    let other = home.put("other", "*:*:*:*:of another\n", 0o600);
    let named = home.around(&[("PGPASSFILE", other.to_str().unwrap())]);
    has(&login("postgres://ann@db/app", &named).unwrap(), "ann", "of another", &["other"]);
    let text = format!("postgres://ann@db/app?passfile={file}");
    has(&login(&text, &named).unwrap(), "ann", "of the file", &[file]);
}

/// <https://www.postgresql.org/docs/current/libpq-pgpass.html>: "if the permissions are less strict than this, the file will be ignored".
#[test]
fn a_file_of_passwords_that_others_can_read_is_ignored_and_told() {
    let home = Home::new();
    for mode in [0o640, 0o604, 0o644] {
        home.put(".pgpass", "*:*:*:*:seen by all\n", mode);
        let found = login("postgres://ann@db/app", &home.around(&[])).unwrap();
        assert_eq!(found.password, None);
        assert!(
            found.taken[0].contains(".pgpass was not read") && found.taken[0].contains("chmod 600"),
            "{:?}",
            found.taken
        );
    }
}

#[test]
fn encryption_that_the_address_leaves_open_is_of_variables() {
    let home = Home::new();
    let around = home.around(&[
        ("PGSSLMODE", "verify-full"),
        ("PGSSLROOTCERT", "/ca.pem"),
        ("PGCHANNELBINDING", "require"),
    ]);
    let found = login("postgres://ann@db/app", &around).unwrap();
    assert_eq!(found.encryption.mode, Some(Mode::VerifyFull));
    assert_eq!(found.encryption.roots, Some(Roots::File("/ca.pem".into())));
    assert_eq!(found.encryption.binding, Some(Binding::Require));
    assert!(found.taken.contains(&"encryption by PGSSLMODE".to_owned()), "{:?}", found.taken);
    let given = login("postgres://ann@db/app?sslmode=disable", &around).unwrap();
    assert_eq!(given.encryption.mode, Some(Mode::Disable));
    let wrong = login("postgres://ann@db/app", &home.around(&[("PGSSLMODE", "maybe")])).err().unwrap();
    assert!(wrong.contains("PGSSLMODE") && wrong.contains("`maybe`"), "{wrong}");
}

#[test]
fn a_login_of_mysql_is_of_the_address_then_of_files_of_options_then_of_the_variable() {
    let home = Home::new();
    home.put("more.cnf", "[client-mariadb]\nssl_ca = /of/mariadb.pem\n", 0o644);
    let more = home.0.path().join("more.cnf");
    let text = format!(
        "[mysqld]\nuser=mysql\n[client]\nuser=all\npassword='of all'\nport=1\n!include {}\n[mysqldump]\npassword=x\n",
        more.display()
    );
    home.put("etc.cnf", &text, 0o644);
    home.put(".my.cnf", "[client]\n# user=no\npassword = \"of \\\"mine\n[mysql]\nuser = mine # me\n", 0o600);
    let around = home.around(&[("MYSQL_PWD", "of a variable")]);
    let found = login("mysql://db/app", &around).unwrap();
    assert_eq!(found.user.as_deref(), Some("mine"), "the last file that says it");
    assert_eq!(found.encryption.roots, Some(Roots::File("/of/mariadb.pem".into())));
    assert!(found.taken.iter().any(|taken| taken.starts_with("ssl-ca from") && taken.ends_with("more.cnf")));
    let given = login("mysql://ann:given@db/app?ssl-ca=/own.pem", &around).unwrap();
    assert_eq!(
        (given.user.as_deref(), given.password.as_deref(), given.taken.len()),
        (Some("ann"), Some("given"), 0)
    );
    assert_eq!(given.encryption.roots, Some(Roots::File("/own.pem".into())));
    home.put(".my.cnf", "[client]\nuser=evil\n", 0o646);
    let found = login("mysql://db/app", &around).unwrap();
    has(&found, "all", "of all", &["user from", "etc.cnf", ".my.cnf was not read: everybody can write"]);
    let alone = Home::new();
    let found = login("mysql://ann@db/app", &alone.around(&[("MYSQL_PWD", "of a variable")])).unwrap();
    has(&found, "ann", "of a variable", &["MYSQL_PWD"]);
}
