import Foundation
import KeelAnalytics

/// One round of events in a separate folder.
struct EventRound {
    let count: Int
    private let folder: WorkFolder

    init(_ options: Options) throws {
        count = options.scaled(10_000)
        folder = try WorkFolder("analytics", in: options.folder)
    }

    /// The number of events before the clock starts.
    private var warmUp: Int { count / 10 }

    // MARK: Keel

    /// Returns the average microseconds of a call of `trackEvent`.
    func keel() throws -> Double {
        let service = try service()
        for number in 0..<warmUp { try track(number, service) }
        return try Timing.perCall(count) { try track(warmUp + $0, service) }
    }

    /// Returns the microseconds of each call of `trackEvent`, including reading the clock.
    func keelCalls() throws -> [Double] {
        let service = try service()
        for number in 0..<warmUp { try track(number, service) }
        return try calls { try track(warmUp + $0, service) }
    }

    private func track(_ number: Int, _ service: AnalyticsService) throws {
        let parameters = TrackedOrder.parameters(number)
        guard service.trackEvent(TrackedOrder.name, parameters: parameters) != nil else {
            throw Flaw("an event was refused")
        }
    }

    /// Returns a service with default settings and a destination that receives nothing.
    ///
    /// The deliveries are not running and the user has not decided yet, so events wait.
    private func service() throws -> AnalyticsService {
        var configuration = AnalyticsConfiguration()
        configuration.add(HandlerDestination("nowhere") { _ in })
        return try AnalyticsService(at: folder.url, configuration: configuration)
    }

    // MARK: Peers

    /// Returns the microseconds that SQLite takes for a row with the event's bytes, each in a separate transaction.
    func table() throws -> Double {
        let events = try PeerEventTable(folder.path("events.sqlite"))
        let bytes = try TrackedOrder.json(0)
        for _ in 0..<warmUp { try events.append(bytes) }
        return try Timing.perCall(count) { _ in try events.append(bytes) }
    }

    /// Returns the microseconds for a file with the event's bytes.
    func files(renamed: Bool) throws -> Double {
        let events = PeerEventFiles(
            folder: folder.url.path(percentEncoded: false),
            renames: renamed
        )
        let bytes = try TrackedOrder.json(0)
        for number in 0..<warmUp { try events.append(bytes, number) }
        return try Timing.perCall(count) { try events.append(bytes, warmUp + $0) }
    }

    /// Returns the microseconds of each call that appends the bytes of an event to a file.
    func bareWrites() throws -> [Double] {
        let file = try AppendingFile(folder.path("events.jsonl"))
        let bytes = try TrackedOrder.json(0)
        return try bytes.withUnsafeBytes { bytes in
            try calls { _ in
                guard file.append(bytes) else { throw Flaw("an event was not written") }
            }
        }
    }

    private func calls(_ body: (Int) throws -> Void) rethrows -> [Double] {
        try (0..<count).map { number in try Timing.perCall(1) { _ in try body(number) } }
    }
}
