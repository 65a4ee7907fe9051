/// The target for a ratio.
enum Target: Sendable {
    /// Keel's figure divided by the peer's is at most this.
    case atMost(Double)
    /// The peer's figure divided by Keel's is at least this.
    case atLeast(Double)
    /// Keel's figure divided by the peer's is at least this, if higher is better.
    case partAtLeast(Double)
    /// Keel's own figure is at most this, in the measure's unit, independent of the peer's.
    case keelAtMost(Double)
    /// The row is informational: its ratio is how many times faster Keel is.
    case info
    /// The row is informational: its ratio is the first figure divided by the second, such as the growth of a cost.
    case growth

    var text: String? {
        switch self {
        case .atMost(let limit): "<= \(limit)"
        case .atLeast(let limit), .partAtLeast(let limit): ">= \(limit)"
        case .keelAtMost(let limit): "\(limit) abs."
        case .info, .growth: nil
        }
    }

    func ratio(keel: Double, peer: Double) -> Double {
        switch self {
        case .atMost, .partAtLeast, .keelAtMost, .growth: keel / peer
        case .atLeast, .info: peer / keel
        }
    }

    /// Whether the target is met; nil without a target, or if a side did not run.
    func holds(keel: Double, peer: Double) -> Bool? {
        let ratio = ratio(keel: keel, peer: peer)
        return switch self {
        case .atMost(let limit): ratio.isNaN ? nil : ratio <= limit
        case .atLeast(let limit), .partAtLeast(let limit): ratio.isNaN ? nil : ratio >= limit
        case .keelAtMost(let limit): keel.isNaN ? nil : keel <= limit
        case .info, .growth: nil
        }
    }
}

/// The reason why a measure cannot run on this machine, thrown by one of its sides.
struct NotRun: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// A comparison of the same work done by Keel and by a peer.
///
/// Each side returns its figure in the measure's unit. The rounds alternate (A/B/A/B), so that other activity of the
/// machine affects both sides.
struct Measure: Sendable {
    typealias Side = @concurrent @Sendable () async throws -> Double

    let name: String
    var unit = "µs"
    let target: Target
    /// The maximum number of rounds for figures that hardly vary.
    var maximumRounds = Int.max
    let keel: Side
    let peer: Side

    func run(_ options: Options) async throws -> MeasureResult {
        let nothing: Side = { .nan }
        let keel = options.side == "peer" ? nothing : keel
        let peer = options.side == "keel" ? nothing : peer
        var ours: [Double] = []
        var theirs: [Double] = []
        if !options.isQuick {
            _ = try await keel()
            _ = try await peer()
        }
        for round in 0..<min(options.rounds, maximumRounds) {
            // The first side alternates as well: otherwise what one side leaves behind, such as a full disk cache,
            // would always affect the other.
            if round.isMultiple(of: 2) {
                ours.append(try await keel())
                theirs.append(try await peer())
            } else {
                theirs.append(try await peer())
                ours.append(try await keel())
            }
        }
        return MeasureResult(self, keel: ours, peer: theirs)
    }
}

/// The figures of a measure.
struct MeasureResult: Sendable {
    let name: String
    let unit: String
    let target: Target
    let keel: Double
    let peer: Double
    let ratio: Double
    let holds: Bool?
    /// The noise: half of the interquartile range of each side, relative to its median.
    let noise: Double
    /// The reason why the measure did not run; nil if it did.
    private(set) var absence: String?

    init(_ measure: Measure, keel: [Double], peer: [Double]) {
        name = measure.name
        unit = measure.unit
        target = measure.target
        self.keel = keel.median
        self.peer = peer.median
        ratio = target.ratio(keel: self.keel, peer: self.peer)
        holds = target.holds(keel: self.keel, peer: self.peer)
        noise = max(keel.spread, peer.spread)
    }

    /// Creates the row of a measure that could not run.
    init(_ measure: Measure, absence: NotRun) {
        self.init(measure, keel: [], peer: [])
        self.absence = absence.reason
    }
}

extension [Double] {
    var median: Double { quantile(0.5) }

    var spread: Double { (quantile(0.75) - quantile(0.25)) / 2 / Swift.max(median, .ulpOfOne) }

    /// Returns the figure at a quantile.
    func quantile(_ part: Double) -> Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        let position = part * Double(count - 1)
        let (low, high) = (Int(position.rounded(.down)), Int(position.rounded(.up)))
        return sorted[low] + (sorted[high] - sorted[low]) * (position - Double(low))
    }
}
