import Foundation
import KeelCore
import KeelLocation
import Synchronization
import Testing

final class LocationUnderTest: Sendable {
    let source: LocationAdapterSubject.Source
    private let subject: LocationAdapterSubject
    private let monitorings = Mutex<[LocationReports]>([])

    init(subject: LocationAdapterSubject, source: LocationAdapterSubject.Source) {
        self.subject = subject
        self.source = source
    }

    var adapter: any LocationAdapter { source.adapter }
    var limit: Duration { subject.limit }

    /// Starts a monitoring and waits for the first report.
    func monitor(_ request: LocationRequest = LocationRequest()) async throws -> LocationReports {
        let reports = start(request)
        try await reports.wait("a first report") { !$0.isEmpty }
        return reports
    }

    func start(
        _ request: LocationRequest = LocationRequest(),
        _ also: @escaping @Sendable (LocationEvent, LocationReports) -> Void = { _, _ in }
    ) -> LocationReports {
        let reports = LocationReports(limit: subject.limit)
        monitorings.withLock { $0.append(reports) }
        reports.isEnded(by: adapter.monitor(request) { reports.take($0, also) })
        return reports
    }

    /// Gives the receiver a position and waits for its report.
    @discardableResult
    func fix(
        _ fix: LocationFix,
        seenBy reports: LocationReports
    ) async throws -> LocationFix {
        let count = reports.fixes.count
        try await source.feed(.fix(fix))
        try await reports.wait("a fix") { _ in reports.fixes.count > count }
        return reports.fixes[count]
    }

    func waitForNoUsers() async throws {
        try await waitForUsers("The source is still held.") { $0 == 0 }
    }

    func waitForUsers(_ count: Int) async throws {
        try await waitForUsers("There never were \(count) users.") { $0 == count }
    }

    private func waitForUsers(_ failure: String, until isDone: (Int) -> Bool) async throws {
        let clock = ContinuousClock()
        let end = clock.now + subject.limit
        while !isDone(await source.userCount()) {
            guard clock.now < end else { throw LocationCheckFailure(failure) }
            await Task.yield()
        }
    }

    func endAll() {
        for reports in monitorings.withLock({ $0 }) { reports.end() }
    }
}

struct LocationCheckFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

final class LocationReports: Sendable {
    private struct State {
        var events: [LocationEvent] = []
        var end: (@Sendable () -> Void)?
        var isReporting = false
        var overlaps = 0
    }

    private let limit: Duration
    private let state = Mutex(State())
    private let signal = Signal()

    init(limit: Duration) { self.limit = limit }

    func take(
        _ event: LocationEvent,
        _ also: (LocationEvent, LocationReports) -> Void
    ) {
        state.withLock { state in
            if state.isReporting { state.overlaps += 1 }
            state.isReporting = true
            state.events.append(event)
        }
        signal.raise()
        also(event, self)
        state.withLock { $0.isReporting = false }
    }

    func isEnded(by end: @escaping @Sendable () -> Void) { state.withLock { $0.end = end } }

    func end() { state.withLock { $0.end }?() }

    var events: [LocationEvent] { state.withLock { $0.events } }

    var overlapCount: Int { state.withLock { $0.overlaps } }

    var fixes: [LocationFix] {
        events.compactMap { if case .fix(let fix, _) = $0 { fix } else { nil } }
    }

    var failures: [LocationError] {
        events.compactMap { if case .failure(let error) = $0 { error } else { nil } }
    }

    var searchingCount: Int {
        events.count { if case .searching = $0 { true } else { false } }
    }

    func wait(
        _ what: String,
        until isDone: @escaping @Sendable ([LocationEvent]) -> Bool
    ) async throws {
        let clock = ContinuousClock()
        let end = clock.now + limit
        while true {
            let generation = signal.generation
            if isDone(events) { return }
            let left = clock.now.duration(to: end)
            guard left > .zero else {
                throw LocationCheckFailure("There never was \(what), but \(events.count) reports.")
            }
            await signal.wait(since: generation, upTo: left, on: clock)
        }
    }
}

func placeFix(_ latitude: Double, _ longitude: Double, second: Int = 0) throws -> LocationFix {
    try LocationFix(
        LocationCoordinate(latitude: latitude, longitude: longitude),
        time: Date(timeIntervalSince1970: TimeInterval(1_772_366_400 + second))
    )
}

func isSame(_ left: Double?, _ right: Double?, within tolerance: Double = 0.001) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): abs(left - right) <= tolerance
    default: false
    }
}
