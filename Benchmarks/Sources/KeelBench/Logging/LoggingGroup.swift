import Foundation
import KeelLogging
import Logging

/// Log records in files, compared with swift-log's own handler and spdlog.
///
/// Documentation/Benchmarks.md has the targets.
enum LoggingGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        [
            stream(options),
            spdlog(options),
            readyLine(options),
            disabled(options),
            allocations(options),
        ]
    }

    private static func stream(_ options: Options) -> Measure {
        Measure(
            name: "record to a file / StreamLogHandler",
            target: .atMost(0.333),
            keel: { try LogRound(options).keel() },
            peer: { try LogRound(options).stream() }
        )
    }

    private static func spdlog(_ options: Options) -> Measure {
        let program = Lazily { try await SpdlogProgram(options) }
        return Measure(
            name: "record to a file / spdlog, flushed",
            target: .atMost(1.5),
            keel: {
                // Fails early if the peer is missing.
                _ = try await program.value()
                return try LogRound(options).keel()
            },
            peer: { try await LogRound(options).spdlog(try await program.value()) }
        )
    }

    /// Measures Keel's own time; the peer is the lower bound of any handler that stores a record before the call
    /// returns.
    private static func readyLine(_ options: Options) -> Measure {
        Measure(
            name: "record to a file / a line that is ready",
            target: .keelAtMost(1.5),
            keel: { try LogRound(options).keel() },
            peer: { try LogRound(options).readyLine() }
        )
    }

    private static func disabled(_ options: Options) -> Measure {
        let count = options.scaled(2_000_000)
        @Sendable func time(_ handler: (String) -> any LogHandler) -> Double {
            let logger = Logger(label: LogRound.label, factory: handler)
            return Timing.perCall(count) { OrderStatement.logDebug($0, to: logger) } * 1000
        }
        return Measure(
            name: "disabled level / swift-log alone",
            unit: "ns",
            target: .atMost(1.5),
            keel: {
                let folder = try WorkFolder("logging", in: options.folder)
                let file = try RotatingLogFile(at: folder.url.appending(path: "app.log"))
                return time { RotatingFileLogHandler(label: $0, output: file) }
            },
            peer: { time { _ in DiscardingLogHandler() } }
        )
    }

    /// Measures the allocations of a record, including those of swift-log and the statement itself.
    ///
    /// Two processes log different numbers of records, and the difference in allocations is divided by the difference
    /// in records, which cancels the start of the program and the opening of the file.
    private static func allocations(_ options: Options) -> Measure {
        let (few, many) = options.isQuick ? (20, 120) : (1_000, 21_000)
        @Sendable @concurrent
        func perRecord(_ handler: LogWork.Handler) async throws -> Double {
            let folder = try WorkFolder("logging", in: options.folder)
            @Sendable func total(_ count: Int) async throws -> Double {
                let call = LogWork.call(handler, count, folder.path("\(count).log"))
                return try await AllocationCounter.count(call.program, call.arguments)
            }
            let count = (try await total(many) - total(few)) / Double(many - few)
            // Rounded to hundredths, because libdispatch's threads vary by some dozens of allocations.
            return (count * 100).rounded() / 100
        }
        return Measure(
            name: "allocations of a record / swift-log alone",
            unit: "",
            target: .keelAtMost(2),
            maximumRounds: 3,
            keel: { try await perRecord(.keel) },
            peer: { try await perRecord(.discarding) }
        )
    }
}
