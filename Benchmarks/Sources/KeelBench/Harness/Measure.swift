/// What a ratio must be.
enum Target: Sendable {
    /// Keel's figure divided by the peer's is at most this.
    case atMost(Double)
    /// The peer's figure divided by Keel's is at least this.
    case atLeast(Double)
    /// The row is printed for information: the ratio is how many times faster Keel is.
    case info

    var text: String? {
        switch self {
        case .atMost(let limit): "<= \(limit)"
        case .atLeast(let limit): ">= \(limit)"
        case .info: nil
        }
    }

    func ratio(keel: Double, peer: Double) -> Double {
        if case .atMost = self { keel / peer } else { peer / keel }
    }

    func holds(_ ratio: Double) -> Bool? {
        switch self {
        case .atMost(let limit): ratio <= limit
        case .atLeast(let limit): ratio >= limit
        case .info: nil
        }
    }
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
        for round in 0..<options.rounds {
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
        return MeasureResult(name: name, unit: unit, target: target, keel: ours, peer: theirs)
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

    init(name: String, unit: String, target: Target, keel: [Double], peer: [Double]) {
        self.name = name
        self.unit = unit
        self.target = target
        self.keel = keel.median
        self.peer = peer.median
        ratio = target.ratio(keel: self.keel, peer: self.peer)
        holds = target.holds(ratio)
        noise = max(keel.spread, peer.spread)
    }
}

extension [Double] {
    var median: Double { quantile(0.5) }

    var spread: Double { (quantile(0.75) - quantile(0.25)) / 2 / Swift.max(median, .ulpOfOne) }

    private func quantile(_ part: Double) -> Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        let position = part * Double(count - 1)
        let (low, high) = (Int(position.rounded(.down)), Int(position.rounded(.up)))
        return sorted[low] + (sorted[high] - sorted[low]) * (position - Double(low))
    }
}
