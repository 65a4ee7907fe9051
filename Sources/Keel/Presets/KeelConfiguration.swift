public import Foundation
internal import KeelLocation
public import KeelSecrets
public import KeelStorage

/// How an app's infrastructure is put together in one environment.
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
/// Start from a preset and change what you need; or put the parts together yourself, the presets
/// hold no secret.
public struct KeelConfiguration: Sendable {
    /// The environments that an app runs in.
    public enum Environment: String, Sendable, Hashable, CaseIterable {
        /// With users.
        case production
        /// On a developer's machine, with real data and early warnings.
        case development
        /// In a test: nothing outside the process is touched.
        case test
        /// In a preview of a view: like a test, with less strictness.
        case preview
    }

    /// Where documents are kept.
    public enum StorageLocation: Sendable, Hashable {
        /// In memory, gone with the process.
        case memory
        /// In an SQLite file in the user's folder for application data, under the app's name.
        case applicationSupport(String)
        /// In an SQLite file.
        case file(URL)
        /// On a server of Keel's, `keel serve`, at this address.
        case server(URL)
    }

    /// Where caches keep what does not fit into memory, or is to survive the process.
    public enum CacheLocation: Sendable, Hashable {
        /// Nowhere: caches are in memory alone.
        case memory
        /// In the user's folder for caches, under the app's name.
        case cachesFolder(String)
        /// In a folder of its own.
        case folder(URL)
    }

    /// Where files are kept.
    public enum FileLocation: Sendable, Hashable {
        /// In memory, gone with the process.
        case memory
        /// In the user's folder for application data, under the app's name.
        case applicationSupport(String)
        /// In a folder of its own.
        case folder(URL)
    }

    /// Where secrets are kept.
    public enum SecretLocation: Sendable {
        /// In memory, gone with the process.
        case memory
        /// In the platform's store, of this service; nowhere else if it cannot be used.
        case platform(service: String)
        /// In an encrypted file in a folder of its own, of this service.
        case file(URL, SecretFileKey, service: String)
    }

    /// Where logs go; the trait `Logging` makes the handlers.
    public enum LogLocation: Sendable, Hashable {
        /// Nowhere.
        case none
        /// The console: everything from `debug`.
        case console
        /// A rotating file in the user's folder for application data, under the app's name:
        /// everything from `info`.
        case applicationSupport(String)
        /// A rotating file.
        case file(URL)
    }

    /// What a query does that no declared index serves.
    public enum UndeclaredQueries: Sendable {
        /// It looks at every document, quietly.
        case scan
        /// It looks at every document, and the index that would serve it is reported.
        case report(@Sendable (DocumentQuery, QueryPlan) -> Void)
        /// It is refused with `StorageError/Code/indexRequired`.
        case refuse
    }

    /// The environment that the configuration is for.
    public var environment: Environment
    /// Where documents are kept.
    public var storage: StorageLocation
    /// Where caches keep what does not fit into memory.
    public var caches: CacheLocation
    /// The most bytes that caches take on disk.
    public var cacheByteLimit = 256 << 20
    /// Where files are kept.
    public var files: FileLocation
    /// Where secrets are kept.
    public var secrets: SecretLocation
    /// Where the app's keyset is kept, under a key in its secrets.
    public var keys: FileLocation
    /// Where events wait until they are delivered.
    public var analytics: FileLocation
    /// Where logs go.
    public var logs: LogLocation
    /// Where the device's position comes from.
    public var location: LocationSource
    /// The indexes that the app's queries need.
    public var schema: StorageSchema
    /// What a query does that no declared index serves.
    public var undeclaredQueries: UndeclaredQueries
    /// The address of the app's web service, if it has one.
    public var api: URL?
    /// Whether requests may leave the process.
    public var allowsNetwork: Bool
    /// Is told of the calls of everything that the configuration makes; nil for nobody.
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
        observing observer: KeelObserver? = nil
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
