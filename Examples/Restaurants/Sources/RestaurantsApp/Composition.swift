import Foundation
import Keel
import KeelDependencies
import KeelLogging
import RestaurantsData
import RestaurantsDomain

/// The composition root: the only place that knows all layers and connects them.
struct Composition {
    let useCases: UseCases
    /// The outbox of the users' choices.
    let outbox: ChoiceOutbox
    /// The log and the usage data.
    let telemetry: Telemetry
    private let accounts: any AccountRepository

    init(_ settings: Settings) {
        @Dependency(\.storage) var storage
        @Dependency(\.secrets) var secrets
        @Dependency(\.network) var network
        @Dependency(\.location) var location

        let now: @Sendable () -> Date = { Date() }
        let telemetry = Telemetry(settings, over: network.transport)
        let isLogged = settings.isLogged
        let service = RestaurantService(
            network.configuration,
            transport: network.transport,
            secrets: secrets,
            now: now,
            log: { line in
                telemetry.logger.logInfo(line)
                if isLogged { TerminalScreen.log(line) }
            }
        )
        let log = RepositoryLog(telemetry.logger)
        let restaurants = OfflineFirstRestaurantRepository(
            api: service.api,
            storage: storage,
            now: now
        )
        self.telemetry = telemetry
        accounts = LoggedAccountRepository(SessionAccountRepository(service), log)
        outbox = ChoiceOutbox(service, storage: storage)
        useCases = UseCases(
            restaurants: LoggedRestaurantRepository(restaurants, log),
            favourites: LoggedFavouriteRepository(StoredFavouriteRepository(outbox), log),
            ratings: LoggedRatingRepository(StoredRatingRepository(outbox), log),
            changes: outbox,
            accounts: accounts,
            whereabouts: DeviceWhereabouts(location),
            usage: telemetry.usage,
            now: now
        )
    }

    /// The user who is signed in on this device.
    func signedInUser() async throws(DomainError) -> User? { try await accounts.signedInUser() }
}
