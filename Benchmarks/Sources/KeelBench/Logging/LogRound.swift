import Foundation
import KeelLogging
import Logging

/// One round of records into a file of its own.
struct LogRound {
    static let label = "app"
    private static let fileName = "app.log"

    let count: Int
    private let folder: WorkFolder

    init(_ options: Options) throws {
        // Fewer than fill a file: rotating and compressing are beside these measures.
        count = options.scaled(20_000)
        folder = try WorkFolder("logging", in: options.folder)
    }

    var path: String { folder.path(Self.fileName) }

    /// How many records are written before the clock starts.
    private var warmUp: Int { count / 10 }

    /// Microseconds that a record takes in Keel's rotating file, which is as it is by default.
    func keel() throws -> Double {
        let file = try RotatingLogFile(at: URL(filePath: path))
        return try time { RotatingFileLogHandler(label: $0, output: file) }
    }

    /// Microseconds that a record takes in swift-log's own handler, over a file.
    func stream() throws -> Double {
        let stream = PeerFileStream(file: try AppendingFile(path))
        return try time { StreamLogHandler(label: $0, stream: stream) }
    }

    /// Microseconds that a record takes in spdlog.
    @concurrent
    func spdlog(_ program: SpdlogProgram) async throws -> Double {
        let time = try await program.run(path, count: count, warmUp: warmUp)
        try checkLines()
        return time
    }

    /// Microseconds that a record takes in a handler that has its line ready and only writes it.
    func readyLine() throws -> Double {
        let handler = ReadyLineLogHandler(line: try lineOfKeel(), file: try AppendingFile(path))
        return try time { _ in handler }
    }

    private func time(_ handler: (String) -> any LogHandler) throws -> Double {
        let logger = Logger(label: Self.label, factory: handler)
        for number in 0..<warmUp { OrderStatement.log(number, to: logger) }
        let time = Timing.perCall(count) { OrderStatement.log(warmUp + $0, to: logger) }
        try checkLines()
        return time
    }

    private func checkLines() throws {
        let lines = try Data(contentsOf: URL(filePath: path)).count { $0 == UInt8(ascii: "\n") }
        guard lines == warmUp + count else {
            throw Flaw("\(lines) lines were written instead of \(warmUp + count)")
        }
    }

    /// A line as Keel writes it.
    private func lineOfKeel() throws -> Data {
        let sample = folder.path("sample.log")
        let file = try RotatingLogFile(at: URL(filePath: sample))
        let logger = Logger(label: Self.label) { RotatingFileLogHandler(label: $0, output: file) }
        OrderStatement.log(0, to: logger)
        return try Data(contentsOf: URL(filePath: sample))
    }
}
