//! The keywords of connections to SQL Server, however they are spelled.
//!
//! Source: the tables of keywords of Microsoft.Data.SqlClient
//! (<https://learn.microsoft.com/dotnet/api/microsoft.data.sqlclient.sqlconnection.connectionstring>) and of the ODBC driver
//! (<https://learn.microsoft.com/sql/connect/odbc/dsn-connection-string-attribute>).

/// What a keyword is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// Host, instance and port together.
    Server,
    Port,
    Instance,
    Database,
    User,
    Password,
    Encrypt,
    TrustServerCertificate,
    HostNameInCertificate,
    /// Certificates of authorities.
    Authorities,
    AccessTokenFile,
    PasswordFile,
    MultiSubnetFailover,
    ApplicationIntent,
    ApplicationName,
    ConnectTimeout,
    PacketSize,
    /// A login by Windows or Kerberos.
    Integrated,
    /// Of a driver's or a pool's own doings, of which there are none here.
    Ignored,
}

/// Those that can stand behind the `?` of an address, as they are shown.
pub(super) const OPTIONS: [(&str, Keyword); 12] = [
    ("encrypt", Keyword::Encrypt),
    ("trust_server_certificate", Keyword::TrustServerCertificate),
    ("host_name_in_certificate", Keyword::HostNameInCertificate),
    ("sslrootcert", Keyword::Authorities),
    ("access_token_file", Keyword::AccessTokenFile),
    ("password_file", Keyword::PasswordFile),
    ("instance", Keyword::Instance),
    ("multi_subnet_failover", Keyword::MultiSubnetFailover),
    ("application_intent", Keyword::ApplicationIntent),
    ("application_name", Keyword::ApplicationName),
    ("connect_timeout", Keyword::ConnectTimeout),
    ("packet_size", Keyword::PacketSize),
];

/// Other spellings, in small letters without what stands between words.
const SPELLINGS: [(&[&str], Keyword); 19] = [
    (&["server", "datasource", "address", "addr", "networkaddress"], Keyword::Server),
    (&["port"], Keyword::Port),
    (&["instancename"], Keyword::Instance),
    (&["database", "initialcatalog"], Keyword::Database),
    (&["user", "userid", "uid", "username"], Keyword::User),
    (&["password", "pwd"], Keyword::Password),
    (&["hostnameincertificate"], Keyword::HostNameInCertificate),
    (&["app"], Keyword::ApplicationName),
    (&["connectiontimeout", "logintimeout", "timeout"], Keyword::ConnectTimeout),
    (&["integratedsecurity", "trustedconnection"], Keyword::Integrated),
    (&["driver", "dsn", "description"], Keyword::Ignored),
    (&["persistsecurityinfo", "multipleactiveresultsets", "marsconnection"], Keyword::Ignored),
    (&["pooling", "minpoolsize", "maxpoolsize", "poolblockingperiod", "enlist"], Keyword::Ignored),
    (&["connectionlifetime", "loadbalancetimeout", "connectionreset"], Keyword::Ignored),
    (&["connectretrycount", "connectretryinterval", "transparentnetworkipresolution"], Keyword::Ignored),
    (&["commandtimeout", "querytimeout", "keepalive", "keepaliveinterval"], Keyword::Ignored),
    (&["workstationid", "wsid", "language", "currentlanguage", "regional"], Keyword::Ignored),
    (&["typesystemversion", "ansinpw", "quotedid", "autotranslate"], Keyword::Ignored),
    (&["ipaddresspreference"], Keyword::Ignored),
];

/// The meaning of a keyword; none if it is not known.
pub(super) fn keyword(spelled: &str) -> Option<Keyword> {
    let plain: String = spelled
        .chars()
        .filter(|sign| !matches!(sign, ' ' | '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    let option = OPTIONS.iter().find(|(name, _)| name.replace('_', "") == plain);
    let spelling = || SPELLINGS.iter().find(|(names, _)| names.contains(&plain.as_str()));
    option.map(|(_, keyword)| *keyword).or_else(|| spelling().map(|(_, keyword)| *keyword))
}

impl Keyword {
    /// As a message names it.
    pub(super) fn name(self) -> &'static str {
        let option = OPTIONS.iter().find(|(_, keyword)| *keyword == self).map(|(name, _)| *name);
        let spelling = || SPELLINGS.iter().find(|(_, keyword)| *keyword == self).map(|(names, _)| names[0]);
        option.or_else(spelling).unwrap_or("keyword")
    }
}
