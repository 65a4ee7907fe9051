/// A pattern of requests for keys.
indirect enum Pattern {
    /// A few keys often, many rarely: the key of rank r has a weight of r to the power of `-skew`.
    case zipf(skew: Double, keys: Int)
    /// Like `zipf`, but the popular keys change: the ranks shift by one after `every` requests.
    case drifting(skew: Double, keys: Int, every: Int)
    /// The same keys repeatedly, in order.
    case loop(keys: Int)
    /// Keys that are never requested again.
    case scan
    /// New keys throughout, each requested `uses` more times within the next `span` requests.
    case recent(span: Int, uses: Int)
    /// Each request from one of the patterns, with a probability proportional to its weight.
    case mixed([(weight: Double, Pattern)])
    /// One pattern after the other, each for its number of requests; then from the first again.
    case phases([(requests: Int, Pattern)])
}

/// A generator of a pattern's keys.
struct PatternSource {
    private enum State {
        case zipf(sums: [Double], every: Int)
        case loop(keys: Int)
        case scan
        case recent(span: Int, uses: Int, due: [Int: [UInt64]])
        case mixed(sums: [Double], [PatternSource])
        case phases([(requests: Int, PatternSource)], current: Int, left: Int)
    }

    private var state: State
    /// The offset that keeps the keys of different parts distinct.
    private let base: UInt64
    private var step = 0

    /// - Parameters:
    ///   - pattern: The pattern.
    ///   - nextBase: The number of the part, incremented for each nested part.
    init(_ pattern: Pattern, nextBase: inout UInt64) {
        base = nextBase << 40
        nextBase += 1
        switch pattern {
        case .zipf(let skew, let keys):
            state = .zipf(sums: Self.sums(skew, keys), every: .max)
        case .drifting(let skew, let keys, let every):
            state = .zipf(sums: Self.sums(skew, keys), every: every)
        case .loop(let keys): state = .loop(keys: keys)
        case .scan: state = .scan
        case .recent(let span, let uses): state = .recent(span: span, uses: uses, due: [:])
        case .mixed(let parts):
            var sum = 0.0
            let sums = parts.map { part -> Double in
                sum += part.weight
                return sum
            }
            state = .mixed(sums: sums, parts.map { PatternSource($0.1, nextBase: &nextBase) })
        case .phases(let parts):
            let sources = parts.map { ($0.requests, PatternSource($0.1, nextBase: &nextBase)) }
            state = .phases(sources, current: 0, left: parts[0].requests)
        }
    }

    private static func sums(_ skew: Double, _ keys: Int) -> [Double] {
        var sum = 0.0
        var sums: [Double] = []
        sums.reserveCapacity(keys)
        for rank in 1...keys {
            sum += Double(rank).power(-skew)
            sums.append(sum)
        }
        return sums
    }

    mutating func next(using random: inout MixRandom) -> UInt64 {
        defer { step += 1 }
        switch state {
        case .zipf(let sums, let every):
            let rank = sums.firstIndex(above: random.unit() * sums[sums.count - 1])
            return base + UInt64((rank + step / every) % sums.count)
        case .loop(let keys): return base + UInt64(step % keys)
        case .scan: return base + UInt64(step)
        case .recent(let span, let uses, var due):
            state = .scan
            defer { state = .recent(span: span, uses: uses, due: due) }
            if var waiting = due.removeValue(forKey: step), let key = waiting.popLast() {
                if !waiting.isEmpty { due[step + 1, default: []] += waiting }
                return key
            }
            let key = base + UInt64(step)
            for _ in 0..<uses { due[step + 1 + random.below(span), default: []].append(key) }
            return key
        case .mixed(let sums, var sources):
            state = .scan
            defer { state = .mixed(sums: sums, sources) }
            let part = sums.firstIndex(above: random.unit() * sums[sums.count - 1])
            return sources[part].next(using: &random)
        case .phases(var sources, var current, var left):
            state = .scan
            defer { state = .phases(sources, current: current, left: left) }
            if left == 0 {
                current = (current + 1) % sources.count
                left = sources[current].requests
            }
            left -= 1
            return sources[current].1.next(using: &random)
        }
    }
}

extension [Double] {
    /// Returns the first index whose number is greater than this one, in ascending numbers.
    fileprivate func firstIndex(above number: Double) -> Int {
        var (low, high) = (0, count - 1)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] > number { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
