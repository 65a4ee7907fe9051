import Foundation
import Keel
import KeelHTTP
import KeelSecrets
import KeelStorage
import KeelSync
import KeelTestKit
import RestaurantsData
import RestaurantsDomain
import Synchronization
import Testing

extension Restaurant {
    /// A restaurant for tests.
    static func fixture(
        _ id: String,
        _ name: String,
        borough: String = "Harbour",
        cuisine: String = "Seafood",
        rating: Double? = nil,
        price: Int? = nil,
        at location: Coordinate? = nil,
        scores: [Int] = []
    ) throws -> Restaurant {
        Restaurant(
            id: try RestaurantID(id),
            name: name,
            cuisine: cuisine,
            rating: rating,
            priceLevel: price.flatMap { PriceLevel($0) },
            address: "1 Quay Lane",
            borough: borough,
            location: location,
            grades: scores.enumerated().map { index, score in
                Grade(date: day(index), mark: .a, score: score)
            }
        )
    }
}

/// A day for tests: noon, a number of days after March 1, 2026.
func day(_ number: Int) -> Date {
    Date(timeIntervalSince1970: 1_772_366_400 + 86_400 * Double(number))
}

/// Restaurants in the service's format.
enum ServiceJSON {
    static func restaurant(
        _ id: String,
        _ name: String,
        borough: String = "Harbour",
        cuisine: String = "Seafood",
        grades: String = "[]"
    ) -> String {
        """
        {"id": "\(id)", "name": "\(name)", "borough": "\(borough)", "cuisine": "\(cuisine)",
         "address": "1 Quay Lane", "grades": \(grades)}
        """
    }

    /// The response to a user who signs in, with numbered tokens.
    static func grant(_ number: Int, user: String = user) -> String {
        """
        {"access_token": "access-\(number)", "refresh_token": "refresh-\(number)",
         "expires_in": 900, "user": \(user)}
        """
    }

    static let bob = #"{"id": "bob", "name": "Bob Harbour", "email": "bob@example.com"}"#
    static let user = #"{"id": "ada", "name": "Ada Lovelace", "email": "ada@example.com"}"#

    static func page(_ restaurants: String..., next: String? = nil) -> String {
        let rest = next.map { "\"\($0)\"" } ?? "null"
        return #"{"restaurants": [\#(restaurants.joined(separator: ","))], "next": \#(rest)}"#
    }
}

/// Texts in the order of their arrival.
final class Lines: Sendable {
    private let state = Mutex<[String]>([])

    var all: [String] { state.withLock { $0 } }

    func add(_ text: String) { state.withLock { $0.append(text) } }
}

/// The data layer with its own store and service.
struct Instance {
    let transport: ScriptedHTTPTransport
    let storage: StorageClient
    let restaurants: OfflineFirstRestaurantRepository
    let favourites: StoredFavouriteRepository
    let ratings: StoredRatingRepository
    let outbox: ChoiceOutbox
    let accounts: SessionAccountRepository
    /// The lines of the app's log.
    let log: Lines

    init(
        _ answers: ScriptedHTTPTransport.Answer...,
        on adapter: some StorageAdapter = InMemoryStorageAdapter(),
        secrets: InMemorySecretStoreAdapter = InMemorySecretStoreAdapter(),
        at now: Date = day(0)
    ) throws {
        try self.init(ScriptedHTTPTransport(answers), on: adapter, secrets: secrets, at: now)
    }

    /// Creates an instance that makes each call once, unless a policy says otherwise.
    init(
        _ transport: ScriptedHTTPTransport,
        on adapter: some StorageAdapter = InMemoryStorageAdapter(),
        secrets: InMemorySecretStoreAdapter = InMemorySecretStoreAdapter(),
        at now: Date = day(0),
        retry: HTTPRetryPolicy = .never,
        observers: [any HTTPEventObserver] = []
    ) throws {
        let address = try #require(URL(string: "http://service.example"))
        try self.init(
            transport,
            address,
            on: adapter,
            secrets: secrets,
            at: now,
            retry: retry,
            observers: observers
        )
    }

    init(
        _ transport: ScriptedHTTPTransport,
        over real: (any HTTPTransport)? = nil,
        _ address: URL,
        on adapter: some StorageAdapter,
        secrets: InMemorySecretStoreAdapter = InMemorySecretStoreAdapter(),
        at now: Date = day(0),
        retry: HTTPRetryPolicy = .never,
        observers: [any HTTPEventObserver] = []
    ) throws {
        self.transport = transport
        let lines = Lines()
        log = lines
        var configuration = StorageClient.Configuration(schema: .restaurants)
        // A query without its index is an error.
        configuration.isStrict = true
        storage = StorageClient(adapter, configuration: configuration)
        var network = NetworkClient.Configuration(baseURL: address)
        network.retry = retry
        network.observers = observers
        let service = RestaurantService(
            network,
            transport: real ?? transport,
            secrets: try SecretStore(secrets, service: "restaurants"),
            now: { now },
            log: { lines.add($0) }
        )
        accounts = SessionAccountRepository(service)
        restaurants = OfflineFirstRestaurantRepository(
            api: service.api,
            storage: storage,
            now: { now }
        )
        var waiting = ChoiceOutbox.usual
        // Every delay is an hour, so none ends in a test, however slow the machine is.
        waiting.jitter = { 1 }
        waiting.retry.baseDelay = .seconds(3600)
        waiting.retry.maximumDelay = .seconds(3600)
        outbox = ChoiceOutbox(service, storage: storage, configuration: waiting)
        favourites = StoredFavouriteRepository(outbox)
        ratings = StoredRatingRepository(outbox)
    }
}
