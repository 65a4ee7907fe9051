import Foundation
import KeelCore
import KeelLocation
import Synchronization

/// Returns a fix at a place, a number of seconds after a time.
func fix(
    _ latitude: Double,
    _ longitude: Double,
    accuracy: Double? = nil,
    altitude: Double? = nil,
    second: Int = 0
) throws -> LocationFix {
    try LocationFix(
        LocationCoordinate(latitude: latitude, longitude: longitude),
        horizontalAccuracy: accuracy,
        altitude: altitude,
        time: Date(timeIntervalSince1970: TimeInterval(1_772_366_400 + second))
    )
}

/// The events of a monitor.
final class Reports: Sendable {
    private let stored = Mutex<[LocationEvent]>([])
    private let signal = Signal()

    var events: [LocationEvent] { stored.withLock { $0 } }

    /// The events as short words, for comparison.
    var words: [String] {
        events.map { event in
            switch event {
            case .searching: "searching"
            case .fix: "fix"
            case .failure(let error): error.code.name
            }
        }
    }

    var fixes: [LocationFix] {
        events.compactMap { if case .fix(let fix, _) = $0 { fix } else { nil } }
    }

    var failures: [LocationError] {
        events.compactMap { if case .failure(let error) = $0 { error } else { nil } }
    }

    @Sendable func take(_ event: LocationEvent) {
        stored.withLock { $0.append(event) }
        signal.raise()
    }

    /// Waits until the reports satisfy a condition, or the test's time is over.
    func wait(until isDone: ([String]) -> Bool) async {
        while !Task.isCancelled {
            let generation = signal.generation
            if isDone(words) { return }
            await signal.wait(since: generation)
        }
    }
}
