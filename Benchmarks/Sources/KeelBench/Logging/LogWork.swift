import Foundation
import KeelLogging
import Logging
import Synchronization

/// Log records of a separate process, whose cost is counted.
///
/// `keel-bench __log keel|discarding COUNT FILE`.
struct LogWork: Sendable {
    static let command = "__log"

    enum Handler: String, Sendable {
        case keel
        case discarding
    }

    private let handler: Handler
    private let count: Int
    private let path: String

    init(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 3, let handler = Handler(rawValue: words[0]), let count = Int(words[1])
        else { throw UsageError(message: "not the work of a child: \(words)") }
        (self.handler, self.count, path) = (handler, count, words[2])
    }

    /// The program and its arguments.
    static func call(
        _ handler: Handler,
        _ count: Int,
        _ path: String
    ) -> (program: String, arguments: [String]) {
        (
            URL(filePath: CommandLine.arguments[0]).path,
            [command, handler.rawValue, "\(count)", path]
        )
    }

    func run() throws {
        let logger: Logger
        switch handler {
        case .keel:
            let file = try RotatingLogFile(at: URL(filePath: path))
            let recorder = LogRecorder(now: Pace(microseconds: 5).next)
            logger = Logger(label: LogRound.label) {
                RotatingFileLogHandler(label: $0, output: file, recorder: recorder)
            }
        case .discarding: logger = Logger(label: LogRound.label) { _ in DiscardingLogHandler() }
        }
        for number in 0..<count { OrderStatement.log(number, to: logger) }
    }
}

/// A clock that advances by the same step on each read.
///
/// Counting makes a program many times slower, and its periodic work many times more frequent; with this clock, the
/// interval between records is the usual one.
private final class Pace: Sendable {
    private let step: Int64
    private let time: Atomic<Int64>

    init(microseconds step: Int64) {
        self.step = step
        time = Atomic(Int64(Date().timeIntervalSince1970 * 1_000_000))
    }

    @Sendable func next() -> Int64 { time.add(step, ordering: .relaxed).newValue }
}

/// The statement that every logger of the benchmarks receives: a message and three fields, of which one is new each
/// time, one repeats after eight records and one is constant.
enum OrderStatement {
    static func log(_ number: Int, to logger: Logger) {
        logger.info(
            "order placed",
            metadata: [
                "order": "\(100_000 + number)", "items": "\(number % 8)",
                "restaurant": "Trattoria Bella Vista",
            ]
        )
    }

    /// Logs the same at a level that the benchmarks' loggers ignore.
    static func logDebug(_ number: Int, to logger: Logger) {
        logger.debug(
            "order placed",
            metadata: [
                "order": "\(100_000 + number)", "items": "\(number % 8)",
                "restaurant": "Trattoria Bella Vista",
            ]
        )
    }
}
