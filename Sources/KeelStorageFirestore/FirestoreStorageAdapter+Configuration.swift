public import KeelStorageAdapting

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension FirestoreStorageAdapter {
    /// Which database of which server an adapter works on, and how.
    public struct Configuration: Sendable {
        /// The server's address, to which the protocol's paths are appended.
        public var server: URL
        /// The name of the project.
        public var project: String
        /// The name of the database within the project.
        public var database: String
        /// How requests are signed.
        public var authentication: FirestoreAuthentication
        /// What the server offers; the server refuses what it does not.
        public var capabilities: StorageCapabilities
        /// How long one request may take, its reply included; a wait for changes comes on top.
        public var timeout: Duration = .seconds(60)
        /// The most bytes of one reply; a query that finds more fails with `tooLarge`.
        ///
        /// A reply is held in memory while it is read.
        public var largestReply = 64 * 1024 * 1024

        let isExtended: Bool

        private init(
            server: String,
            project: String,
            database: String,
            authentication: FirestoreAuthentication,
            capabilities: StorageCapabilities,
            isExtended: Bool
        ) {
            // An address that cannot be read gives one that no call accepts: it fails and says so.
            self.server = URL(string: server) ?? URL(filePath: server)
            self.project = project
            self.database = database
            self.authentication = authentication
            self.capabilities = capabilities
            self.isExtended = isExtended
        }

        /// The database's name in messages.
        var databaseName: String { "projects/\(project)/databases/\(database)" }
    }
}

extension FirestoreStorageAdapter.Configuration {
    /// What `keel serve` offers over a store that offers everything.
    public static let everythingOfKeel: StorageCapabilities = [
        .changeLog, .transactions, .idempotentCommits, .aggregation, .declaredIndexes, .replication,
        .collectionListing, .textSearch, .pointInTimeReads, .origins,
    ]

    /// What Google's Firestore offers over REST.
    public static let everythingOfGoogle: StorageCapabilities = [
        .transactions, .aggregation, .collectionListing, .pointInTimeReads,
    ]

    /// A server of Keel's own, `keel serve`.
    ///
    /// - Parameters:
    ///   - server: Its address, such as `http://127.0.0.1:8080`.
    ///   - project: The name of the project, which the server accepts as it is.
    ///   - database: The name of the database.
    ///   - authentication: How requests are signed.
    ///   - capabilities: What the server's store offers; the server refuses what it does not.
    /// - Returns: The configuration.
    public static func keel(
        _ server: URL,
        project: String = "keel",
        database: String = "(default)",
        authentication: FirestoreAuthentication = .none,
        capabilities: StorageCapabilities = everythingOfKeel
    ) -> Self {
        Self(
            server: server.absoluteString,
            project: project,
            database: database,
            authentication: authentication,
            capabilities: capabilities,
            isExtended: true
        )
    }

    /// Google's Firestore.
    ///
    /// - Parameters:
    ///   - project: The id of the project.
    ///   - database: The name of the database.
    ///   - authentication: A service account's key, or the ID tokens of a user.
    /// - Returns: The configuration.
    public static func google(
        project: String,
        database: String = "(default)",
        authentication: FirestoreAuthentication
    ) -> Self {
        Self(
            server: "https://firestore.googleapis.com",
            project: project,
            database: database,
            authentication: authentication,
            capabilities: everythingOfGoogle,
            isExtended: false
        )
    }

    /// An emulator of Google's Firestore, past its security rules.
    ///
    /// - Parameters:
    ///   - host: Its host and port.
    ///   - project: The name of the project.
    /// - Returns: The configuration; its ``authentication`` can be replaced by a user's.
    public static func emulator(host: String = "127.0.0.1:8080", project: String) -> Self {
        Self(
            server: "http://\(host)",
            project: project,
            database: "(default)",
            // The token that Google's own libraries send to an emulator, for its owner.
            authentication: .token("owner"),
            capabilities: everythingOfGoogle,
            isExtended: false
        )
    }

    /// The emulator that the environment variable `FIRESTORE_EMULATOR_HOST` names, as host and port.
    ///
    /// - Parameters:
    ///   - project: The name of the project.
    ///   - environment: The environment's variables.
    /// - Returns: The configuration, or nil where the variable is not set.
    public static func emulatorFromEnvironment(
        project: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Self? {
        guard let host = environment["FIRESTORE_EMULATOR_HOST"], !host.isEmpty else { return nil }
        return emulator(host: host, project: project)
    }
}
