internal import KeelCore
internal import KeelHTTP
internal import KeelHTTPAuthentication
internal import KeelRepositories
public import KeelStorage
public import KeelSync
public import RestaurantsDomain
internal import Synchronization

/// The outbox of users' choices.
///
/// Each user has a separate outbox: a choice is never sent for another user. It is sent while its user is signed in,
/// and waits otherwise.
public final class ChoiceOutbox: Sendable {
    let storage: StorageClient
    private let service: RestaurantService
    private let configuration: Outbox.Configuration
    private let outboxes = Mutex<[UserID: Outbox]>([:])

    /// Settings for an interactive app that may be killed at any time.
    public static var usual: Outbox.Configuration {
        var configuration = Outbox.Configuration()
        configuration.sendTimeout = .seconds(4)
        // All processes on one file share a clock.
        configuration.leaseMargin = .seconds(1)
        configuration.pollInterval = .seconds(1)
        // A long outage of the service must not discard a choice.
        configuration.retry = RetryPolicy(
            attempts: 1000,
            baseDelay: .milliseconds(500),
            maximumDelay: .seconds(3)
        )
        return configuration
    }

    /// Creates an outbox in the store of the choices.
    public init(
        _ service: RestaurantService,
        storage: StorageClient,
        configuration: Outbox.Configuration = ChoiceOutbox.usual
    ) {
        self.service = service
        self.storage = storage
        self.configuration = configuration
    }

    // MARK: Telling the service

    /// Sends pending choices now; those that are not sent in time wait.
    public func send(of user: UserID, within limit: Duration) async {
        let outbox = outbox(of: user)
        guard (try? await isSignedIn(user)) == true else { return }
        await withTaskGroup { group in
            group.addTask { _ = try? await outbox.flush(sending: self.sender) }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Sends pending and future choices until the task is canceled.
    ///
    /// - Throws: ``DomainError`` of the kind `storageFailed`.
    public func keepSending(of user: UserID) async throws(DomainError) {
        guard try await isSignedIn(user) else { return }
        try await DomainError.outbox { () async throws(OutboxError) in
            try await outbox(of: user).run(sending: sender)
        }
    }

    private var sender: HTTPOutboxSender {
        var options = HTTPCallOptions()
        options.authentication = .required
        // Only the outbox retries: it continues after this process has ended.
        options.retry = .never
        return HTTPOutboxSender(service.api, options: options)
    }

    // MARK: Parts

    func outbox(of user: UserID) -> Outbox {
        outboxes.withLock { outboxes in
            if let known = outboxes[user] { return known }
            let outbox = Outbox(storage, name: user.name, configuration: configuration)
            outboxes[user] = outbox
            return outbox
        }
    }

    func isSignedIn(_ user: UserID) async throws(DomainError) -> Bool {
        try await DomainError.session { () async throws(AuthenticationError) in
            _ = try await service.session.restore()
        }
        return service.session.current?.additionalFields["user"] == user.name
    }
}

extension ChoiceOutbox: PendingChangeRepository {
    public func changes(of user: UserID) async throws(DomainError) -> [PendingChange] {
        try await DomainError.outbox { () async throws(OutboxError) in
            try await outbox(of: user).pending() + outbox(of: user).rejected()
        }.compactMap(PendingChange.init)
    }

    public func retry(_ change: PendingChange, of user: UserID) async throws(DomainError) {
        try await DomainError.outbox { () async throws(OutboxError) in
            try await outbox(of: user).retry(change.id)
        }
    }

    public func discard(_ change: PendingChange, of user: UserID) async throws(DomainError) {
        try await DomainError.outbox { () async throws(OutboxError) in
            try await outbox(of: user).discard(change.id)
        }
    }
}

extension PendingChange {
    /// Decodes an entry; nil for a kind that only a newer version knows.
    fileprivate init?(_ entry: OutboxEntry) {
        let words = entry.write.key.split(separator: "/").map(String.init)
        guard words.count == 2, let restaurant = try? RestaurantID(words[1]) else { return nil }
        let subject: Subject
        switch words[0] {
        case StoredFavourite.kind: subject = .favourite
        case StoredRating.kind: subject = .rating
        default: return nil
        }
        let state: State =
            switch entry.state {
            case .pending: .waiting(entry.lastFailure)
            case .sending: .sending
            case .rejected: .refused(entry.lastFailure ?? "")
            }
        self.init(
            id: entry.id,
            subject: subject,
            restaurant: restaurant,
            since: entry.enqueuedAt.date,
            state: state
        )
    }
}

extension DomainError {
    /// Runs an operation of an outbox.
    fileprivate static func outbox<Value>(
        _ operation: () async throws(OutboxError) -> Value
    ) async throws(DomainError) -> Value {
        do throws(OutboxError) {
            return try await operation()
        } catch {
            throw DomainError(RepositoryError(DataSourceError(error)))
        }
    }
}
