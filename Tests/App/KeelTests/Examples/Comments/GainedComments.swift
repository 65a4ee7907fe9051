import Foundation
import HTTPTypes
import Keel
import KeelConformance
import KeelDependencies
import KeelHTTPAuthentication
import KeelTestKit

#if Logging
import Logging
#endif

// Examples from comments, in addition to those of each module; compiled but not run.

extension NetworkClientProvider.Service {
    static let auth: Self = "auth"
    static let diary: Self = "diary"
}

extension CommentExamples {
    enum AuthEndpoint: ServiceEndpoint {
        case user(id: String)
        var path: EndpointPath { "/user" }
    }

    struct Page: Codable, Sendable {
        var next: URL
    }

    struct UserDTO: Codable, Sendable, DomainConvertible {
        var id: String
        func toDomain() throws(MappingError) -> User { User(id: id) }
    }

    struct App: Sendable {
        func run() async throws {}
    }

    struct Photographed: Sendable {
        var imageURL: URL
    }

    struct Place: Sendable {
        func all() async throws -> [Restaurant] { [] }
    }

    static func analyticsDependency(
        _ keel: KeelConfiguration,
        _ destinations: AnalyticsConfiguration
    ) async throws {
        let analytics = try keel.makeAnalytics(destinations)
        try await withDependencies {
            $0.analytics = analytics
        } operation: {
            try await run()
        }
    }

    static func cachesDependency(_ keel: KeelConfiguration) async throws {
        let caches = try keel.makeCaches(CacheConfiguration(limits: .bytes(64 << 20)))
        try await withDependencies {
            $0.caches = caches
        } operation: {
            try await run()
        }
    }

    static func keelObserver(_ observer: KeelObserver, _ source: Place) async throws {
        _ = try await observer.measure(.repositories, "restaurants") { try await source.all() }
    }

    #if Logging
    static func keelLogging(_ keel: KeelConfiguration) throws {
        LoggingSystem.bootstrap(try keel.makeLogging())
    }

    static func analyticsObservation(_ logger: Logger) {
        var configuration = AnalyticsConfiguration()
        configuration.observer = { logger.debug("\($0)") }
        _ = configuration
    }
    #endif

    static func keelConfigurationGained(_ apiAddress: URL, _ schema: StorageSchema) throws {
        let keel = KeelConfiguration.production("Notes", api: apiAddress, schema: schema)
        let storage = try keel.makeStorage()
        let network = keel.makeNetwork()
        let caches = try keel.makeCaches()
        let files = try keel.makeFiles()
        let secrets = try keel.makeSecrets()
        let location = keel.makeLocation()
        let security = keel.makeSecurity()
        let analytics = try keel.makeAnalytics()
        _ = (storage, network, caches, files, secrets, location, security, analytics)
    }

    static func backgroundWork(
        _ analytics: AnalyticsService,
        _ outbox: Outbox,
        _ sender: some OutboxSender
    ) async throws {
        var work = BackgroundWork()
        work.add(analytics)
        work.add(outbox, sending: sender)
        try await work.run()
    }

    static func currentAnalytics(_ analytics: AnalyticsService, _ app: App) async throws {
        try await withAnalytics(analytics) { try await app.run() }
    }

    static func networkClientProvider(
        _ authAddress: URL,
        _ diaryAddress: URL,
        _ transport: any HTTPTransport,
        _ session: AuthSession<BearerCredentials>
    ) {
        let network = NetworkClientProvider(
            [.auth: authAddress, .diary: diaryAddress],
            transport: transport
        ) { service, configuration in
            configuration.json = .snakeCase
            if service != .auth { configuration.authorize(with: session) }
        }
        let login = network.client(for: .auth, operations: AuthEndpoint.self)
        let diary = network.client(for: .diary)
        _ = (login, diary)
    }

    static func dateStyle(_ client: NetworkClient) {
        var configuration = client.configuration
        let pattern = Date.VerbatimFormatStyle(
            format: "\(day: .twoDigits).\(month: .twoDigits).\(year: .padded(4))",
            timeZone: .gmt,
            calendar: Calendar(identifier: .gregorian)
        )
        let german = DateStyle(
            "german",
            read: { try? Date($0, strategy: pattern.parseStrategy) },
            write: { $0.formatted(pattern) }
        )
        configuration.json.dates = .custom(german)
        _ = configuration
    }

    static func foundationJSONCoding(_ client: NetworkClient) {
        var configuration = client.configuration
        configuration.coding = FoundationJSONCoding(
            encoder: {
                let encoder = JSONEncoder()
                encoder.dataEncodingStrategy = .base64
                return encoder
            },
            decoder: {
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                return decoder
            }
        )
        _ = configuration
    }

    struct Odd: ServiceEndpoint {
        var path: EndpointPath { "/odd" }
        var coding: (any BodyCoding)? { JSONCoding(names: .snakeCase, dates: .day) }
    }

    static func addresses(
        _ client: NetworkClient,
        _ page: Page,
        _ restaurant: Photographed
    ) async throws {
        let next = try await client.get(.url(page.next), as: Page.self)
        let image = try await client.download(from: URLEndpoint(restaurant.imageURL))
        _ = (next, image)
    }

    struct Users: Sendable {
        let users: ServiceClient<AuthEndpoint>

        func user(id: String) async -> Result<User, DataSourceError> {
            await users.response(to: .user(id: id)).value(as: UserDTO.self).toDomain()
        }
    }

    #if Crypto
    static func securityOfSecrets(_ folder: URL, _ secrets: SecretStore, _ note: Data) throws {
        let security = SecurityService(
            keysetAt: folder.appending(path: "keys.json"),
            under: secrets
        )
        let sealed = try security.encrypt(note)  // and another process decrypts it
        _ = sealed
    }
    #endif
}
