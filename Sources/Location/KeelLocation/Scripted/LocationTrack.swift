#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A scripted track: events of a source, with delays.
public struct LocationTrack: Sendable {
    /// An event of a track.
    public struct Step: Sendable {
        /// The delay after the previous step.
        public var pause: Duration
        /// The reported event.
        public var event: LocationEvent

        /// Creates a step.
        public init(after pause: Duration = .zero, _ event: LocationEvent) {
            self.pause = pause
            self.event = event
        }
    }

    /// The steps, in order; an empty track searches forever.
    public var steps: [Step]
    /// Whether the track repeats; ignored for a track without delays.
    public var repeats: Bool

    /// Creates a track.
    public init(_ steps: [Step] = [], repeats: Bool = false) {
        self.steps = steps
        self.repeats = repeats
    }

    /// Returns a track of fixes at a constant interval, starting immediately or, if it repeats, after an interval.
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

    /// A stationary source at the observatory of Greenwich, for previews.
    public static let preview: LocationTrack = {
        // These numbers are valid.
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

    /// Whether the track can repeat without occupying the processor.
    var isEndless: Bool { repeats && steps.contains { $0.pause > .zero } }
}
