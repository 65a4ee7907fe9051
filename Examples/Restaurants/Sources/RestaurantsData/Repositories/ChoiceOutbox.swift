internal import KeelCore
internal import KeelHTTP
internal import KeelRepositories
public import KeelStorage
public import KeelSync
public import RestaurantsDomain
internal import Synchronization

/// What users have chosen and the service has not been told yet.
///
/// Each user has an outbox: what one has chosen is never sent in the name of another. It is sent
/// while its user is signed in, and waits otherwise.
public final class ChoiceOutbox: Sendable {
    let storage: StorageClient
    private let service: RestaurantService
    private let configuration: Outbox.Configuration
    private let outboxes = Mutex<[UserID: Outbox]>([:])

    /// The settings of an app that somebody waits for and that may be killed at any time.
    public static var usual: Outbox.Configuration {
        var configuration = Outbox.Configuration()
        configuration.sendTimeout = .seconds(4)
        // All processes on one file have the same clock.
        configuration.leaseMargin = .seconds(1)
        configuration.pollInterval = .seconds(1)
        // A service that is away for long is no reason to give a choice up.
        configuration.retry = RetryPolicy(
            attempts: 1000,
            baseDelay: .milliseconds(500),
            maximumDelay: .seconds(3)
        )
        return configuration
    }

    /// Creates an outbox in the store that the choices are kept in.
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

    /// Tells the service what it can be told now; what is not told in time waits.
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

    /// Tells the service what there is and what will be, until the task is cancelled.
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
        // Repeating is the outbox's: it goes on after this process has ended.
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
    /// Reads an entry; nil for one of a kind that only a newer version knows.
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
