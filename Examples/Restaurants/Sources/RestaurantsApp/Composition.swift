import Foundation
import Keel
import RestaurantsData
import RestaurantsDomain
import RestaurantsPresentation

/// The composition root: the one place that knows all layers, and what they stand on.
struct Composition {
    let useCases: UseCases
    /// Tells the service what users have chosen.
    let outbox: ChoiceOutbox
    private let accounts: any AccountRepository
    private let transport: any HTTPTransport

    init(_ settings: Settings) throws(DomainError) {
        var keel = KeelConfiguration.production(
            "Restaurants",
            api: settings.api,
            schema: .restaurants
        )
        if let file = settings.store { keel.storage = .file(URL(fileURLWithPath: file)) }

        let storage = try Self.openStorage(keel)
        let now: @Sendable () -> Date = { Date() }
        let network = Self.makeNetwork(keel)
        let log: (@Sendable (String) -> Void)? = settings.isLogged ? TerminalScreen.log : nil
        let service = RestaurantService(
            network.configuration,
            transport: network.transport,
            storage: storage,
            now: now,
            log: log
        )
        transport = network.transport
        accounts = SessionAccountRepository(service)
        outbox = ChoiceOutbox(service, storage: storage)
        useCases = UseCases(
            restaurants: OfflineFirstRestaurantRepository(
                api: service.api,
                storage: storage,
                now: now
            ),
            favourites: StoredFavouriteRepository(outbox),
            ratings: StoredRatingRepository(outbox),
            changes: outbox,
            accounts: accounts,
            now: now
        )
    }

    /// The user who is signed in on this device.
    func signedInUser() async throws(DomainError) -> User? { try await accounts.signedInUser() }

    /// Ends the connections to the service.
    func close() async { await transport.shutdown() }

    private static func openStorage(
        _ keel: KeelConfiguration
    ) throws(DomainError) -> StorageClient {
        do throws(StorageError) {
            return try keel.makeStorage()
        } catch {
            throw DomainError(.storageFailed, cause: error)
        }
    }

    private static func makeNetwork(_ keel: KeelConfiguration) -> NetworkClient {
        let usual = keel.makeNetwork()
        var configuration = usual.configuration
        // Somebody sits before the terminal and waits.
        configuration.timeout = .seconds(15)
        configuration.retry = .attempts(3)
        return NetworkClient(configuration, transport: usual.transport)
    }
}
