import Foundation
import KeelAsyncHTTPClient
import KeelHTTP
import KeelStorage
import KeelStorageSQLite
import RestaurantsData
import RestaurantsDomain
import RestaurantsPresentation

/// The composition root: the one place that knows all layers, and which of Keel's adapters they
/// stand on.
struct Composition {
    let useCases: UseCases
    private let transport: AsyncHTTPClientTransport

    init(_ settings: Settings) throws(DomainError) {
        let storage = try Self.openStorage(settings)
        transport = AsyncHTTPClientTransport()
        var network = NetworkClient.Configuration(baseURL: settings.api)
        network.timeout = .seconds(10)
        let api = NetworkClient(network, transport: transport)
        let now: @Sendable () -> Date = { Date() }
        useCases = UseCases(
            restaurants: OfflineFirstRestaurantRepository(api: api, storage: storage, now: now),
            favourites: StoredFavouriteRepository(storage: storage),
            ratings: StoredRatingRepository(storage: storage),
            now: now
        )
    }

    /// Ends the connections to the service.
    func close() async { await transport.shutdown() }

    private static func openStorage(_ settings: Settings) throws(DomainError) -> StorageClient {
        let location: SQLiteStorageLocation =
            settings.store.map { .file($0) } ?? .applicationSupport("Restaurants")
        do throws(StorageError) {
            return StorageClient(try SQLiteStorageAdapter(at: location), schema: .restaurants)
        } catch {
            throw DomainError(.storageFailed, cause: error)
        }
    }
}
