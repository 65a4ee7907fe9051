import Foundation

/// The options of the command line.
struct Options: Sendable {
    static let usage = """
        usage: keel-bench [group…] [--json FILE] [--only TEXT] [--rounds N] [--folder FOLDER]
                          [--quick] [--strict] [--side keel|peer]
               keel-bench --list   the names of the groups
          --json FILE      writes the results as JSON
          --only TEXT      only the measures whose name contains TEXT
          --rounds N       how many rounds each side runs (default 9)
          --folder FOLDER  where the stores are made (default: the temporary folder)
          --quick          one round of little work: tells only that everything runs
          --strict         exits with 1 if a target is missed or a measure could not run
          --side keel|peer runs only one side, for a profiler
        """

    var groups: [String] = []
    var json: String?
    var only: String?
    var rounds = 9
    var folder = FileManager.default.temporaryDirectory
    var isQuick = false
    var isStrict = false
    var side: String?

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            func value() throws -> String {
                guard let value = rest.popFirst() else {
                    throw UsageError(message: "\(argument) needs a value")
                }
                return value
            }
            switch argument {
            case "--json": json = try value()
            case "--only": only = try value()
            case "--rounds":
                guard let count = Int(try value()), count > 0 else {
                    throw UsageError(message: "--rounds needs a number above 0")
                }
                rounds = count
            case "--folder": folder = URL(fileURLWithPath: try value(), isDirectory: true)
            case "--quick": isQuick = true
            case "--strict": isStrict = true
            case "--side": side = try value()
            case let option where option.hasPrefix("-"):
                throw UsageError(message: "unknown option \(option)")
            default: groups.append(argument)
            }
        }
        if isQuick { rounds = 1 }
    }

    func selects(_ name: String) -> Bool { only.map(name.contains) ?? true }

    /// Returns a size for a real run, or a smaller one for a quick run.
    func scaled(_ count: Int) -> Int { isQuick ? max(1, count / 100) : count }
}

struct UsageError: Error {
    let message: String
}
