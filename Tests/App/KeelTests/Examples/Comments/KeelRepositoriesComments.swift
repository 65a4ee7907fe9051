import Foundation
import HTTPTypes
import Keel
import KeelHTTPAuthentication
import KeelNetworkStatus
import KeelRepositories
import KeelTestKit
import Testing

/// Examples from the comments of KeelRepositories; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func repositoryError2(_ error: RepositoryError) throws(DomainError) {
        throw error.mapped(
            to: [.notFound: .noSuchRestaurant, .unreachable: .offline],
            else: .failed
        )
    }

    static func resource(
        _ remote: RemoteDataSource,
        _ menus: CollectionDataSource<MenuDTO>,
        _ loader: ResourceLoader
    ) async throws {
        let menu = Resource("menus/42", tags: ["menus"]) {
            try await remote.request(GetMenu(restaurant: "42"))
        } read: {
            try await menus.find("42")
        } store: {
            try await menus.save([$0])
        }
        let fetched = try await loader.load(menu, .cacheFirst(maxAge: .seconds(3600)))
        _ = menu
        _ = fetched
    }

    static func resourceLoader(
        _ storage: StorageClient,
        _ memory: ResourceMemory,
        _ session: AuthSession<BearerCredentials>
    ) async throws {
        let loader = ResourceLoader(
            ledger: CollectionFetchLedger(storage),
            memory: memory,
            identity: { await session.identity }
        )
        session.onSignOut("memory") { _ in await memory.removeAll() }
        for await _ in session.states { loader.userChanged() }
    }

    static func resourceObservation(_ memory: ResourceMemory) {
        let loader = ResourceLoader(
            memory: memory,
            observer: { step in timer("loads.\(step.source)").record(step.duration) }
        )
        _ = loader
    }

    static func resourceMemory(_ storage: StorageClient) async throws {
        let loader = ResourceLoader(
            ledger: CollectionFetchLedger(storage),
            memory: ResourceMemory(.bytes(8 << 20))
        )
        _ = loader
    }

    static func hTTPOutboxSender(
        _ outbox: Outbox,
        _ client: NetworkClient,
        _ network: NetworkStatus
    ) async throws {
        try await outbox.run(sending: HTTPOutboxSender(client), whileOnline: network.onlineStates)
    }

    static func outboxRequest(_ dto: FavouriteDTO) async throws {
        let write = try OutboxRequest(PutFavourite(dto)).write(key: "favourites/42")
        _ = write
    }

    static func prefetcher(
        _ restaurants: EntityRepository<Restaurant>,
        _ idsOfTheNextRows: [String],
        _ idsThatScrolledAway: [String]
    ) async throws {
        let prefetcher = restaurants.prefetcher()
        prefetcher.prefetch(idsOfTheNextRows)
        prefetcher.cancel(idsThatScrolledAway)
        _ = prefetcher
    }

    static func entityRepositoryFinding(_ restaurants: EntityRepository<Restaurant>) async throws {
        let thai = try await restaurants.query(
            where: #Predicate<RestaurantDTO> { $0.cuisine == "thai" }
        )
        _ = thai
    }

    static func entityRepository2(
        _ remote: RemoteEntities<RestaurantDTO>,
        _ storage: StorageClient,
        _ loader: ResourceLoader
    ) async throws {
        let restaurants = EntityRepository<Restaurant>(
            "restaurants",
            remote: remote,
            local: CollectionDataSource(storage.collection("restaurants", as: RestaurantDTO.self)),
            loader: loader
        ) { $0.id }
        let restaurant = try await restaurants.entity("42", .cacheFirst(maxAge: .seconds(3600)))
        for await state in restaurants.observeAll() { show(state) }
        _ = restaurants
        _ = restaurant
    }

    static func offlineWrites(_ outbox: Outbox) async throws {
        let offline = OfflineWrites<FavouriteDTO>(outbox) { change in
            switch change {
            case .save(let dto): try OutboxRequest(PutFavourite(dto))
            case .delete(let id): try OutboxRequest(DeleteFavourite(id: id))
            }
        }
        _ = offline
    }

    static func collectionDataSource(_ storage: StorageClient) async throws {
        let local = CollectionDataSource(
            storage.collection("restaurants", as: StoredRestaurant.self)
        )
        _ = local
    }

    static func remoteDataSource(_ client: NetworkClient) async throws {
        let remote = RemoteDataSource(client)
        let restaurant = try await remote.domain(GetRestaurant(id: "42"))  // a DTO, mapped
        _ = remote
        _ = restaurant
    }

    static func remoteDataSource2(_ remote: RemoteDataSource) async throws {
        let pages = try await remote.pages {
            GetRestaurantPage(after: $0)
        } next: {
            $0.next
        }
        _ = pages
    }

    static func remoteEntities(_ client: NetworkClient) async throws {
        let remote = RemoteEntities<RestaurantDTO>(RemoteDataSource(client))
            .find { GetRestaurant(id: $0) }
            .all { GetRestaurants() }
            .save { PutRestaurant($0) }
            .delete { DeleteRestaurant(id: $0) }
            .search { SearchRestaurants(words: $0) }
        _ = remote
    }
}
