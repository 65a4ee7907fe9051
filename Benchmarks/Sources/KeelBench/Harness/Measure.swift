/// What a ratio must be.
enum Target: Sendable {
    /// Keel's figure divided by the peer's is at most this.
    case atMost(Double)
    /// The peer's figure divided by Keel's is at least this.
    case atLeast(Double)
    /// Keel's figure divided by the peer's is at least this: where more is better.
    case partAtLeast(Double)
    /// Keel's own figure is at most this, in the unit of the measure, whatever the peer's is.
    case keelAtMost(Double)
    /// The row is printed for information: the ratio is how many times faster Keel is.
    case info

    var text: String? {
        switch self {
        case .atMost(let limit): "<= \(limit)"
        case .atLeast(let limit), .partAtLeast(let limit): ">= \(limit)"
        case .keelAtMost(let limit): "\(limit) abs."
        case .info: nil
        }
    }

    func ratio(keel: Double, peer: Double) -> Double {
        switch self {
        case .atMost, .partAtLeast, .keelAtMost: keel / peer
        case .atLeast, .info: peer / keel
        }
    }

    /// Whether the target is met; nil where there is none, or where a side did not run.
    func holds(keel: Double, peer: Double) -> Bool? {
        let ratio = ratio(keel: keel, peer: peer)
        return switch self {
        case .atMost(let limit): ratio.isNaN ? nil : ratio <= limit
        case .atLeast(let limit), .partAtLeast(let limit): ratio.isNaN ? nil : ratio >= limit
        case .keelAtMost(let limit): keel.isNaN ? nil : keel <= limit
        case .info: nil
        }
    }
}

/// Why a measure cannot run on this machine, in words; thrown by one of its sides.
struct NotRun: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// One comparison: the same work done by Keel and by a peer.
///
/// Each side returns its figure in the measure's unit. The rounds alternate (A/B/A/B), so that
/// whatever else the machine does at the time falls on both sides.
struct Measure: Sendable {
    typealias Side = @concurrent @Sendable () async throws -> Double

    let name: String
    let unit: String
    let target: Target
    /// The most rounds that are worth their time, where the figures hardly vary.
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
            // Who begins changes too: what one side leaves behind, such as a full disk cache, would
            // always fall on the other.
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
    /// Half of the range between the quartiles of each side, relative to its median: how noisy it was.
    let noise: Double
    /// Why the measure did not run; nil if it did.
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

    /// The row of a measure that could not run.
    init(_ measure: Measure, absence: NotRun) {
        self.init(measure, keel: [], peer: [])
        self.absence = absence.reason
    }
}

extension [Double] {
    var median: Double { quantile(0.5) }

    var spread: Double { (quantile(0.75) - quantile(0.25)) / 2 / Swift.max(median, .ulpOfOne) }

    /// The figure that so large a part of all figures is not above.
    func quantile(_ part: Double) -> Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        let position = part * Double(count - 1)
        let (low, high) = (Int(position.rounded(.down)), Int(position.rounded(.up)))
        return sorted[low] + (sorted[high] - sorted[low]) * (position - Double(low))
    }
}
