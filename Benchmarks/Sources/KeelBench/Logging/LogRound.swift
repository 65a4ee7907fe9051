import Foundation
import KeelLogging
import Logging

/// One round of records in a separate file.
struct LogRound {
    static let label = "app"
    private static let fileName = "app.log"

    let count: Int
    private let folder: WorkFolder

    init(_ options: Options) throws {
        // Fewer records than fill a file: rotation and compression are not measured.
        count = options.scaled(20_000)
        folder = try WorkFolder("logging", in: options.folder)
    }

    var path: String { folder.path(Self.fileName) }

    /// The number of records before the clock starts.
    private var warmUp: Int { count / 10 }

    /// Returns the microseconds of a record in Keel's rotating file with default settings.
    func keel() throws -> Double {
        let file = try RotatingLogFile(at: URL(filePath: path))
        return try time { RotatingFileLogHandler(label: $0, output: file) }
    }

    /// Returns the microseconds of a record in swift-log's own handler, over a file.
    func stream() throws -> Double {
        let stream = PeerFileStream(file: try AppendingFile(path))
        return try time { StreamLogHandler(label: $0, stream: stream) }
    }

    /// Returns the microseconds of a record in spdlog.
    @concurrent
    func spdlog(_ program: SpdlogProgram) async throws -> Double {
        let time = try await program.run(path, count: count, warmUp: warmUp)
        try checkLines()
        return time
    }

    /// Returns the microseconds of a record in a handler that only writes a prepared line.
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

    /// A line in Keel's format.
    private func lineOfKeel() throws -> Data {
        let sample = folder.path("sample.log")
        let file = try RotatingLogFile(at: URL(filePath: sample))
        let logger = Logger(label: Self.label) { RotatingFileLogHandler(label: $0, output: file) }
        OrderStatement.log(0, to: logger)
        return try Data(contentsOf: URL(filePath: sample))
    }
}
