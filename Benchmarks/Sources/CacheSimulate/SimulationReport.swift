internal import CacheSimulation
internal import Foundation

/// The hit ratios of policies on one trace.
struct SimulationReport: Encodable {
    struct Row: Encodable {
        let size: Int
        /// The hit ratio from 0 to 1, by policy name.
        let ratios: [String: Double]
    }

    let trace: String
    let format: String
    let requests: Int
    let keys: Int
    let rows: [Row]
    private let policies: [String]

    private enum CodingKeys: String, CodingKey {
        case trace
        case format
        case requests
        case keys
        case rows
    }

    init(_ trace: Trace, _ options: SimulationOptions) {
        self.trace = trace.name
        format = options.format.rawValue
        requests = trace.keys.count
        keys = trace.keyCount
        policies = options.policies.map(\.rawValue)
        rows = options.sizes.map { size in
            let ratios = options.policies.map { policy in
                (policy.rawValue, policy.hitRatio(on: trace, capacity: size, seed: options.seed))
            }
            return Row(size: size, ratios: Dictionary(ratios) { first, _ in first })
        }
    }

    /// The hits in percent, one line per size.
    var table: String {
        let width = max(11, policies.map(\.count).max() ?? 0)
        func cell(_ text: String) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        var lines = ["\(trace): \(requests) requests for \(keys) keys; hits in percent"]
        lines.append(([cell("size")] + policies.map(cell)).joined(separator: " "))
        for row in rows {
            let cells = policies.map { cell(String(format: "%.2f", (row.ratios[$0] ?? 0) * 100)) }
            lines.append(([cell("\(row.size)")] + cells).joined(separator: " "))
        }
        return lines.joined(separator: "\n")
    }

    func writeJSON(to file: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: file))
    }
}
