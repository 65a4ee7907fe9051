import Foundation
import Keel
import RestaurantsData
import RestaurantsDomain
import RestaurantsPresentation

/// The composition root: the one place that knows all layers, and what they stand on.
struct Composition {
    let useCases: UseCases
    private let api: NetworkClient

    init(_ settings: Settings) throws(DomainError) {
        var keel = KeelConfiguration.production(
            "Restaurants",
            api: settings.api,
            schema: .restaurants
        )
        if let file = settings.store { keel.storage = .file(URL(fileURLWithPath: file)) }

        let storage = try Self.openStorage(keel)
        api = Self.makeAPI(keel)
        let now: @Sendable () -> Date = { Date() }
        useCases = UseCases(
            restaurants: OfflineFirstRestaurantRepository(api: api, storage: storage, now: now),
            favourites: StoredFavouriteRepository(storage: storage),
            ratings: StoredRatingRepository(storage: storage),
            now: now
        )
    }

    /// Ends the connections to the service.
    func close() async { await api.transport.shutdown() }

    private static func openStorage(
        _ keel: KeelConfiguration
    ) throws(DomainError) -> StorageClient {
        do throws(StorageError) {
            return try keel.makeStorage()
        } catch {
            throw DomainError(.storageFailed, cause: error)
        }
    }

    private static func makeAPI(_ keel: KeelConfiguration) -> NetworkClient {
        let usual = keel.makeNetwork()
        var configuration = usual.configuration
        // Somebody sits before the terminal and waits.
        configuration.timeout = .seconds(15)
        return NetworkClient(configuration, transport: usual.transport)
    }
}
