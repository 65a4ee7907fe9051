#if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
internal import KeelCore
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A connection to gpsd, from the greeting to its end.
///
/// Lines arrive on the connection's thread; after its end, nothing is reported.
final class GPSDSession: Sendable {
    private struct State {
        var isGreeted = false
        var isWatching = false
        var hasDevices = true
        /// The receivers with a fix.
        var fixing: Set<String?> = []
        var hasReported = false
        var failure: LocationError?
    }

    private let configuration: GPSDLocationAdapter.Configuration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let counts: GPSDCounts
    private let tryNumber: Int
    private let report: @Sendable (LocationEvent) -> Void
    private let state = Mutex(State())
    private let heard = Atomic<Int>(0)

    init(
        _ configuration: GPSDLocationAdapter.Configuration,
        _ clock: any Clock<Duration>,
        _ now: @escaping @Sendable () -> Date,
        _ counts: GPSDCounts,
        tryNumber: Int,
        _ report: @escaping @Sendable (LocationEvent) -> Void
    ) {
        self.configuration = configuration
        self.clock = clock
        self.now = now
        self.counts = counts
        self.tryNumber = tryNumber
        self.report = report
    }

    /// Whether gpsd has agreed to report.
    private var wasWatching: Bool { state.withLock { $0.isWatching } }

    /// Whether gpsd has reported a position or the lack of one.
    var hasReported: Bool { state.withLock { $0.hasReported } }

    /// Connects and reads until the connection ends or the task is canceled; returns the reason.
    func run() async -> LocationError {
        let connection = GPSDConnection(
            host: configuration.host,
            port: configuration.port,
            tryNumber: tryNumber
        ) { [self] lines, connection in
            take(lines, connection)
        }
        return await withTaskGroup(of: LocationError?.self) { group in
            group.addTask { [self] in
                let end = await connection.run()
                return state.withLock { $0.failure } ?? error(of: end)
            }
            group.addTask { [self] in
                await watchOver(connection)
                return nil
            }
            // The session ends with the connection; the supervising task only stops it.
            while let end = await group.next() {
                if let end {
                    group.cancelAll()
                    return end
                }
            }
            return LocationError(.disconnected, "The connection to gpsd has ended.")
        }
    }

    // MARK: Lines

    private func take(_ lines: LineSplitter.Lines, _ connection: GPSDConnection) {
        heard.wrappingAdd(1, ordering: .relaxed)
        counts.value.withLock { counts in
            counts.lineCount += lines.lines.count + lines.oversizedCount
            counts.oversizedLineCount += lines.oversizedCount
        }
        for line in lines.lines {
            guard let message = GPSDMessage.read(line, now: now()) else {
                counts.value.withLock { $0.malformedLineCount += 1 }
                continue
            }
            take(message, connection)
        }
    }

    private func take(_ message: GPSDMessage, _ connection: GPSDConnection) {
        switch message {
        case .version(let major):
            guard major == 3 else {
                fail(
                    LocationError(.unsupported, "gpsd uses protocol version \(major), not 3."),
                    connection
                )
                return
            }
            let isFirst = state.withLock { state in
                defer { state.isGreeted = true }
                return !state.isGreeted
            }
            // Later versions are answers to a poll.
            guard isFirst else { return }
            counts.value.withLock { $0.connectionCount += 1 }
            connection.send(request)
        case .devices(let paths):
            let isThere = configuration.device.map(paths.contains) ?? !paths.isEmpty
            state.withLock { $0.hasDevices = isThere }
        case .watch(let isEnabled):
            guard isEnabled else { return }
            let hasDevices = state.withLock { state in
                state.isWatching = true
                return state.hasDevices
            }
            report(hasDevices ? .searching : .failure(noReceiver))
        case .noFix(let device):
            guard isWanted(device) else { return }
            let isLost = state.withLock { state in
                state.hasReported = true
                state.fixing.remove(device)
                // A receiver without a fix does not invalidate the fix of another.
                return state.fixing.isEmpty
            }
            if isLost { report(.searching) }
        case .fix(let fix, let device):
            guard isWanted(device) else { return }
            state.withLock { state in
                state.hasReported = true
                state.fixing.insert(device)
            }
            report(.fix(fix))
        case .closed(let device):
            let isLost = state.withLock { state in
                state.fixing.remove(device) != nil && state.fixing.isEmpty
            }
            if isLost { report(.searching) }
        case .error(let text):
            guard !wasWatching else { return }
            fail(LocationError(.unavailable, "gpsd refused to report: \(text)"), connection)
        case .other:
            break
        }
    }

    private func isWanted(_ device: String?) -> Bool {
        configuration.device.map { $0 == device } ?? true
    }

    private var noReceiver: LocationError {
        LocationError(
            .unavailable,
            configuration.device.map { "gpsd has no receiver \($0)." } ?? "gpsd has no receiver."
        )
    }

    private var request: String {
        var request: [String: JSONWord] = ["enable": .yes, "json": .yes]
        if let device = configuration.device { request["device"] = .text(device) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(request)) ?? Data()
        return "?WATCH=\(String(decoding: data, as: UTF8.self));\n"
    }

    private enum JSONWord: Encodable {
        case yes
        case text(String)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .yes: try container.encode(true)
            case .text(let text): try container.encode(text)
            }
        }
    }

    // MARK: Ending

    private func fail(_ error: LocationError, _ connection: GPSDConnection) {
        state.withLock { $0.failure = $0.failure ?? error }
        connection.stop()
    }

    /// Stops the connection if gpsd does not greet, or has fallen silent.
    private func watchOver(_ connection: GPSDConnection) async {
        guard (try? await clock.sleep(for: configuration.connectTimeout)) != nil else { return }
        guard state.withLock({ $0.isGreeted }) else {
            let text = "gpsd sent no greeting within \(configuration.connectTimeout)."
            return fail(LocationError(.disconnected, text), connection)
        }
        var known = heard.load(ordering: .relaxed)
        var silentCount = 0
        while (try? await clock.sleep(for: configuration.stallTimeout)) != nil {
            let count = heard.load(ordering: .relaxed)
            silentCount = count == known ? silentCount + 1 : 0
            known = count
            if silentCount == 3 {
                let text = "gpsd has been silent for \(configuration.stallTimeout * 3)."
                return fail(LocationError(.disconnected, text), connection)
            }
            if silentCount > 0 { connection.send("?VERSION;\n") }
        }
    }

    private func error(of end: GPSDConnection.End) -> LocationError {
        let place = "\(configuration.host):\(configuration.port)"
        switch end {
        case .closed: return LocationError(.disconnected, "gpsd has closed the connection.")
        case .failed(let error):
            return LocationError(.disconnected, "gpsd at \(place) is unreachable.", cause: error)
        case .stopped: return .cancellation
        }
    }
}
#endif
