#if PostgreSQL
internal import KeelStorageAdapting

/// The address of a PostgreSQL database.
///
/// The description leaves out passwords, so that a location can be logged.
public struct PostgreSQLStorageLocation: Sendable, Hashable {
    let address: String

    /// The database at a URL, as libpq and `psql` read it.
    ///
    /// ```text
    /// postgres://keel@db1.example.com,db2.example.com/keel?sslrootcert=/etc/ssl/db.pem
    /// ```
    ///
    /// Several hosts are tried in order, and side by side while earlier ones do not answer, until one accepts writes;
    /// standbys among them answer reads that allow staleness (`ReadRequest.maximumStaleness`). Keywords (`host=…
    /// dbname=…`) are accepted too. Missing parts come from libpq's password file and its environment variables, such
    /// as `PGPASSWORD`, but not from `PGAPPNAME`, `PGCONNECT_TIMEOUT` and `PGTARGETSESSIONATTRS`.
    ///
    /// Unless the URL says otherwise, the lookups of names end after 5 seconds, and so does an attempt to connect to an
    /// address; so they do with a `connect_timeout` of zero or less, by which libpq waits without a limit. A broken
    /// connection is noticed within about 10 seconds, an idle one within 25. Over a network, the server must prove its
    /// name with a certificate (`sslmode=verify-full`): see
    /// ``PostgreSQLStorageAdapter/Configuration/allowsUnverifiedServers``.
    public static func url(_ url: String) -> Self { Self(address: url) }
}

extension PostgreSQLStorageLocation: CustomStringConvertible, CustomReflectable {
    /// The hosts and the database.
    public var description: String {
        (try? ConnectionSettings(self, allowsUnverifiedServers: true).description)
            ?? "an invalid PostgreSQL URL"
    }

    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
#endif
