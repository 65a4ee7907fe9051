import Foundation
import HTTPTypes
import KeelHTTP
import KeelRepositories
import KeelStorage
import KeelSync
import KeelTestKit
import Testing

// The source documents' example, built on Keel: a domain repository that reads cache first, finds,
// searches, and stores favorites, online and offline.

/// The domain's port, which does not depend on Keel.
private protocol RestaurantRepository: Sendable {
    func restaurants() async throws(DomainError) -> [Restaurant]
    func restaurant(_ id: UUID) async throws(DomainError) -> Restaurant
    func search(_ words: String) async throws(DomainError) -> [Restaurant]
    func favourites() async throws(DomainError) -> [Restaurant]
    func setFavourite(_ id: UUID, _ isFavourite: Bool) async throws(DomainError)
}

private enum DomainError: Error, Equatable {
    case offline, notFound, signInRequired, failed
}

extension DomainError {
    init(_ error: RepositoryError) {
        self = error.mapped(
            to: [.unreachable: .offline, .notFound: .notFound, .signInRequired: .signInRequired],
            else: .failed
        )
    }
}

private struct KeptRestaurantRepository: RestaurantRepository {
    let entities: EntityRepository<Restaurant>
    let remote: RemoteDataSource

    func restaurants() async throws(DomainError) -> [Restaurant] {
        try await mapped { try await entities.all(.cacheFirst(maxAge: .seconds(86_400))) }
    }

    func restaurant(_ id: UUID) async throws(DomainError) -> Restaurant {
        try await mapped { try await entities.entity(id.uuidString) }
    }

    func search(_ words: String) async throws(DomainError) -> [Restaurant] {
        try await mapped {
            try await RepositoryError.mapping {
                try await remote.request(SearchRestaurants(words: words)).toDomain().elements
            }
        }
    }

    func favourites() async throws(DomainError) -> [Restaurant] {
        try await mapped { try await entities.all(.cacheOnly).filter(\.isFavourite) }
    }

    func setFavourite(_ id: UUID, _ isFavourite: Bool) async throws(DomainError) {
        try await mapped {
            var restaurant = try await entities.entity(id.uuidString)
            restaurant.isFavourite = isFavourite
            try await entities.saveOffline(restaurant)
        }
    }

    private func mapped<Value>(
        _ operation: () async throws -> Value
    ) async throws(DomainError) -> Value {
        try await RepositoryError.mapped(to: DomainError.init, operation)
    }
}

@Suite("Restaurants from the source documents", .timeLimit(.minutes(1)))
struct RestaurantRepositoryTests {
    private let service: TestService
    private let storage = StorageClient(InMemoryStorageAdapter())

    init() throws {
        service = try TestService()
        service.serve()
        service.set((1...4).map { .sample($0) })
    }

    /// Creates what an app creates when it is launched.
    private func launch() -> (any RestaurantRepository, Outbox) {
        let outbox = Outbox(storage)
        let entities = EntityRepository<Restaurant>(
            "restaurants",
            remote: RemoteEntities<RestaurantDTO>(service.remote)
                .find { GetRestaurant(id: $0) }
                .all { GetRestaurants() },
            local: CollectionDataSource(
                storage.collection("restaurants", as: RestaurantDTO.self),
                id: { $0.id ?? "" }
            ),
            loader: ResourceLoader(ledger: CollectionFetchLedger(storage)),
            offline: OfflineWrites(outbox) { change in
                switch change {
                case .save(let dto): try OutboxRequest(PutRestaurant(dto: dto))
                case .delete(let id): try OutboxRequest(DeleteRestaurant(id: id))
                }
            },
            id: { $0.id ?? "" }
        )
        return (KeptRestaurantRepository(entities: entities, remote: service.remote), outbox)
    }

    private func id(_ number: Int) throws -> UUID {
        try #require(UUID(uuidString: RestaurantDTO.uuid(number)))
    }

    @Test("Restaurants are listed cache first, across launches, and found individually")
    func lists() async throws {
        let (repository, _) = launch()
        #expect(try await repository.restaurants().count == 4)
        service.goOffline()
        let (relaunched, _) = launch()
        #expect(try await relaunched.restaurants().count == 4)
        #expect(try await relaunched.restaurant(id(2)).name == "Restaurant 2")
        await #expect(throws: DomainError.offline) { try await relaunched.restaurant(id(77)) }
        service.goOffline(false)
        await #expect(throws: DomainError.notFound) { try await relaunched.restaurant(id(77)) }
    }

    @Test("A search is sent to the service with encoded words")
    func searches() async throws {
        service.set([.sample(1, name: "Thai Palace"), .sample(2, name: "Roma")])
        let (repository, _) = launch()
        #expect(try await repository.search("Palace").map(\.name) == ["Thai Palace"])
        _ = try await repository.search("Fish & Chips")
        #expect(
            service.transport.calls.last?.head.path == "/v1/restaurants/search?q=Fish%20%26%20Chips"
        )
    }

    @Test("An offline favorite is visible at once and reaches the service after the next launch")
    func choosesOffline() async throws {
        let (repository, _) = launch()
        _ = try await repository.restaurants()
        service.goOffline()
        try await repository.setFavourite(id(3), true)
        #expect(try await repository.favourites().map(\.name) == ["Restaurant 3"])

        // The app is closed and reopened, now with a connection.
        service.goOffline(false)
        let (relaunched, outbox) = launch()
        #expect(try await relaunched.favourites().map(\.name) == ["Restaurant 3"])
        #expect(service.stored[RestaurantDTO.uuid(3)]?.isFavourite == false)
        #expect(try await outbox.flush(sending: HTTPOutboxSender(service.client)))
        #expect(service.stored[RestaurantDTO.uuid(3)]?.isFavourite == true)
        #expect(service.idempotencyKeys.count == 1)
    }
}
