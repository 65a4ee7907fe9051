#if PostgreSQL
internal import CLibPQ
internal import Foundation

/// An attempt to connect to one address, which ends with its last reference unless its connection is taken.
final class ConnectionAttempt {
    let candidate: ConnectionRace.Candidate
    let start = ContinuousClock.now
    let deadline: ContinuousClock.Instant
    private let limit: Duration
    private var handle: OpaquePointer?
    private var state = PGRES_POLLING_WRITING

    /// The receiver gets the server's notices, and must live as long as the attempt's connection.
    ///
    /// - Throws: ``DatabaseFailure`` if the attempt fails at once.
    init(
        _ candidate: ConnectionRace.Candidate,
        within limit: Duration,
        receiver: DatabaseConnection
    ) throws(DatabaseFailure) {
        self.candidate = candidate
        self.limit = limit
        deadline = start + limit
        let ordered = candidate.address.sorted { $0.key < $1.key }
        let names = ordered.map { strdup($0.key) }
        let values = ordered.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        let keywords: [UnsafePointer<CChar>?] = names.map { UnsafePointer($0) } + [nil]
        let arguments: [UnsafePointer<CChar>?] = values.map { UnsafePointer($0) } + [nil]
        handle = PQconnectStartParams(keywords, arguments, 0)
        guard let handle else {
            throw DatabaseFailure(state: "53200", "there is not enough memory")
        }
        // Failures to connect have the server's code only in a verbose message.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        PQsetNoticeReceiver(
            handle,
            { context, result in
                guard let context, let result else { return }
                Unmanaged<DatabaseConnection>.fromOpaque(context).takeUnretainedValue()
                    .note(result)
            },
            Unmanaged.passUnretained(receiver).toOpaque()
        )
        _ = try advance(isReady: false)
    }

    deinit { if let handle { PQfinish(handle) } }

    var watched: pollfd {
        let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
        return pollfd(fd: handle.map { PQsocket($0) } ?? -1, events: Int16(events), revents: 0)
    }

    /// Goes on as far as the server has answered; returns whether the connection is complete.
    ///
    /// - Throws: ``DatabaseFailure``; the attempt has then failed.
    func advance(isReady: Bool) throws(DatabaseFailure) -> Bool {
        if isReady { state = PQconnectPoll(handle) }
        if state == PGRES_POLLING_OK { return true }
        guard PQstatus(handle) != CONNECTION_BAD, state != PGRES_POLLING_FAILED else {
            throw DatabaseFailure.ofConnecting(
                PQerrorMessage(handle).map { String(cString: $0) } ?? "",
                needsPassword: PQconnectionNeedsPassword(handle) == 1
            )
        }
        guard ContinuousClock.now < deadline else {
            throw DatabaseFailure(
                state: "08001",
                "the server did not answer within \(limit)",
                isConnectionLost: true
            )
        }
        return false
    }

    /// Returns the connection, which the caller must close.
    func takeHandle() -> OpaquePointer? {
        defer { handle = nil }
        return handle
    }
}
#endif
