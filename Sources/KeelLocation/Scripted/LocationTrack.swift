#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A way that somebody has written: what a source reports, and after what pauses.
public struct LocationTrack: Sendable {
    /// One report of a track.
    public struct Step: Sendable {
        /// The pause after the step before.
        public var pause: Duration
        /// What is reported.
        public var event: LocationEvent

        /// Creates a step.
        ///
        /// - Parameters:
        ///   - pause: The pause after the step before.
        ///   - event: What is reported.
        public init(after pause: Duration = .zero, _ event: LocationEvent) {
            self.pause = pause
            self.event = event
        }
    }

    /// The reports, in order.
    public var steps: [Step]
    /// Whether the track begins again after its end; one without any pause does not.
    public var repeats: Bool

    /// Creates a track.
    ///
    /// - Parameters:
    ///   - steps: The reports, in order; none is a source that searches without end.
    ///   - repeats: Whether the track begins again after its end.
    public init(_ steps: [Step] = [], repeats: Bool = false) {
        self.steps = steps
        self.repeats = repeats
    }

    /// A track of fixes with the same pause between them; the first comes at once.
    ///
    /// - Parameters:
    ///   - fixes: The fixes, in order.
    ///   - pause: The pause between two of them.
    ///   - repeats: Whether the track begins again after its end.
    /// - Returns: The track.
    public static func fixes(
        _ fixes: [LocationFix],
        every pause: Duration = .seconds(1),
        repeats: Bool = false
    ) -> LocationTrack {
        let steps = fixes.enumerated().map { index, fix in
            Step(after: index == 0 && !repeats ? .zero : pause, .fix(fix))
        }
        return LocationTrack(steps, repeats: repeats)
    }

    /// A source that stands still at the observatory of Greenwich, for previews.
    public static let preview: LocationTrack = {
        // Numbers that are known to be a place.
        let place = try? LocationCoordinate(latitude: 51.477811, longitude: -0.001475)
        let fix = place.flatMap { place in
            try? LocationFix(
                place,
                horizontalAccuracy: 5,
                altitude: 47,
                speed: 0,
                time: Date(timeIntervalSince1970: 1_772_366_400)
            )
        }
        let step = fix.map { Step(after: .seconds(5), .fix($0)) }
        let first = fix.map { Step(.fix($0)) }
        return LocationTrack([first, step].compactMap { $0 }, repeats: true)
    }()

    /// Whether it can go round without taking the processor for itself.
    var isEndless: Bool { repeats && steps.contains { $0.pause > .zero } }
}
