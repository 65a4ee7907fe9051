#if PostgreSQL
internal import KeelStorageAdapting

/// The parallel attempts to open one connection, as in RFC 8305 (“Happy Eyeballs”).
///
/// A host whose machine has vanished is silent until the time limit, so the next address is tried beside it after a
/// moment. Meanwhile, addresses that could not be used are tried again, because one may have been promoted.
struct ConnectionRace {
    typealias Parameters = ConnectionSettings.Parameters

    struct Candidate {
        let host: Parameters
        let address: Parameters
        let place: Int
    }

    /// RFC 8305's Connection Attempt Delay, after which the next attempt begins beside one.
    private static let delay = Duration.milliseconds(250)
    /// The time after which an address that has answered is tried again.
    private static let pause = Duration.seconds(1)

    private struct Unresolved {
        let host: Parameters
        /// The place of its first address.
        let place: Int
        var lookup: HostLookups.Lookup?
    }

    private let settings: ConnectionSettings
    /// Returns the addresses of a host; may block.
    private let resolve: @Sendable (Parameters) -> [Parameters]
    private let start = ContinuousClock.now
    private var unresolved: [Unresolved]
    private var untried: [Candidate] = []
    /// The addresses that cannot be used now, and when they are tried again.
    private var answered: [(candidate: Candidate, time: ContinuousClock.Instant)] = []
    private var attempts: [ConnectionAttempt] = []
    private var nextStart = ContinuousClock.now
    /// The end of the last lookup or first attempt at an address, and with it of all attempts.
    private var end: ContinuousClock.Instant
    private var failures: [Int: any Error] = [:]

    init(
        _ settings: ConnectionSettings,
        resolving resolve: @escaping @Sendable (Parameters) -> [Parameters] = {
            ConnectionSettings.addresses(of: $0)
        }
    ) {
        self.settings = settings
        self.resolve = resolve
        end = start + settings.attemptLimit
        // The addresses of a host come before those of the next one, whichever lookup ends first.
        unresolved = settings.silent.ordered(settings.hosts).enumerated().map { position, host in
            Unresolved(host: host, place: position << 16)
        }
    }

    /// The failure that says why a server refuses the connection, cannot be trusted, lacks the store or is too old;
    /// otherwise that of the last address.
    var failure: any Error {
        let ordered = failures.sorted { $0.key < $1.key }.map { $0.value }
        if let lack = ordered.first(where: { $0 is StorageError }) { return lack }
        let reports = ordered.compactMap { $0 as? DatabaseFailure }
        let telling = reports.first(where: \.isRefusal) ?? reports.first(where: \.isOfEncryption)
        return telling ?? ordered.last ?? DatabaseFailure.lost("the URL names no host")
    }

    /// Returns the next attempt whose connection is complete; nil if every lookup and every address has failed.
    ///
    /// - Throws: ``WaitingEnd`` if the task is canceled, ``DatabaseFailure`` if the sockets cannot be watched.
    mutating func winner(for connection: DatabaseConnection) throws -> ConnectionAttempt? {
        while true {
            try connection.heedCaller()
            begin(for: connection)
            guard isWaiting else { return nil }
            let ready = try connection.pipe.wait(
                for: attempts.map(\.watched),
                upTo: nextEvent - .now
            )
            for (attempt, isReady) in zip(attempts, ready) {
                do throws(DatabaseFailure) {
                    guard try attempt.advance(isReady: isReady) else { continue }
                } catch {
                    fail(attempt, error)
                    continue
                }
                attempts.removeAll { $0 === attempt }
                return attempt
            }
        }
    }

    mutating func fail(_ attempt: ConnectionAttempt, _ error: any Error) {
        attempts.removeAll { $0 === attempt }
        if Self.isLate(attempt) {
            settings.silent.insert(attempt.candidate.host, attempt.candidate.address)
        } else {
            settings.silent.remove(attempt.candidate.host, attempt.candidate.address)
        }
        fail(attempt.candidate, error, isOver: ContinuousClock.now >= attempt.deadline)
    }

    func succeed(_ attempt: ConnectionAttempt) {
        for other in attempts where Self.isLate(other) {
            settings.silent.insert(other.candidate.host, other.candidate.address)
        }
        if ContinuousClock.now - start >= Self.delay {
            for host in unresolved { settings.silent.insert(host.host) }
        }
        settings.silent.remove(attempt.candidate.host, attempt.candidate.address)
    }

    private static func isLate(_ attempt: ConnectionAttempt) -> Bool {
        ContinuousClock.now - attempt.start >= delay
    }

    private mutating func fail(_ candidate: Candidate, _ error: any Error, isOver: Bool) {
        // An answer says more than a time limit, so it is the failure to report.
        if !isOver || failures[candidate.place] == nil { failures[candidate.place] = error }
        nextStart = ContinuousClock.now
        guard !isOver, let failure = error as? DatabaseFailure, !failure.isRefusal,
            !failure.isOfEncryption
        else { return }
        answered.append((candidate, ContinuousClock.now + Self.pause))
    }

    // MARK: Beginning

    private var isWaiting: Bool { !attempts.isEmpty || !unresolved.isEmpty }

    private var nextEvent: ContinuousClock.Instant {
        var events = attempts.map(\.deadline)
        if !unresolved.isEmpty { events.append(start + settings.attemptLimit) }
        if let first = untried.first {
            events.append(isHeld(first) ? start + Self.delay : nextStart)
        } else if end > .now, let first = answered.first {
            events.append(max(first.time, nextStart))
        }
        return events.min() ?? .now
    }

    /// Whether an address waits a moment for the lookup of a host before it.
    private func isHeld(_ candidate: Candidate) -> Bool {
        unresolved.contains { $0.place < candidate.place }
            && ContinuousClock.now - start < Self.delay
    }

    /// Begins the attempts that are due; the next one at once if none is in progress.
    private mutating func begin(for connection: DatabaseConnection) {
        lookUp(waking: connection.pipe)
        while attempts.isEmpty || nextStart <= .now, let (candidate, limit) = next() {
            nextStart = ContinuousClock.now + Self.delay
            do throws(DatabaseFailure) {
                let attempt = try ConnectionAttempt(candidate, within: limit, receiver: connection)
                attempts.append(attempt)
            } catch {
                settings.silent.remove(candidate.host, candidate.address)
                fail(candidate, error, isOver: false)
            }
        }
    }

    private mutating func lookUp(waking pipe: WakePipe) {
        var waiting: [Unresolved] = []
        for var host in unresolved {
            let lookup = host.lookup ?? settings.lookups.begin(host.host, waking: pipe, resolve)
            host.lookup = lookup
            if let addresses = lookup.addresses {
                add(addresses, of: host)
            } else if ContinuousClock.now - start < settings.attemptLimit {
                waiting.append(host)
            } else {
                lose(
                    host,
                    "the lookup of the host’s name took longer than \(settings.attemptLimit)"
                )
            }
        }
        unresolved = waiting
    }

    private mutating func add(_ addresses: [Parameters], of host: Unresolved) {
        if addresses.isEmpty { lose(host, "the host’s name has no address") }
        let ordered = settings.silent.ordered(addresses).enumerated().map { position, address in
            Candidate(host: host.host, address: address, place: host.place + position)
        }
        untried = (untried + ordered).sorted { $0.place < $1.place }
    }

    private mutating func lose(_ host: Unresolved, _ reason: String) {
        settings.silent.insert(host.host)
        failures[host.place] = DatabaseFailure.ofConnecting(reason)
    }

    private mutating func next() -> (Candidate, Duration)? {
        if let first = untried.first, !isHeld(first) {
            let limit = settings.attemptLimit
            end = max(end, ContinuousClock.now + limit)
            return (untried.removeFirst(), limit)
        }
        guard isWaiting, let first = answered.first, first.time <= .now, end > .now else {
            return nil
        }
        return (answered.removeFirst().candidate, end - .now)
    }
}
#endif
