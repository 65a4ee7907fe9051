#if PostgreSQL
/// The attempts to open one connection, side by side, as RFC 8305 (“Happy Eyeballs”) has them.
///
/// A host whose machine has vanished refuses nothing: it is silent until the time limit. So the next address is tried
/// beside it after a moment, and those that have answered are tried again as long as others are silent: meanwhile one
/// of them may be promoted.
struct ConnectionRace {
    typealias Parameters = ConnectionSettings.Parameters

    /// An address of a host.
    struct Candidate {
        let host: Parameters
        let address: Parameters
        /// The place in the order in which the addresses are tried.
        let place: Int
    }

    /// How long an attempt is alone before the next one begins beside it: RFC 8305's Connection Attempt Delay.
    private static let delay = Duration.milliseconds(250)
    /// How long an address that has answered is left alone before it is tried again.
    private static let pause = Duration.seconds(1)

    private let settings: ConnectionSettings
    /// Returns the addresses of a host; blocks for as long as the lookup of its name takes.
    private let resolve: (Parameters) -> [Parameters]
    /// The hosts whose addresses are not known yet.
    private var hosts: ArraySlice<Parameters>
    /// The addresses that have not been tried.
    private var untried: [Candidate] = []
    /// The addresses that cannot be used now, and when they are tried again.
    private var answered: [(candidate: Candidate, time: ContinuousClock.Instant)] = []
    private var attempts: [ConnectionAttempt] = []
    /// When the next address is tried.
    private var nextStart = ContinuousClock.now
    /// When the last of the first attempts ends, and all others with it.
    private var end = ContinuousClock.now
    private var placeCount = 0
    /// The last failure of each address, by its place.
    private var failures: [Int: any Error] = [:]

    init(
        _ settings: ConnectionSettings,
        resolving resolve: @escaping (Parameters) -> [Parameters] = {
            ConnectionSettings.addresses(of: $0)
        }
    ) {
        self.settings = settings
        self.resolve = resolve
        hosts = settings.silent.ordered(settings.hosts)[...]
    }

    /// The failure that says why a server refuses the connection or cannot be trusted; otherwise that of the last
    /// address.
    var failure: any Error {
        let ordered = failures.sorted { $0.key < $1.key }.map { $0.value }
        let reports = ordered.compactMap { $0 as? DatabaseFailure }
        let telling = reports.first(where: \.isRefusal) ?? reports.first(where: \.isOfEncryption)
        return telling ?? ordered.last ?? DatabaseFailure.lost("the URL names no host")
    }

    /// Returns the next attempt whose connection is complete; nil if every address has failed.
    ///
    /// The others go on until the race ends.
    ///
    /// - Throws: ``WaitingEnd`` if the task is canceled.
    mutating func winner(for connection: DatabaseConnection) throws -> ConnectionAttempt? {
        while true {
            try connection.heedCaller()
            begin(for: connection)
            guard !attempts.isEmpty else { return nil }
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

    /// Records why the connection of an attempt cannot be used.
    mutating func fail(_ attempt: ConnectionAttempt, _ error: any Error) {
        attempts.removeAll { $0 === attempt }
        if Self.isLate(attempt) {
            settings.silent.insert(attempt.candidate.host, attempt.candidate.address)
        } else {
            settings.silent.remove(attempt.candidate.host, attempt.candidate.address)
        }
        fail(attempt.candidate, error, isOver: ContinuousClock.now >= attempt.deadline)
    }

    /// Records that the connection of an attempt is used.
    func succeed(_ attempt: ConnectionAttempt) {
        for other in attempts where Self.isLate(other) {
            settings.silent.insert(other.candidate.host, other.candidate.address)
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

    /// The time at which the race continues even if no server answers.
    private var nextEvent: ContinuousClock.Instant {
        let hasUntried = !untried.isEmpty || !hosts.isEmpty
        let start: ContinuousClock.Instant? =
            if hasUntried {
                nextStart
            } else if end > .now {
                answered.first.map { max($0.time, nextStart) }
            } else {
                nil
            }
        let ends = attempts.map(\.deadline) + (start.map { [$0] } ?? [])
        return ends.min() ?? .now
    }

    /// Begins the attempts that are due; the next one at once if none is under way.
    private mutating func begin(for connection: DatabaseConnection) {
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

    /// Returns the address to try now, and how long; nil if there is none.
    private mutating func next() -> (Candidate, Duration)? {
        while untried.isEmpty, let host = hosts.popFirst() {
            let start = ContinuousClock.now
            let addresses = settings.silent.ordered(resolve(host))
            // Answers that arrived during the lookup have not been read yet.
            for attempt in attempts { attempt.extend(by: ContinuousClock.now - start) }
            if addresses.isEmpty {
                settings.silent.insert(host)
                failures[placeCount] = DatabaseFailure.ofConnecting(
                    "the host’s name has no address"
                )
                placeCount += 1
            }
            for address in addresses {
                untried.append(Candidate(host: host, address: address, place: placeCount))
                placeCount += 1
            }
        }
        guard untried.isEmpty else {
            let limit = settings.attemptLimit
            end = max(end, ContinuousClock.now + limit)
            return (untried.removeFirst(), limit)
        }
        guard !attempts.isEmpty, let first = answered.first, first.time <= .now, end > .now else {
            return nil
        }
        return (answered.removeFirst().candidate, end - .now)
    }
}
#endif
