public import KeelStorageAdapting

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension FirestoreStorageAdapter {
    /// The server, the database and the settings of an adapter.
    public struct Configuration: Sendable {
        /// The base URL, to which the protocol's paths are appended; every call with an invalid one throws an error.
        public var server: URL
        /// The name of the project.
        public var project: String
        /// The name of the database within the project.
        public var database: String
        /// The authentication of requests.
        public var authentication: FirestoreAuthentication
        /// The capabilities that the client assumes of the server.
        public var capabilities: StorageCapabilities
        /// The maximum duration of a request with its reply; requests for changes have limits of their own.
        public var timeout: Duration = .seconds(60)
        /// The maximum size of a reply in memory, in bytes; a query with a larger result fails with `tooLarge`.
        public var maximumReplySize = 64 * 1024 * 1024

        let isExtended: Bool

        private init(
            server: String,
            project: String,
            database: String,
            authentication: FirestoreAuthentication,
            capabilities: StorageCapabilities,
            isExtended: Bool
        ) {
            // An invalid address becomes a URL that every call rejects with an error.
            self.server = URL(string: server) ?? URL(filePath: server)
            self.project = project
            self.database = database
            self.authentication = authentication
            self.capabilities = capabilities
            self.isExtended = isExtended
        }

        var databaseName: String { "projects/\(project)/databases/\(database)" }

        var authority: String {
            let host = server.host(percentEncoded: true) ?? ""
            let name = host.contains(":") ? "[\(host)]" : host
            return server.port.map { "\(name):\($0)" } ?? name
        }

        var pathPrefix: String {
            let path = server.path(percentEncoded: true)
            return path.hasSuffix("/") ? String(path.dropLast()) : path
        }
    }
}

extension FirestoreStorageAdapter.Configuration {
    /// All capabilities of `keel serve`, over a store that has them all.
    public static let allKeelCapabilities: StorageCapabilities = [
        .changeLog, .transactions, .idempotentCommits, .aggregation, .declaredIndexes, .replication,
        .collectionListing, .textSearch, .pointInTimeReads, .origins, .queryChanges,
    ]

    /// The capabilities of Google's Firestore over REST and WebChannel.
    public static let allGoogleCapabilities: StorageCapabilities = [
        .transactions, .aggregation, .collectionListing, .pointInTimeReads, .queryChanges,
    ]

    /// Returns the configuration for a `keel serve` server.
    ///
    /// - Parameters:
    ///   - server: The base URL, such as `http://127.0.0.1:8080`.
    ///   - project: The name of the project; the server accepts any.
    ///   - database: The name of the database.
    ///   - authentication: The authentication of requests.
    ///   - capabilities: The capabilities of the server's store; the server rejects operations beyond its own.
    /// - Returns: The configuration.
    public static func keel(
        _ server: URL,
        project: String = "keel",
        database: String = "(default)",
        authentication: FirestoreAuthentication = .none,
        capabilities: StorageCapabilities = allKeelCapabilities
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

    /// Returns the configuration for Google's Firestore.
    ///
    /// - Parameters:
    ///   - project: The id of the project.
    ///   - database: The name of the database.
    ///   - authentication: The key of a service account, or the ID tokens of a user.
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
            capabilities: allGoogleCapabilities,
            isExtended: false
        )
    }

    /// Returns the configuration for an emulator of Google's Firestore, with an owner token that bypasses security
    /// rules.
    ///
    /// - Returns: The configuration; replace its ``authentication`` to act as a user.
    public static func emulator(host: String = "127.0.0.1:8080", project: String) -> Self {
        Self(
            server: "http://\(host)",
            project: project,
            database: "(default)",
            // The token with which Google's libraries act as the emulator's owner.
            authentication: .token("owner"),
            capabilities: allGoogleCapabilities,
            isExtended: false
        )
    }

    /// Returns the configuration for the emulator named by the environment variable `FIRESTORE_EMULATOR_HOST`, as host
    /// and port.
    ///
    /// - Returns: The configuration; nil if the variable is not set.
    public static func emulatorFromEnvironment(
        project: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Self? {
        guard let host = environment["FIRESTORE_EMULATOR_HOST"], !host.isEmpty else { return nil }
        return emulator(host: host, project: project)
    }
}
