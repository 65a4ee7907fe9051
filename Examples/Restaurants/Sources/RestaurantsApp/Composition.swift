import Foundation
import Keel
import KeelLogging
import RestaurantsData
import RestaurantsDomain
import RestaurantsPresentation

/// The composition root: the one place that knows all layers, and what they stand on.
struct Composition {
    let useCases: UseCases
    /// Tells the service what users have chosen.
    let outbox: ChoiceOutbox
    private let accounts: any AccountRepository
    /// The log, and what is noted of the app's use.
    let telemetry: Telemetry
    private let transport: any HTTPTransport

    init(_ settings: Settings) throws(DomainError) {
        var keel = KeelConfiguration.production(
            "Restaurants",
            api: settings.api,
            schema: .restaurants
        )
        switch settings.store {
        case nil: break
        case .memory: keel.storage = .memory
        case .file(let file): keel.storage = .file(file)
        case .server(let address): keel.storage = .server(address)
        }

        let storage = try Self.openStorage(keel)
        let now: @Sendable () -> Date = { Date() }
        let network = Self.makeNetwork(keel)
        let telemetry = Telemetry(settings, over: network.transport)
        let isLogged = settings.isLogged
        let service = RestaurantService(
            network.configuration,
            transport: network.transport,
            storage: storage,
            now: now,
            log: { line in
                telemetry.logger.logInfo(line)
                if isLogged { TerminalScreen.log(line) }
            }
        )
        self.telemetry = telemetry
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
            usage: telemetry.usage,
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
