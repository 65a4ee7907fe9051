internal import CacheSimulation
internal import Foundation

/// The options of the command line.
struct SimulationOptions {
    static let usage = """
        usage: cache-simulate TRACE --format FORMAT --sizes N,N,… [--policies P,P,…] [--json FILE]
                              [--seed N]
          TRACE       a file, plain or packed with gzip or xz; - is the standard input
          --format    u32be, u64be, u64le: numbers, one for each request
                      text: a key in each line
                      arc: lines "start count …", requests for count blocks from start on
          --sizes     the cache sizes, in keys
          --policies  some of \(PolicyName.allCases.map(\.rawValue).joined(separator: ", "))
                      (default: all)
          --json      writes the ratios to a file, too
          --seed      the seed of policies that use chance (default 1)
        Exits with 1 if the trace cannot be read, with 2 if the command line is wrong.
        """

    var trace = ""
    var format = TraceFormat.text
    var sizes: [Int] = []
    var policies = PolicyName.usual
    var json: String?
    var seed: UInt64 = 1
    var showsHelp = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var formatName: String?
        while let argument = rest.popFirst() {
            func value() throws -> String {
                guard let value = rest.popFirst() else {
                    throw SimulationUsageError(message: "\(argument) needs a value")
                }
                return value
            }
            switch argument {
            case "--help", "-h": showsHelp = true
            case "--format": formatName = try value()
            case "--sizes": sizes = try Self.sizes(value())
            case "--policies": policies = try Self.policies(value())
            case "--json": json = try value()
            case "--seed": seed = try Self.seed(value())
            case let option where option.hasPrefix("-") && option != "-":
                throw SimulationUsageError(message: "unknown option \(option)")
            default:
                guard trace.isEmpty else {
                    throw SimulationUsageError(message: "more than one trace: \(argument)")
                }
                trace = argument
            }
        }
        if showsHelp { return }
        guard !trace.isEmpty else { throw SimulationUsageError(message: "there is no trace") }
        guard let formatName else { throw SimulationUsageError(message: "--format is missing") }
        guard let format = TraceFormat(rawValue: formatName) else {
            let known = TraceFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw SimulationUsageError(
                message: "there is no format '\(formatName)'; there are \(known)"
            )
        }
        self.format = format
        guard !sizes.isEmpty else { throw SimulationUsageError(message: "--sizes is missing") }
    }

    private static func sizes(_ text: String) throws -> [Int] {
        try text.split(separator: ",").map { part in
            guard let size = Int(part), size > 0 else {
                throw SimulationUsageError(message: "'\(part)' is not a size above 0")
            }
            return size
        }
    }

    private static func policies(_ text: String) throws -> [PolicyName] {
        try text.split(separator: ",").map { part in
            guard let policy = PolicyName(rawValue: String(part)) else {
                throw SimulationUsageError(message: "there is no policy '\(part)'")
            }
            return policy
        }
    }

    private static func seed(_ text: String) throws -> UInt64 {
        guard let seed = UInt64(text) else {
            throw SimulationUsageError(message: "'\(text)' is not a seed")
        }
        return seed
    }
}

/// An error in the command line.
struct SimulationUsageError: Error {
    let message: String
}
