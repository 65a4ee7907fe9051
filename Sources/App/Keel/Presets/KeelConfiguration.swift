public import Foundation
public import KeelCore
internal import KeelLocation
public import KeelSecrets
public import KeelStorage

/// The configuration of an app's infrastructure for one environment.
///
/// ```swift
/// let keel = KeelConfiguration.production("Notes", api: apiAddress, schema: schema)
/// let storage = try keel.makeStorage()
/// let network = keel.makeNetwork()
/// let caches = try keel.makeCaches()
/// let files = try keel.makeFiles()
/// let secrets = try keel.makeSecrets()
/// let location = keel.makeLocation()
/// let security = keel.makeSecurity()
/// let analytics = try keel.makeAnalytics()
/// ```
///
/// Start with a preset and change it, or assemble the parts yourself.
public struct KeelConfiguration: Sendable {
    /// The environments that an app runs in.
    public enum Environment: String, Sendable, Hashable, CaseIterable {
        /// Production, with users.
        case production
        /// Development, with persistent data and early warnings.
        case development
        /// A test.
        case test
        /// A preview of a view.
        case preview
    }

    /// The location of documents.
    public enum StorageLocation: Sendable, Hashable {
        /// In memory, lost with the process.
        case memory
        /// In an SQLite file in the user's application data folder, under the app's name.
        case applicationSupport(String)
        /// In an SQLite file.
        case file(URL)
        /// On a Keel server (`keel serve`) at this URL, with the tokens of ``KeelConfiguration/storageTokens``.
        ///
        /// Calls are attempted up to three times. A commit takes effect once, and is retried only for the same user.
        case server(URL)
    }

    /// The location of cached values beyond memory.
    public enum CacheLocation: Sendable, Hashable {
        /// Only in memory.
        case memory
        /// In the user's caches folder, under the app's name.
        case cachesFolder(String)
        /// In a dedicated folder.
        case folder(URL)
    }

    /// The location of files.
    public enum FileLocation: Sendable, Hashable {
        /// In memory, lost with the process.
        case memory
        /// In the user's application data folder, under the app's name.
        case applicationSupport(String)
        /// In a dedicated folder.
        case folder(URL)
    }

    /// The location of secrets.
    public enum SecretLocation: Sendable {
        /// In memory, lost with the process.
        case memory
        /// In the platform's store, under this service, without a fallback.
        case platform(service: String)
        /// In an encrypted file in a dedicated folder, under this service.
        case file(URL, SecretFileKey, service: String)
    }

    /// The location of logs; requires the trait `Logging`.
    public enum LogLocation: Sendable, Hashable {
        /// Discarded.
        case none
        /// The console, from level `debug`.
        case console
        /// A rotating file in the user's application data folder, under the app's name, from level `info`.
        case applicationSupport(String)
        /// A rotating file.
        case file(URL)
    }

    /// The behavior of a query that no declared index serves.
    public enum UndeclaredQueries: Sendable {
        /// Scans all documents silently.
        case scan
        /// Scans all documents and reports the index that would serve the query.
        case report(@Sendable (DocumentQuery, QueryPlan) -> Void)
        /// Fails with `StorageError/Code/indexRequired`.
        case refuse
    }

    /// The environment.
    public var environment: Environment
    /// The location of documents.
    public var storage: StorageLocation
    /// The source of the bearer tokens for the server of ``storage``, such as `StaticToken` or an `AuthSession`.
    ///
    /// Nil, the default, sends no token. Over `http`, others on the network can read tokens.
    public var storageTokens: (any TokenSource)?
    /// The location of cached values beyond memory.
    public var caches: CacheLocation
    /// The maximum size of caches on disk in bytes.
    public var cacheByteLimit = 256 << 20
    /// The location of files.
    public var files: FileLocation
    /// The location of secrets.
    public var secrets: SecretLocation
    /// The location of the app's keyset, which is encrypted with a key in its secrets.
    public var keys: FileLocation
    /// The location of events until they are delivered.
    public var analytics: FileLocation
    /// The location of logs.
    public var logs: LogLocation
    /// The source of the device's position.
    public var location: LocationSource
    /// The indexes that the app's queries need.
    public var schema: StorageSchema
    /// The behavior of a query that no declared index serves.
    public var undeclaredQueries: UndeclaredQueries
    /// The URL of the app's web service, if it has one.
    public var api: URL?
    /// Whether the web service, documents on a server and a gpsd on another host may be used.
    public var allowsNetwork: Bool
    /// The observer of the calls of all parts that the configuration creates.
    public var observer: KeelObserver?

    /// Creates a configuration from its parts.
    public init(
        environment: Environment,
        storage: StorageLocation,
        caches: CacheLocation = .memory,
        files: FileLocation = .memory,
        secrets: SecretLocation = .memory,
        keys: FileLocation = .memory,
        analytics: FileLocation = .memory,
        logs: LogLocation = .none,
        location: LocationSource = .platform,
        schema: StorageSchema = StorageSchema(),
        undeclaredQueries: UndeclaredQueries = .scan,
        api: URL? = nil,
        allowsNetwork: Bool = true,
        observer: KeelObserver? = nil
    ) {
        self.environment = environment
        self.storage = storage
        self.caches = caches
        self.files = files
        self.secrets = secrets
        self.keys = keys
        self.analytics = analytics
        self.logs = logs
        self.location = location
        self.schema = schema
        self.undeclaredQueries = undeclaredQueries
        self.api = api
        self.allowsNetwork = allowsNetwork
        self.observer = observer
    }
}
